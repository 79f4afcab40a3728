// What somebody does in the first five minutes: comes by the printed link, makes a key, asks with
// it from a program, sees the request arrive, opens it, finds it again, tries the playground.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { madeKey, makeOwner } from "./chores.mjs";
import { CLOUD_KEY, Deployment, EMAIL, OWNER, PROMPT } from "./deployment.mjs";
import { Visitor, launch } from "./visitor.mjs";

let browser, deployment, owner, page, key;
// How many requests `demo/echo` answered: two that asked for it, and the routed one where the router
// finds it the fastest of the demo models at that moment.
let echoed = 0;

before(async () => {
  browser = await launch();
  deployment = await Deployment.start();
  owner = await Visitor.come(browser, deployment.origin);
  page = owner.page;
});

after(async () => {
  await browser?.close();
  await deployment?.stop();
});

test("the printed link makes the owner, once", async () => {
  await makeOwner(owner, deployment);
  const steps = page.getByRole("region", { name: "First steps" }).or(page.locator("section", { hasText: "First steps" }));
  for (const step of ["Connect a provider", "Make a key", "Send the first request"]) {
    await steps.getByRole("heading", { name: step }).waitFor();
  }
  await page.getByText(OWNER).first().waitFor();
  const stranger = await Visitor.come(browser, deployment.origin);
  stranger.expect(/the server responded with a status of 4\d\d/);
  await stranger.page.goto(deployment.welcomeLink);
  await stranger.page.getByRole("heading", { name: "This link no longer works" }).waitFor();
  stranger.assertNothingWrong();
  await stranger.leave();
  owner.assertNothingWrong();
});

test("a key is made, shown once, and copied", async () => {
  await owner.open("/");
  await page.getByRole("link", { name: "Make key" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("first-steps");
  await page.getByRole("button", { name: "Make key" }).click();
  await page.getByRole("heading", { name: "Copy the key now" }).waitFor();
  key = await madeKey(page);
  await page.getByRole("button", { name: "Copy key" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);
  // The set-up of a client holds the key and this deployment's address.
  assert.ok((await page.getByLabel("For your shell").innerText()).includes(key));
  const clients = page.locator("details[name=client]");
  assert.ok(await clients.count() >= 5, "the usual clients are there");
  assert.ok((await clients.allTextContents()).join().includes(`${deployment.origin}/api/v1`));
  await owner.inspect();
  // It is nowhere afterwards.
  await page.getByRole("link", { name: "Open the key" }).click();
  await page.getByRole("heading", { name: "first-steps" }).waitFor();
  assert.ok(!(await page.content()).includes(key));
  owner.assertNothingWrong();
});

test("a request appears live, without a reload", async () => {
  await owner.open("/live");
  await page.getByRole("heading", { name: "Waiting for a request" }).waitFor();
  await page.locator("#live-state", { hasText: "listening" }).waitFor();
  await page.evaluate(() => { window.isTheSamePage = true; });

  const whole = await deployment.ask(key, { model: "svc/auto" });
  assert.ok(whole.text.includes(EMAIL) && whole.text.includes(CLOUD_KEY), "the caller gets the values back");
  assert.match(whole.redactions, /email=1/);
  assert.match(whole.redactions, /secret=1/);
  const row = page.locator(`tr:has(a[href="/requests/${whole.id}"])`);
  await row.getByText("2 redacted").waitFor();

  const streamed = await deployment.ask(key, { stream: true });
  assert.equal(streamed.text, PROMPT);
  await page.locator(`tr:has(a[href="/requests/${streamed.id}"])`).waitFor();
  assert.equal(await page.locator("tbody tr").count(), 2);
  assert.ok(await page.evaluate(() => window.isTheSamePage), "the page was not loaded again");

  // Paused, it counts what comes, and shows it afterwards.
  await page.getByRole("button", { name: "Pause" }).click();
  const third = await deployment.ask(key);
  echoed = [whole, streamed, third].filter(({ model }) => model === "demo/echo").length;
  await page.getByRole("button", { name: "Continue (1)" }).click();
  await page.locator(`tr:has(a[href="/requests/${third.id}"])`).waitFor();
  await owner.inspect();

  await row.getByRole("link").first().click();
  await page.waitForURL(`**/requests/${whole.id}`);
  const filtered = page.locator("section", { hasText: "What the filter did" });
  await filtered.getByRole("row", { name: /email 1 redacted/ }).waitFor();
  await filtered.getByRole("row", { name: /secret 1 redacted/ }).waitFor();
  const why = page.locator("section", { hasText: "Why this model" });
  await why.getByText("svc/auto").waitFor();
  assert.ok(await why.locator("tbody tr").count() >= 2, "the router's candidates are there");
  await why.getByRole("row", { name: /demo\/chat/ }).waitFor();
  assert.ok(!(await page.content()).includes(EMAIL), "a record holds no content");
  await owner.inspect();
  owner.assertNothingWrong();
});

test("the first page ticks off what is done", async () => {
  await owner.openUntil("/", () => page.locator(".steps .done", { hasText: "Send the first request" }).isVisible(), "the tick");
  await page.locator(".steps .done", { hasText: "Make a key" }).waitFor();
  await page.getByRole("table").getByText("first-steps").first().waitFor();
  owner.assertNothingWrong();
});

test("the filters of the requests are in the address", async () => {
  await owner.openUntil("/requests", () => page.getByText("3 of 3 requests").isVisible(), "the requests");
  await page.locator("summary", { hasText: "model" }).click();
  await page.locator(".chip[open]").getByRole("link", { name: /demo\/echo/ }).click();
  await page.waitForURL(/[?&]model=demo%2Fecho/);
  await page.getByText(`${echoed} of ${echoed} requests`).waitFor();
  // Whoever is given the address sees the same.
  const colleague = await Visitor.come(browser, deployment.origin, { storageState: await owner.context.storageState() });
  await colleague.open(page.url());
  await colleague.page.getByText(`${echoed} of ${echoed} requests`).waitFor();
  colleague.assertNothingWrong();
  await colleague.leave();
  await page.locator("summary", { hasText: "filter" }).click();
  await page.locator(".chip[open]").getByRole("link", { name: /redact/ }).first().click();
  await page.waitForURL(/filter=redact/);
  assert.match(page.url(), /model=demo%2Fecho/);
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.waitForURL("**/requests");
  await page.getByText("3 of 3 requests").waitFor();
  owner.assertNothingWrong();
});

test("the overview sums the requests up", async () => {
  await owner.openUntil("/overview", () => figure("Requests").getByText("3", { exact: true }).isVisible(), "the requests");
  await page.getByRole("row", { name: /^first-steps 3/ }).waitFor();
  await page.getByRole("row", { name: new RegExp(`^demo/echo ${echoed}`) }).waitFor();
  await page.getByRole("link", { name: "first-steps" }).click();
  await page.waitForURL(/\/requests\?.*key=key_/);
  owner.assertNothingWrong();
});

test("a key's page has its spend", async () => {
  await owner.open("/keys");
  await page.getByRole("link", { name: "first-steps" }).click();
  await figure("Requests").getByText("3", { exact: true }).waitFor();
  assert.notEqual(await figure("Spend").locator("dd").first().innerText(), "$0.00");
  assert.notEqual(await figure("Tokens in").locator("dd").first().innerText(), "0");
  owner.assertNothingWrong();
});

test("the command bar and the letters lead to pages", async () => {
  await owner.open("/");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to" }).fill("live");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/live");
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await page.waitForURL("**/overview");
  await page.keyboard.press("t");
  await page.locator("html[data-theme=dark]").waitFor();
  await owner.open("/overview");
  await page.locator("html[data-theme=dark]").waitFor();
  await page.keyboard.press("t");
  owner.assertNothingWrong();
});

test("the playground streams an answer and shows what the model saw", async () => {
  await owner.open("/playground");
  await page.getByLabel("Model or router").selectOption({ value: "demo/echo" });
  await page.getByLabel("Message", { exact: true }).fill(PROMPT);
  await page.getByRole("button", { name: "Ask" }).click();
  const [, answer, said] = [0, 1, 2].map((nth) => page.locator("#talk article").nth(nth));
  await answer.getByText("2 values redacted").waitFor();
  await answer.getByText(PROMPT).waitFor();
  const request = said.getByRole("link", { name: "Open the request" });
  await request.waitFor();
  await said.getByText("What the model saw", { exact: true }).waitFor();
  assert.equal(await said.locator("pre.notice mark").count(), 2);
  const seen = await said.locator("pre.notice").innerText();
  assert.ok(!seen.includes(EMAIL) && !seen.includes(CLOUD_KEY), `the model saw ${seen}`);
  await owner.inspect();
  await request.click();
  await page.waitForURL(/\/requests\/req_/);
  await page.getByText("demo/echo").first().waitFor();
  owner.assertNothingWrong();
});

/** A figure of the page by its name. */
const figure = (name) => page.locator(".figure", { has: page.locator("dt", { hasText: new RegExp(`^${name}`) }) });
