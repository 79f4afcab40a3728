import os

from openai import OpenAI

client = OpenAI(base_url="{base_url}", api_key=os.environ["SLUICE_API_KEY"])
stream = client.chat.completions.create(
    model="{model}",
    messages=[{"role": "user", "content": "Say hello."}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
