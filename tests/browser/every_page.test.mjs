// Every page that a link leads to, on a phone in the dark and at a desk in the light: nothing is
// wider than its window, the console is silent, the policy holds, nobody else is asked, and axe
// finds nothing serious.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { makeKey, makeOwner } from "./chores.mjs";
import { Deployment } from "./deployment.mjs";
import { Visitor, launch } from "./visitor.mjs";

const DESK = { manner: "1280 pixels, light", viewport: { width: 1280, height: 900 }, colorScheme: "light" };
const PHONE = {
  manner: "390 pixels, dark", viewport: { width: 390, height: 844 }, colorScheme: "dark", isMobile: true, hasTouch: true,
};

let browser, deployment, owner;

before(async () => {
  browser = await launch();
  deployment = await Deployment.start();
  owner = await come(DESK);
  await makeOwner(owner, deployment);
  await fill();
});

after(async () => {
  await browser?.close();
  await deployment?.stop();
});

async function come({ manner, ...options }, more = {}) {
  const visitor = await Visitor.come(browser, deployment.origin, { ...options, ...more });
  visitor.manner = manner;
  return visitor;
}

/** Brings about what pages show: a second person, requests of several outcomes, findings. */
async function fill() {
  await deployment.command("people", "invite", "grace@example.org", "--role", "developer");
  for (const [measure, limit] of [["usd", "50"], ["concurrency", "20"]]) {
    await deployment.command("budgets", "set", "--for", "account", "--measure", measure, "--limit", limit);
  }
  const key = await makeKey(owner, "every-page");
  await deployment.ask(key);
  await deployment.ask(key, { model: "svc/auto" });
  await deployment.ask(key, { model: "demo/chat", stream: true, prompt: "Hello" });
  await assert.rejects(deployment.ask(key, { model: "none/such" }));
  await owner.openUntil("/requests", () => owner.page.getByText("3 of 3 requests").isVisible(), "the requests");
}

test("every page that a link leads to", async (t) => {
  await t.test("is there", crawl);
  await t.test("is right at a desk in the light", () => lookAt(owner, found));
  await t.test("is right on a phone in the dark", async () => {
    const phone = await come(PHONE, { storageState: await owner.context.storageState() });
    await lookAt(phone, found);
    await phone.leave();
  });
});

test("the pages of somebody who has not signed in", async () => {
  const invitation = new URL(await deployment.command("people", "invite", "alan@example.org", "--role", "auditor"));
  for (const manner of [DESK, PHONE]) {
    const stranger = await come(manner);
    await lookAt(stranger, ["/sign-in", invitation.pathname]);
    // These answer with what they are, and the browser's console tells the status.
    stranger.expect(/the server responded with a status of 4\d\d/);
    for (const path of [new URL(deployment.welcomeLink).pathname, "/invite/none", "/nowhere"]) {
      await stranger.page.goto(path);
      await stranger.inspect();
    }
    stranger.assertNothingWrong();
    await stranger.leave();
  }
});

/** An address of each page, and of each parameter of one. */
const found = [];

/** Follows every link of every page; forms are never sent. */
async function crawl() {
  const dead = [];
  const seen = new Map();
  const waiting = [["/", "the address itself"]];
  while (waiting.length) {
    const [path, from] = waiting.shift();
    if (!isNew(seen, path)) continue;
    const answer = await owner.context.request.get(path, { maxRedirects: 0, headers: { accept: "text/html" } });
    if (answer.status() !== 200) dead.push(`${path} answered ${answer.status()}, linked on ${from}`);
    if (answer.status() !== 200 || !answer.headers()["content-type"]?.startsWith("text/html")) continue;
    found.push(path);
    const body = await answer.text();
    for (const [, link] of body.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) {
      const url = new URL(link.replaceAll("&amp;", "&").replaceAll("&#38;", "&"), `${deployment.origin}${path}`);
      if (url.origin === deployment.origin) waiting.push([url.pathname + url.search, path]);
    }
  }
  assert.deepEqual(dead, [], "every link leads somewhere");
}

/** Whether this address shows a page, or a parameter of one, that none before it did. */
function isNew(seen, path) {
  const url = new URL(path, deployment.origin);
  const page = url.pathname.split("/").map((place) => (/^[a-z]{2,4}_[0-9A-Za-z]{12,}$/.test(place) ? "ID" : place)).join("/");
  const known = seen.get(page) ?? seen.set(page, new Set()).get(page);
  const before = known.size;
  for (const name of ["the page", ...url.searchParams.keys()]) known.add(name);
  return known.size > before;
}

async function lookAt(visitor, paths) {
  for (const path of paths) {
    await visitor.open(path);
    await visitor.inspect();
  }
  visitor.assertNothingWrong();
}
