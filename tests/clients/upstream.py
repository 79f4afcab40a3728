"""A scripted provider that speaks OpenAI chat completions.

The model's name selects the script, so that a test decides by the model it asks for what the
provider does. `GET /log` lists what arrived and how each exchange ended; that is how a test sees
behind the gateway. Standard library only.
"""

import hashlib
import json
import re
import select
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOW_WORDS = 400
SLOW_PAUSE_SECONDS = 0.05
BRIEF_PAUSE_SECONDS = 0.25


class Refusal(Exception):
    """An answer that is not 200."""

    def __init__(self, status, message, headers=()):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


def text_of(message):
    """The text of a message, whose content is a string or an array of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def last_user_text(body):
    return next((text_of(m) for m in reversed(body["messages"]) if m["role"] == "user"), "")


def call(number, name, arguments):
    return {"id": f"call_{number}", "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)}}


# Scripts: each takes the request's body and returns `(pieces of text, tool calls, pause between
# pieces in seconds)`.

def script_text(body):
    return ["The ", "answer ", "is ", "forty-two", "."], [], 0


def script_digest(body):
    """What arrived, so that the caller can compare it with what was sent."""
    content = body["messages"][-1]["content"]
    if not isinstance(content, str):
        content = json.dumps(content, sort_keys=True, separators=(",", ":"))
    raw = content.encode()
    return [str(len(raw)), " ", hashlib.sha256(raw).hexdigest()], [], 0


def script_tools(body):
    """Asks for the weather of two cities at once, then repeats what the tools said."""
    results = [text_of(m) for m in body["messages"] if m["role"] == "tool"]
    if results:
        return ["The tools say: ", " / ".join(results)], [], 0
    if not body.get("tools"):
        raise Refusal(400, "no tools arrived")
    cities = ["Lisbon", "Oslo"] if body.get("parallel_tool_calls", True) else ["Lisbon"]
    name = body["tools"][0]["function"]["name"]
    return [], [call(n, name, {"city": city, "unit": "celsius"}) for n, city in enumerate(cities)], 0


def script_json(body):
    wanted = body.get("response_format") or {}
    if wanted.get("type") != "json_schema" or "city" not in json.dumps(wanted):
        raise Refusal(400, "response_format did not arrive")
    return ['{"city":', '"Lisbon",', '"degrees":21}'], [], 0


def script_slow(body):
    return ["word "] * SLOW_WORDS, [], SLOW_PAUSE_SECONDS


def script_brief(body):
    return ["tick "] * 8, [], BRIEF_PAUSE_SECONDS


def script_failing(body):
    raise Refusal(500, "the model has fallen over")


# How coding agents name the tools that read and edit a file, and those tools' arguments.
EDITORS = [
    # opencode
    ("read", lambda path: {"filePath": path},
     "edit", lambda path, old, new: {"filePath": path, "oldString": old, "newString": new}),
    # Qwen Code
    ("read_file", lambda path: {"file_path": path},
     "edit", lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new}),
    # Cline
    ("read_files", lambda path: {"files": [{"path": path}]},
     "editor", lambda path, old, new: {"path": path, "old_text": old, "new_text": new}),
    # Continue
    ("Read", lambda path: {"filepath": path},
     "Edit", lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new}),
]


def script_agent(body):
    """A coding agent's turns: read the file, edit it, say so.

    The task says `In FILE replace OLD by NEW.` in the user's words.
    """
    task = re.search(r"In (\S+) replace (\w+) by (\w+)\.", "\n".join(
        text_of(m) for m in body["messages"] if m["role"] == "user"))
    names = {tool["function"]["name"] for tool in body.get("tools") or []}
    editor = next((e for e in EDITORS if e[0] in names and e[2] in names), None)
    if task is None or editor is None:
        return ["A small edit"], [], 0
    path, old, new = task.groups()
    read, read_arguments, edit, edit_arguments = editor
    done = sum(1 for m in body["messages"] if m["role"] == "tool")
    if done == 0:
        return ["Reading."], [call(1, read, read_arguments(path))], 0
    if done == 1:
        return [], [call(2, edit, edit_arguments(path, old, new))], 0
    return ["Replaced ", old, " by ", new, "."], [], 0


SCRIPTS = {name.removeprefix("script_"): script
           for name, script in list(globals().items()) if name.startswith("script_")}


class Log:
    """The exchanges so far, for `GET /log`."""

    def __init__(self):
        self.lock, self.entries = threading.Lock(), []

    def open(self, body):
        entry = {"model": body.get("model"), "stream": bool(body.get("stream")),
                 "max_tokens": body.get("max_tokens") or body.get("max_completion_tokens"),
                 "tools": [tool["function"]["name"] for tool in body.get("tools") or []],
                 "user": last_user_text(body)[:200], "ended": None}
        with self.lock:
            self.entries.append(entry)
        return entry

    def dump(self):
        with self.lock:
            return json.dumps(self.entries)


LOG = Log()


class Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Says nothing: the log is `GET /log`."""

    def do_GET(self):
        if self.path == "/log":
            return self.send_json(200, LOG.dump())
        if self.path == "/v1/models":
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "lab"} for name in SCRIPTS]
            return self.send_json(200, json.dumps({"object": "list", "data": models}))
        return self.send_refusal(Refusal(404, "no such path"))

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        if self.path != "/v1/chat/completions":
            return self.send_refusal(Refusal(404, "no such path"))
        body = json.loads(raw)
        entry = LOG.open(body)
        try:
            script = SCRIPTS.get(body["model"])
            if script is None:
                raise Refusal(404, "no such model")
            pieces, calls, pause = script(body)
            prompt_tokens = len(raw) // 4
            if body.get("stream"):
                self.send_stream(body, pieces, calls, pause, prompt_tokens)
            else:
                self.send_whole(body, pieces, calls, pause, prompt_tokens)
            entry["ended"] = "sent"
        except Refusal as refusal:
            self.send_refusal(refusal)
            entry["ended"] = "refused"
        except (ConnectionError, TimeoutError):
            entry["ended"] = "hung up"
            self.close_connection = True

    def send_whole(self, body, pieces, calls, pause, prompt_tokens):
        for _ in pieces:
            self.wait(pause)
        message = {"role": "assistant", "content": "".join(pieces) or None}
        if calls:
            message["tool_calls"] = calls
        answer = self.envelope(body, "chat.completion")
        answer["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}]
        answer["usage"] = usage(prompt_tokens, pieces, calls)
        self.send_json(200, json.dumps(answer))

    def send_stream(self, body, pieces, calls, pause, prompt_tokens):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        envelope = self.envelope(body, "chat.completion.chunk")

        def send(delta, finish=None):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self.send_event(json.dumps({**envelope, "choices": [choice]}))

        send({"role": "assistant", "content": ""})
        for piece in pieces:
            self.wait(pause)
            send({"content": piece})
        for index, one in enumerate(calls):
            opened = {**one, "function": {"name": one["function"]["name"], "arguments": ""}}
            send({"tool_calls": [{"index": index, **opened}]})
            arguments = one["function"]["arguments"]
            for start in range(0, len(arguments), 5):
                fragment = {"index": index, "function": {"arguments": arguments[start:start + 5]}}
                send({"tool_calls": [fragment]})
        send({}, "tool_calls" if calls else "stop")
        if (body.get("stream_options") or {}).get("include_usage"):
            final = {**envelope, "choices": [], "usage": usage(prompt_tokens, pieces, calls)}
            self.send_event(json.dumps(final))
        self.send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def envelope(self, body, kind):
        return {"id": f"chatcmpl-{time.monotonic_ns()}", "object": kind, "created": int(time.time()), "model": body["model"]}

    def wait(self, seconds):
        """Pauses; raises `ConnectionError` when the caller hangs up meanwhile."""
        if seconds and select.select([self.connection], [], [], seconds)[0]:
            if not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionError("the caller hung up")
            time.sleep(seconds)

    def send_event(self, data):
        event = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")

    def send_json(self, status, text, headers=()):
        raw = text.encode()
        self.send_response(status)
        for name, value in (("content-type", "application/json"), ("content-length", str(len(raw))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def send_refusal(self, refusal):
        error = {"message": refusal.message, "type": "server_error", "param": None, "code": None}
        self.send_json(refusal.status, json.dumps({"error": error}), refusal.headers)


def usage(prompt_tokens, pieces, calls):
    completion_tokens = len(pieces) + 12 * len(calls)
    return {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens}


class Upstream(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """Connections that are reset between two exchanges are nobody's problem."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def start():
    """Starts the provider on a free port of this machine; returns its address."""
    server = Upstream(("127.0.0.1", 0), Exchange)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
