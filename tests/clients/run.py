#!/usr/bin/env python3
"""Drives the built `sluice` with real clients, its provider scripted.

    python3 tests/clients/run.py [--binary target/release/sluice] [--only openai-python,opencode]

Three kinds of clients: the OpenAI packages for Python and Node.js go through everything that
programs do (`openai_python.py`, `openai_node.mjs`); libraries and tools run exactly what
`sluice connect CLIENT` prints; coding agents, configured the same way, edit a file. Beside them,
`openapi.json` is held against the published schema of OpenAPI.

Installs the pinned clients into `target/clients`, starts the scripted provider (`upstream.py`)
and two deployments of Sluice, the second of which takes one request at a time. Prints PASS or
FAIL for each scenario, and `N passed, N failed` in the end; exits with 1 if one failed. Needs
python3 with venv and pip, node 20 or newer, npm and curl; the standard library suffices here.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / "target" / "clients"
VENV, NPM, NPM_LARGE, RUN = (FOLDER / name for name in ("venv", "npm", "npm-large", "run"))

sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import upstream  # noqa: E402  (found through the line above)

# Programs whose printed commands are run to the end; they ask the model `text`.
LIBRARIES = ["curl", "openai-python", "openai-node", "llm"]

# Coding agents: the command that works through a task without a person.
AGENTS = {
    "opencode": ["opencode", "run"],
    "qwen-code": ["qwen", "--yolo", "--prompt"],
    "cline": ["cline"],
    "continue": ["cn", "--auto", "--print"],
}
# Agents that bring hundreds of packages: only with --all.
LARGE = {"cline": "3.0.65", "@continuedev/cli": "1.5.47"}
LARGE_AGENTS = {"cline", "continue"}


class Failure(Exception):
    """A step without which nothing else makes sense went wrong."""


def main():
    arguments = argparse.ArgumentParser(description="Drives sluice with real clients.")
    arguments.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "sluice")
    arguments.add_argument("--only", default="", help="names of clients, separated by commas")
    arguments.add_argument("--all", action="store_true", help=f"also {', '.join(sorted(LARGE_AGENTS))}")
    options = arguments.parse_args()
    only = set(filter(None, options.only.split(",")))
    try:
        if not options.binary.is_file():
            raise Failure(f"{options.binary} is missing: cargo build --release")
        install(options.all or bool(only & LARGE_AGENTS))
        results = Run(options.binary.resolve(), only, options.all).everything()
    except Failure as failure:
        print(f"FAIL set-up: {failure}")
        results = [False]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 1 if False in results or not results else 0


def install(large):
    """Installs what is pinned, unless it is there already."""
    requirements = HERE / "requirements.txt"
    once(VENV, "requirements.txt", requirements.read_text(), [
        [sys.executable, "-m", "venv", VENV],
        [VENV / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements],
    ])
    # All versions are exact. A lock file would name the optional packages of one platform only.
    npm = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    once(NPM, "package.json", (HERE / "package.json").read_text(), [npm])
    shutil.copy(HERE / "openai_node.mjs", NPM)
    if large:
        once(NPM_LARGE, "package.json", json.dumps({"private": True, "dependencies": LARGE}), [npm])


def once(folder, file, wanted, commands):
    """Runs `commands` in `folder`, unless they ran there for the same `wanted` text of `file`."""
    stamp = folder / "installed.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"installing into {folder.relative_to(ROOT)} …", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / file).write_text(wanted)
    log = FOLDER / f"install-{folder.name}.log"
    for command in commands:
        with log.open("a") as output:
            try:
                status = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                        stderr=subprocess.STDOUT, timeout=900).returncode
            except (OSError, subprocess.TimeoutExpired) as problem:
                raise Failure(f"{command[0]}: {type(problem).__name__}, see {log}") from None
        if status != 0:
            raise Failure(f"{Path(command[0]).name} ended with {status}, see {log}")
    stamp.write_text(wanted)


class Deployment:
    """A running `sluice serve`, with a configuration and a data folder of its own."""

    def __init__(self, binary, name, provider, concurrent_requests):
        self.binary, self.folder = binary, RUN / name
        self.folder.mkdir(parents=True)
        port = free_port()
        self.origin = f"http://127.0.0.1:{port}"
        self.base_url = f"{self.origin}/api/v1"
        self.config = self.folder / "sluice.toml"
        self.config.write_text(configuration(port, provider, concurrent_requests))
        self.log = (self.folder / "sluice.log").open("w")
        self.process = subprocess.Popen([binary, "serve", "--config", self.config], cwd=self.folder,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def wait_until_ready(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.origin + "/readyz", timeout=1):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise Failure(f"sluice serve is not ready, see {self.log.name}")

    def sluice(self, *words):
        """What a command prints."""
        done = subprocess.run([self.binary, *words, "--config", self.config], cwd=self.folder, timeout=30,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"sluice {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def create_key(self, name, *words):
        return self.sluice("keys", "create", "--name", name, "--class", "enterprise", *words).strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def configuration(port, provider, concurrent_requests):
    models = "".join(f"""
[[models]]
id = "{name}"
provider = "lab"
context_window = 128000
output_limit = 8192
capabilities = ["tools", "json_schema", "vision"]
price = {{ input = "1.00", output = "4.00" }}
""" for name in upstream.SCRIPTS)
    return f"""[server]
listen = "127.0.0.1:{port}"
metrics_listen = ""

[storage]
data_dir = "data"

[limits.highest]
requests_per_hour = "unlimited"
tokens_per_day = "unlimited"
concurrent_requests = {concurrent_requests}
suite = "full"

[[providers]]
id = "lab"
kind = "openai"
base_url = "{provider}/v1"
api_key = "none"
region = "us-east"
{models}"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Run:
    """One run over all clients."""

    def __init__(self, binary, only, large):
        self.binary, self.only, self.large = binary, only, large
        self.results = []

    def everything(self):
        shutil.rmtree(RUN, ignore_errors=True)
        provider = upstream.start()
        wide = Deployment(self.binary, "wide", provider, 200)
        narrow = Deployment(self.binary, "narrow", provider, 1)
        try:
            wide.wait_until_ready()
            narrow.wait_until_ready()
            self.packages(provider, wide, narrow)
            for client in filter(self.wanted, LIBRARIES):
                self.record(client, "runs_what_connect_prints", lambda: runs_what_is_printed(wide, client))
            if self.wanted("openapi"):
                self.record("openapi", "keeps_to_the_specification", lambda: keeps_to_the_specification(wide))
            for client in filter(self.wanted, AGENTS):
                self.record(client, "edits_a_file", lambda: edits_a_file(wide, client))
        finally:
            wide.stop()
            narrow.stop()
        return self.results

    def wanted(self, client):
        if self.only:
            return client in self.only
        return self.large or client not in LARGE_AGENTS

    def packages(self, provider, wide, narrow):
        """The OpenAI packages, which report their scenarios themselves."""
        drivers = {
            "openai-python": [VENV / "bin" / "python", "-B", HERE / "openai_python.py"],
            "openai-node": [NPM / "node_modules" / ".bin" / "node", NPM / "openai_node.mjs"],
        }
        drivers = {client: command for client, command in drivers.items() if self.wanted(client)}
        if not drivers:
            return
        environment = bare_environment(RUN) | {
            "CLIENTS_BASE_URL": wide.base_url,
            "CLIENTS_KEY": wide.create_key("clients", "--max-tokens", "model"),
            "CLIENTS_KEY_FOR_TEXT_ONLY": wide.create_key("text-only", "--models", "text"),
            "CLIENTS_KEY_SPENT_PYTHON": wide.create_key("spent-python", "--requests-per-hour", "1"),
            "CLIENTS_KEY_SPENT_NODE": wide.create_key("spent-node", "--requests-per-hour", "1"),
            "CLIENTS_NARROW_BASE_URL": narrow.base_url,
            "CLIENTS_NARROW_KEY": narrow.create_key("narrow"),
            "CLIENTS_UPSTREAM": provider,
        }
        honoured()
        for client, command in drivers.items():
            log = RUN / f"{client}.log"
            with log.open("w") as errors:
                process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=errors, text=True)
                try:
                    output, _ = process.communicate(timeout=120)
                except subprocess.TimeoutExpired:
                    process.kill()
                    output = process.communicate()[0] + "FAIL everything took more than 120 s\n"
            verdicts = [line.split(" ", 2) for line in output.splitlines() if line.startswith(("PASS ", "FAIL "))]
            for verdict, scenario, *reason in verdicts or [("FAIL", "start", f"see {log}")]:
                self.report(client, scenario, verdict == "PASS", " ".join(reason))

    def record(self, client, scenario, act):
        try:
            act()
        except (Failure, OSError, subprocess.TimeoutExpired, AssertionError, ValueError) as problem:
            self.report(client, scenario, False, f"{type(problem).__name__}: {problem}")
        else:
            self.report(client, scenario, True, "")

    def report(self, client, scenario, passed, reason):
        self.results.append(passed)
        print(f"{'PASS' if passed else 'FAIL'} {client}: {scenario} {reason}".rstrip(), flush=True)


def honoured():
    """A running server honours a new key within a second."""
    time.sleep(1.2)


def bare_environment(home):
    """An environment without this user's keys and settings."""
    folders = [NPM / "node_modules" / ".bin", NPM_LARGE / "node_modules" / ".bin", VENV / "bin", os.environ["PATH"]]
    path = os.pathsep.join(map(str, folders))
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
            "PYTHONDONTWRITEBYTECODE": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "CI": "1"}


class Workplace:
    """A home and a project folder in which a client was set up as `sluice connect` says."""

    def __init__(self, deployment, client, model):
        self.home, self.project = RUN / client / "home", RUN / client / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        self.environment = bare_environment(self.home)
        self.guide = json.loads(deployment.sluice("connect", client, "--model", model, "--create-key", "--json"))
        honoured()
        for file in self.guide["files"]:
            path = file["path"]
            path = self.home / path[2:] if path.startswith("~/") else self.project / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file["content"])
        self.environment |= {variable["name"]: variable["value"] for variable in self.guide["environment"]}

    def commands(self):
        """What is printed to be run, but for what `install` has done already."""
        return [one for one in self.guide["commands"] if not one.startswith(("npm install", "pip install"))]

    def run(self, command):
        done = subprocess.run(command, cwd=self.project, env=self.environment, shell=isinstance(command, str),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        output = done.stdout + done.stderr
        with (self.home.parent / "output.log").open("a") as log:
            log.write(f"$ {command}\n{output}\n")
        if done.returncode != 0:
            raise Failure(f"exit {done.returncode}: {' '.join(output.split())[-300:]}")
        return output


def runs_what_is_printed(deployment, client):
    workplace = Workplace(deployment, client, "text")
    if client == "openai-node":
        (workplace.project / "node_modules").symlink_to(NPM / "node_modules")
    output = ""
    for command in workplace.commands():
        output += workplace.run(command)
    # curl prints events, of which each has a piece of the answer.
    assert "forty-two" in output, output[-300:]


def keeps_to_the_specification(deployment):
    """`openapi.json` against the published schema of OpenAPI 3.1."""
    file = RUN / "openapi.json"
    with urllib.request.urlopen(deployment.origin + "/openapi.json", timeout=5) as answer:
        file.write_bytes(answer.read())
    command = [VENV / "bin" / "python", "-m", "openapi_spec_validator", "--schema", "3.1", file]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.stdout + done.stderr)[-600:]


def edits_a_file(deployment, client):
    workplace = Workplace(deployment, client, "agent")
    file = workplace.project / "greeting.txt"
    file.write_text("Hello, world.\n")
    *preparations, _start = workplace.commands()
    for command in preparations:
        workplace.run(command)
    output = workplace.run([*AGENTS[client], f"In {file} replace Hello by Welcome."])
    assert file.read_text() == "Welcome, world.\n", f"{file.read_text()!r}: {output[-300:]}"


if __name__ == "__main__":
    sys.exit(main())
