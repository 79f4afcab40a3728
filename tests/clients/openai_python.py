"""Drives Sluice with the `openai` Python package: one function a scenario.

Prints `PASS name` or `FAIL name reason` for each. `run.py` sets the environment and starts both
ends; see there for what the keys and addresses are.
"""

import asyncio
import hashlib
import json
import os
import sys
import threading
import time
import traceback
import urllib.request

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

BASE_URL = os.environ["CLIENTS_BASE_URL"]
KEY = os.environ["CLIENTS_KEY"]
UPSTREAM = os.environ["CLIENTS_UPSTREAM"]

client = OpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0, timeout=60)
WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a city.",
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}}}}}


def user(content):
    return [{"role": "user", "content": content}]


def chat(model, content="Hello", **fields):
    return client.chat.completions.create(model=model, messages=user(content), **fields)


def same(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def digest(content):
    raw = content.encode()
    return f"{len(raw)} {hashlib.sha256(raw).hexdigest()}"


def lists_models():
    models = {model.id: model for model in client.models.list()}
    assert {"text", "tools", "slow"} <= set(models), sorted(models)
    same(models["text"].object, "model")
    assert models["text"].owned_by and models["text"].created is not None


def answers_whole():
    raw = client.chat.completions.with_raw_response.create(model="text", messages=user("Hello"))
    answer = raw.parse()
    choice = answer.choices[0]
    same(choice.message.content, "The answer is forty-two.")
    same((choice.finish_reason, choice.message.role, answer.object), ("stop", "assistant", "chat.completion"))
    same(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens)
    assert answer.usage.model_extra["cost_usd"] > 0, answer.usage
    assert set(answer.model_extra["security"]) >= {"level", "data_residency", "audit_id", "zero_retention"}
    assert raw.headers["x-request-id"]
    for name in ("limit", "remaining", "reset", "window"):
        assert raw.headers[f"x-ratelimit-{name}"].isdigit(), raw.headers


def answers_as_a_stream():
    chunks = list(chat("text", stream=True, stream_options={"include_usage": True}))
    content = [chunk for chunk in chunks if chunk.choices]
    same("".join(chunk.choices[0].delta.content or "" for chunk in content), "The answer is forty-two.")
    same(len({(chunk.id, chunk.created) for chunk in chunks}), 1)
    same([chunk.choices[0].finish_reason for chunk in content][-1], "stop")
    assert all(chunk.choices[0].finish_reason is None for chunk in content[:-1])
    same(chunks[-1].choices, [])
    assert chunks[-1].usage.model_extra["cost_usd"] > 0, chunks[-1]


def streams_piece_by_piece():
    started, arrivals = time.monotonic(), []
    for chunk in chat("brief", stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            arrivals.append(time.monotonic() - started)
    assert arrivals[0] < 1.0 and arrivals[-1] - arrivals[0] > 1.0, arrivals


def calls_tools_in_a_round_trip():
    messages = user("How is the weather in Lisbon and Oslo?")
    first = client.chat.completions.create(model="tools", messages=messages, tools=[WEATHER], tool_choice="auto")
    same(first.choices[0].finish_reason, "tool_calls")
    calls = first.choices[0].message.tool_calls
    same([json.loads(call.function.arguments)["city"] for call in calls], ["Lisbon", "Oslo"])
    messages.append(first.choices[0].message)
    for call, degrees in zip(calls, (21, 4)):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"{degrees} degrees"})
    second = client.chat.completions.create(model="tools", messages=messages, tools=[WEATHER])
    same(second.choices[0].message.content, "The tools say: 21 degrees / 4 degrees")


def calls_one_tool_where_parallel_calls_are_off():
    answer = chat("tools", tools=[WEATHER], parallel_tool_calls=False)
    same(len(answer.choices[0].message.tool_calls), 1)


def streams_tool_calls():
    with client.chat.completions.stream(model="tools", messages=user("And now?"), tools=[WEATHER]) as stream:
        for _ in stream:
            pass
        answer = stream.get_final_completion()
    calls = answer.choices[0].message.tool_calls
    same([(call.function.name, json.loads(call.function.arguments)["city"]) for call in calls],
         [("get_weather", "Lisbon"), ("get_weather", "Oslo")])
    same(len({call.id for call in calls}), 2)
    same(answer.choices[0].finish_reason, "tool_calls")


class Report(BaseModel):
    city: str
    degrees: int


def answers_by_a_json_schema():
    answer = client.chat.completions.parse(model="json", messages=user("The weather?"), response_format=Report)
    same(answer.choices[0].message.parsed, Report(city="Lisbon", degrees=21))


def carries_content_parts_unchanged():
    parts = [{"type": "text", "text": "What is this? Ünïcode \u2028 \"quoted\""},
             {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}]
    sent = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    same(chat("digest", parts).choices[0].message.content, digest(sent))


def lowers_a_large_max_tokens():
    same(chat("text", "lowered (python)", max_tokens=32000).choices[0].finish_reason, "stop")
    same(upstream_entry("text", "lowered (python)")["max_tokens"], 8192)


def takes_a_prompt_of_500_kb():
    prompt = "All work and no play makes a dull model. " * 12500
    same(chat("digest", prompt).choices[0].message.content, digest(prompt))


def answers_fifty_streams_at_once():
    async def one(client, number):
        content = f"stream number {number} " * 50
        stream = await client.chat.completions.create(model="digest", messages=user(content), stream=True)
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        same("".join(pieces), digest(content))

    async def fifty():
        async with AsyncOpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0, timeout=60) as client:
            await asyncio.gather(*(one(client, number) for number in range(50)))

    asyncio.run(fifty())


def refused(kind, status, error_type, code, act):
    """`act` fails with the SDK's class `kind` and the documented error, all four fields."""
    try:
        act()
    except openai.APIStatusError as error:
        assert type(error) is kind, f"{type(error).__name__}: {error}"
        same((error.status_code, error.type, error.code), (status, error_type, code))
        same(sorted(error.body), ["code", "message", "param", "type"])
        return error
    raise AssertionError("nothing was refused")


def maps_401_to_authentication_error():
    stranger = client.with_options(api_key="svc_ent_nobody")
    refused(openai.AuthenticationError, 401, "authentication_error", "invalid_api_key", stranger.models.list)


def maps_403_to_permission_denied_error():
    narrow = client.with_options(api_key=os.environ["CLIENTS_KEY_FOR_TEXT_ONLY"])
    create = narrow.chat.completions.create
    same(create(model="text", messages=user("Hello")).choices[0].finish_reason, "stop")
    refused(openai.PermissionDeniedError, 403, "permission_error", "insufficient_permissions",
            lambda: create(model="tools", messages=user("Hello")))


def maps_400_to_bad_request_error():
    error = refused(openai.BadRequestError, 400, "validation_error", "invalid_parameter",
                    lambda: chat("text", temperature=3))
    same(error.param, "temperature")


def maps_404_to_not_found_error():
    refused(openai.NotFoundError, 404, "invalid_request_error", "model_not_found", lambda: chat("no-such-model"))


def maps_429_to_rate_limit_error():
    spent = client.with_options(api_key=os.environ["CLIENTS_KEY_SPENT_PYTHON"])
    create = lambda: spent.chat.completions.create(model="text", messages=user("Hello"))
    create()
    error = refused(openai.RateLimitError, 429, "rate_limit_error", "rate_limit_exceeded", create)
    assert int(error.response.headers["retry-after"]) >= 1, error.response.headers
    same(error.response.headers["x-ratelimit-remaining"], "0")


def maps_a_failing_provider_to_internal_server_error():
    refused(openai.InternalServerError, 502, "api_error", "upstream_error", lambda: chat("failing"))


def honours_retry_after():
    """A deployment that takes one request at a time: the second waits as told, then is answered."""
    address = {"base_url": os.environ["CLIENTS_NARROW_BASE_URL"], "api_key": os.environ["CLIENTS_NARROW_KEY"]}
    seen = []
    narrow = OpenAI(**address, max_retries=6, timeout=60)
    narrow._client.event_hooks["response"].append(
        lambda response: seen.append((response.status_code, response.headers.get("retry-after"), time.monotonic())))
    occupying = threading.Event()

    def occupy():
        for _ in OpenAI(**address).chat.completions.create(model="brief", messages=user("First"), stream=True):
            occupying.set()

    occupant = threading.Thread(target=occupy)
    occupant.start()
    assert occupying.wait(20), "the first request got no answer"
    answer = narrow.chat.completions.create(model="text", messages=user("Second"))
    occupant.join()
    same(answer.choices[0].finish_reason, "stop")
    same((seen[0][0], seen[-1][0]), (429, 200))
    for (_, retry_after, at), (_, _, then) in zip(seen, seen[1:]):
        assert then - at >= 0.9 * float(retry_after), seen


def upstream_entry(model, content):
    with urllib.request.urlopen(UPSTREAM + "/log") as log:
        entries = [e for e in json.load(log) if e["model"] == model and e["user"] == content]
    return entries[-1] if entries else {}


def assert_hung_up(content):
    """The provider's connection is closed soon after the caller has left."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if upstream_entry("slow", content).get("ended") == "hung up":
            return
        time.sleep(0.1)
    raise AssertionError(f"the provider still works: {upstream_entry('slow', content)}")


def cancels_in_mid_stream():
    stream = chat("slow", "cancelled stream (python)", stream=True)
    for _, chunk in zip(range(3), stream):
        pass
    stream.close()
    assert_hung_up("cancelled stream (python)")


def cancels_a_whole_answer():
    try:
        chat("slow", "cancelled answer (python)", timeout=1)
        raise AssertionError("it was not cancelled")
    except openai.APITimeoutError:
        pass
    assert_hung_up("cancelled answer (python)")


SCENARIOS = [
    lists_models, answers_whole, answers_as_a_stream, streams_piece_by_piece,
    calls_tools_in_a_round_trip, calls_one_tool_where_parallel_calls_are_off, streams_tool_calls,
    answers_by_a_json_schema, carries_content_parts_unchanged, lowers_a_large_max_tokens,
    takes_a_prompt_of_500_kb, answers_fifty_streams_at_once,
    maps_401_to_authentication_error, maps_403_to_permission_denied_error, maps_400_to_bad_request_error,
    maps_404_to_not_found_error, maps_429_to_rate_limit_error, maps_a_failing_provider_to_internal_server_error,
    honours_retry_after, cancels_in_mid_stream, cancels_a_whole_answer,
]

for scenario in SCENARIOS:
    try:
        scenario()
        print("PASS", scenario.__name__, flush=True)
    except Exception as problem:
        traceback.print_exc(file=sys.stderr)
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())
        print("FAIL", scenario.__name__, reason[:300], flush=True)
