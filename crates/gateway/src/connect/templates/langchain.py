import os

from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    base_url="{base_url}",
    api_key=os.environ["SLUICE_API_KEY"],
    model="{model}",
    use_responses_api=False,
)
for chunk in model.stream("Say hello."):
    print(chunk.text, end="", flush=True)
print()
