import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";

const sluice = createOpenAICompatible({
  name: "sluice",
  baseURL: "{base_url}",
  apiKey: process.env.SLUICE_API_KEY,
  includeUsage: true,
});
const { textStream } = streamText({ model: sluice("{model}"), prompt: "Say hello." });
for await (const text of textStream) process.stdout.write(text);
console.log();
