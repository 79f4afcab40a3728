// Drives Sluice with the `openai` npm package: one function a scenario.
//
// Prints `PASS name` or `FAIL name reason` for each. `run.py` sets the environment and starts both
// ends; see there for what the keys and addresses are.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";

const env = process.env;
const client = new OpenAI({ baseURL: env.CLIENTS_BASE_URL, apiKey: env.CLIENTS_KEY, maxRetries: 0, timeout: 60_000 });
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      required: ["city"],
      properties: { city: { type: "string" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
    },
  },
};

const user = (content) => [{ role: "user", content }];
const chat = (model, content = "Hello", fields = {}, options = {}) =>
  client.chat.completions.create({ model, messages: user(content), ...fields }, options);

function digest(content) {
  const raw = Buffer.from(content);
  return `${raw.length} ${createHash("sha256").update(raw).digest("hex")}`;
}

const cityOf = (call) => JSON.parse(call.function.arguments).city;

async function listsModels() {
  const ids = [];
  for await (const model of client.models.list()) ids.push(model.id);
  for (const id of ["text", "tools", "slow"]) assert(ids.includes(id), ids.join());
}

async function answersWhole() {
  const { data: answer, response, request_id } = await chat("text").withResponse();
  assert.equal(answer.choices[0].message.content, "The answer is forty-two.");
  assert.equal(answer.choices[0].finish_reason, "stop");
  assert.equal(answer.choices[0].message.refusal, null);
  assert.equal(answer.choices[0].logprobs, null);
  assert(answer.usage.cost_usd > 0, JSON.stringify(answer.usage));
  assert(answer.security, "no security block");
  assert(request_id, "no request id");
  assert(Number(response.headers.get("x-ratelimit-limit")) > 0);
}

async function answersAsAStream() {
  const chunks = [];
  for await (const chunk of await chat("text", "Hello", { stream: true, stream_options: { include_usage: true } })) chunks.push(chunk);
  const content = chunks.filter((chunk) => chunk.choices.length > 0);
  assert.equal(content.map((chunk) => chunk.choices[0].delta.content ?? "").join(""), "The answer is forty-two.");
  assert.equal(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created}`)).size, 1);
  assert.equal(content.at(-1).choices[0].finish_reason, "stop");
  assert(content.slice(0, -1).every((chunk) => chunk.choices[0].finish_reason === null));
  assert.deepEqual(chunks.at(-1).choices, []);
  assert(chunks.at(-1).usage.cost_usd > 0, JSON.stringify(chunks.at(-1)));
}

async function callsToolsInARoundTrip() {
  const messages = user("How is the weather in Lisbon and Oslo?");
  const first = await client.chat.completions.create({ model: "tools", messages, tools: [weather], tool_choice: "auto" });
  const calls = first.choices[0].message.tool_calls;
  assert.deepEqual(calls.map(cityOf), ["Lisbon", "Oslo"]);
  messages.push(first.choices[0].message);
  calls.forEach((call, at) => messages.push({ role: "tool", tool_call_id: call.id, content: `${[21, 4][at]} degrees` }));
  const second = await client.chat.completions.create({ model: "tools", messages, tools: [weather] });
  assert.equal(second.choices[0].message.content, "The tools say: 21 degrees / 4 degrees");
}

async function callsOneToolWhereParallelCallsAreOff() {
  const answer = await chat("tools", "Hello", { tools: [weather], parallel_tool_calls: false });
  assert.equal(answer.choices[0].message.tool_calls.length, 1);
}

async function streamsToolCalls() {
  const stream = client.chat.completions.stream({ model: "tools", messages: user("And now?"), tools: [weather] });
  const answer = await stream.finalChatCompletion();
  const calls = answer.choices[0].message.tool_calls;
  assert.deepEqual(calls.map(cityOf), ["Lisbon", "Oslo"]);
  assert.equal(new Set(calls.map((call) => call.id)).size, 2);
}

async function answersByAJsonSchema() {
  const schema = {
    type: "object",
    additionalProperties: false,
    required: ["city", "degrees"],
    properties: { city: { type: "string" }, degrees: { type: "integer" } },
  };
  const answer = await client.chat.completions.parse({
    model: "json",
    messages: user("The weather?"),
    response_format: { type: "json_schema", json_schema: { name: "report", strict: true, schema } },
  });
  assert.deepEqual(JSON.parse(answer.choices[0].message.content), { city: "Lisbon", degrees: 21 });
}

async function takesAPromptOf500Kb() {
  const prompt = "All work and no play makes a dull model. ".repeat(12_500);
  const answer = await chat("digest", prompt);
  assert.equal(answer.choices[0].message.content, digest(prompt));
}

async function answersFiftyStreamsAtOnce() {
  await Promise.all(Array.from({ length: 50 }, async (_, number) => {
    const content = `stream number ${number} `.repeat(50);
    let got = "";
    for await (const chunk of await chat("digest", content, { stream: true })) got += chunk.choices[0]?.delta.content ?? "";
    assert.equal(got, digest(content));
  }));
}

// `act` fails with the SDK's class `kind` and the documented error, all four fields.
async function refused(kind, status, type, code, act) {
  const error = await act().then(() => assert.fail("nothing was refused"), (error) => error);
  assert.equal(error.constructor, kind, `${error.constructor.name}: ${error.message}`);
  assert.deepEqual([error.status, error.type, error.code], [status, type, code]);
  assert.deepEqual(Object.keys(error.error).sort(), ["code", "message", "param", "type"]);
  return error;
}

async function maps401ToAuthenticationError() {
  const stranger = client.withOptions({ apiKey: "svc_ent_nobody" });
  await refused(OpenAI.AuthenticationError, 401, "authentication_error", "invalid_api_key", async () => stranger.models.list());
}

async function maps403ToPermissionDeniedError() {
  const narrow = client.withOptions({ apiKey: env.CLIENTS_KEY_FOR_TEXT_ONLY });
  await refused(OpenAI.PermissionDeniedError, 403, "permission_error", "insufficient_permissions",
    async () => narrow.chat.completions.create({ model: "tools", messages: user("Hello") }));
}

async function maps400ToBadRequestError() {
  const error = await refused(OpenAI.BadRequestError, 400, "validation_error", "invalid_parameter",
    async () => chat("text", "Hello", { temperature: 3 }));
  assert.equal(error.param, "temperature");
}

async function maps404ToNotFoundError() {
  await refused(OpenAI.NotFoundError, 404, "invalid_request_error", "model_not_found", async () => chat("no-such-model"));
}

async function maps429ToRateLimitError() {
  const spent = client.withOptions({ apiKey: env.CLIENTS_KEY_SPENT_NODE });
  const create = async () => spent.chat.completions.create({ model: "text", messages: user("Hello") });
  await create();
  const error = await refused(OpenAI.RateLimitError, 429, "rate_limit_error", "rate_limit_exceeded", create);
  assert(Number(error.headers.get("retry-after")) >= 1);
}

async function mapsAFailingProviderToInternalServerError() {
  await refused(OpenAI.InternalServerError, 502, "api_error", "upstream_error", async () => chat("failing"));
}

// A deployment that takes one request at a time: the second waits as told, then is answered.
async function honoursRetryAfter() {
  const seen = [];
  const watched = async (...request) => {
    const response = await fetch(...request);
    seen.push({ status: response.status, retryAfter: Number(response.headers.get("retry-after")), at: performance.now() });
    return response;
  };
  const address = { baseURL: env.CLIENTS_NARROW_BASE_URL, apiKey: env.CLIENTS_NARROW_KEY };
  const occupant = await new OpenAI(address).chat.completions.create({ model: "brief", messages: user("First"), stream: true });
  const occupied = (async () => { for await (const _ of occupant); })();
  const narrow = new OpenAI({ ...address, maxRetries: 6, fetch: watched });
  const answer = await narrow.chat.completions.create({ model: "text", messages: user("Second") });
  await occupied;
  assert.equal(answer.choices[0].finish_reason, "stop");
  assert.deepEqual([seen[0].status, seen.at(-1).status], [429, 200]);
  for (let at = 1; at < seen.length; at += 1) {
    assert(seen[at].at - seen[at - 1].at >= 900 * seen[at - 1].retryAfter, JSON.stringify(seen));
  }
}

// The provider's connection is closed soon after the caller has left.
async function assertHungUp(content) {
  let entry;
  for (const deadline = performance.now() + 5_000; performance.now() < deadline; await sleep(100)) {
    const log = await (await fetch(`${env.CLIENTS_UPSTREAM}/log`)).json();
    entry = log.findLast((one) => one.model === "slow" && one.user === content);
    if (entry?.ended === "hung up") return;
  }
  assert.fail(`the provider still works: ${JSON.stringify(entry)}`);
}

async function cancelsInMidStream() {
  const stream = await chat("slow", "cancelled stream (node)", { stream: true });
  let chunks = 0;
  for await (const _ of stream) if ((chunks += 1) === 3) break;
  await assertHungUp("cancelled stream (node)");
}

async function cancelsAWholeAnswer() {
  const abort = new AbortController();
  const answer = chat("slow", "cancelled answer (node)", {}, { signal: abort.signal });
  setTimeout(() => abort.abort(), 1_000);
  await assert.rejects(answer, OpenAI.APIUserAbortError);
  await assertHungUp("cancelled answer (node)");
}

const scenarios = [
  listsModels, answersWhole, answersAsAStream, callsToolsInARoundTrip, callsOneToolWhereParallelCallsAreOff,
  streamsToolCalls, answersByAJsonSchema, takesAPromptOf500Kb, answersFiftyStreamsAtOnce,
  maps401ToAuthenticationError, maps403ToPermissionDeniedError, maps400ToBadRequestError, maps404ToNotFoundError,
  maps429ToRateLimitError, mapsAFailingProviderToInternalServerError, honoursRetryAfter,
  cancelsInMidStream, cancelsAWholeAnswer,
];

for (const scenario of scenarios) {
  const name = scenario.name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
  try {
    await scenario();
    console.log(`PASS ${name}`);
  } catch (problem) {
    console.error(problem);
    console.log(`FAIL ${name} ${String(problem).replace(/\s+/g, " ").slice(0, 300)}`);
  }
}
