import os

import litellm

answer = litellm.completion(
    model="openai/{model}",
    api_base="{base_url}",
    api_key=os.environ["SLUICE_API_KEY"],
    messages=[{"role": "user", "content": "Say hello."}],
)
print(answer.choices[0].message.content)
