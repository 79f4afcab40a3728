// A deployment of its own for a test: the real binary on a free port, in an empty folder, as
// somebody has it who has just built it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { binary } from "./packages.mjs";

/** What a prompt must not tell a model: the filter redacts both. */
export const EMAIL = "ada@halvorsen.no";
export const CLOUD_KEY = "AKIAQ3EGRT5YHW2VNKPL";
export const PROMPT = `Write to ${EMAIL} that the key ${CLOUD_KEY} has to be replaced.`;

/** The owner's password. */
export const PASSWORD = "correct horse battery staple";
export const OWNER = "owner@example.org";

export class Deployment {
  /** Starts one; it answers when this returns. */
  static async start() {
    const deployment = new Deployment();
    deployment.folder = await mkdtemp(join(tmpdir(), "sluice-browser-"));
    // No variable of a provider may leak into it.
    const env = { PATH: process.env.PATH, HOME: deployment.folder };
    deployment.options = { cwd: deployment.folder, env, stdio: ["ignore", "pipe", "pipe"] };
    const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0"], deployment.options);
    deployment.server = server;
    let errors = "";
    server.stderr.on("data", (bytes) => { errors += bytes; });
    const lines = createInterface(server.stdout);
    const ended = once(server, "exit").then(([code]) => { throw new Error(`${binary} ended with ${code}: ${errors}`); });
    ended.catch(() => {});
    await Promise.race([ended, new Promise((ready) => {
      lines.on("line", (line) => {
        const link = /Dashboard\s+(http\S+\/welcome\/\S+)/.exec(line);
        if (link) deployment.welcomeLink = link[1];
        if (line.includes("Set up a client")) ready();
      });
    })]);
    if (!deployment.welcomeLink) throw new Error("the first start printed no link to make the owner");
    deployment.origin = new URL(deployment.welcomeLink).origin;
    return deployment;
  }

  /** Runs `sluice` with these arguments beside the server; gives back what it printed. */
  async command(...words) {
    const command = spawn(binary, words, this.options);
    let [printed, errors] = ["", ""];
    command.stdout.on("data", (bytes) => { printed += bytes; });
    command.stderr.on("data", (bytes) => { errors += bytes; });
    const [code] = await once(command, "close");
    if (code !== 0) throw new Error(`sluice ${words.join(" ")} ended with ${code}: ${errors}`);
    return printed.trim();
  }

  /** Asks the API as a program does, without a browser. */
  async ask(key, { model = "demo/echo", prompt = PROMPT, stream = false } = {}) {
    const answer = await fetch(`${this.origin}/api/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "user-agent": "browser-test/1.0" },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: prompt }] }),
    });
    const body = await answer.text();
    if (!answer.ok) throw new Error(`${model} answered ${answer.status}: ${body}`);
    const chunks = stream ? events(body) : [JSON.parse(body)];
    const text = chunks.map(({ choices: [choice] }) => (choice?.message ?? choice?.delta)?.content ?? "").join("");
    return {
      text,
      redactions: answer.headers.get("svc-redactions"),
      id: answer.headers.get("x-request-id"),
      model: chunks[0].model,
    };
  }

  async stop() {
    const ended = once(this.server, "exit");
    if (this.server.exitCode === null) {
      this.server.kill("SIGTERM");
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The chunks of a streamed answer. */
function events(body) {
  const lines = body.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)));
}
