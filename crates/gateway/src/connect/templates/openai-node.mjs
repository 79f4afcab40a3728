import OpenAI from "openai";

const client = new OpenAI({ baseURL: "{base_url}", apiKey: process.env.SLUICE_API_KEY });
const stream = await client.chat.completions.create({
  model: "{model}",
  messages: [{ role: "user", content: "Say hello." }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? "");
console.log();
