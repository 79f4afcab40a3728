// The dashboard without JavaScript: the first steps are forms and links, and every page of the rail
// says what it has to say.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { madeKey, makeKey, makeOwner, signIn, signOut } from "./chores.mjs";
import { Deployment, PASSWORD } from "./deployment.mjs";
import { Visitor, launch } from "./visitor.mjs";

let browser, deployment, owner, page;

before(async () => {
  browser = await launch();
  deployment = await Deployment.start();
  owner = await Visitor.come(browser, deployment.origin, { javaScriptEnabled: false });
  page = owner.page;
});

after(async () => {
  await browser?.close();
  await deployment?.stop();
});

test("a key is made and its request seen", async () => {
  await makeOwner(owner, deployment);
  const key = await makeKey(owner, "without-script");
  // What needs a script is not offered.
  assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0);
  const { id } = await deployment.ask(key, { model: "svc/auto" });
  await owner.openUntil("/requests", () => page.locator(`a[href="/requests/${id}"]`).isVisible(), "the request");
  await page.locator(`a[href="/requests/${id}"]`).click();
  await page.getByRole("row", { name: /email 1 redacted/ }).waitFor();
  await page.getByRole("row", { name: /demo\/chat/ }).waitFor();
  await owner.open("/live");
  await page.locator(`a[href="/requests/${id}"]`).waitFor();
  owner.assertNothingWrong();
});

test("a filter is a link", async () => {
  await owner.openUntil("/requests", () => page.getByText("1 of 1 request").isVisible(), "the request's figures");
  await page.locator("summary", { hasText: "model" }).click();
  await page.locator(".chip[open]").getByRole("link").click();
  await page.waitForURL(/model=demo%2F/);
  await page.getByText("1 of 1 request").waitFor();
  owner.assertNothingWrong();
});

test("a key is revoked on a page of its own", async () => {
  await owner.open("/keys");
  await page.getByRole("link", { name: "without-script" }).click();
  await page.getByRole("link", { name: "Revoke" }).click();
  await page.waitForURL(/\/revoke$/);
  await page.getByLabel("to confirm").fill("without-script");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("does not work any more").waitFor();
  owner.assertNothingWrong();
});

test("a key is made with options, changed, and rotated", async () => {
  await owner.open("/keys/new");
  await page.getByLabel("Name", { exact: true }).fill("with-options");
  await page.locator("summary", { hasText: "What it may use" }).click();
  await page.getByLabel("demo/echo", { exact: true }).check();
  await page.getByLabel("Requests an hour").fill("7");
  await page.getByRole("button", { name: "Work it out anew" }).click();
  await page.waitForURL("**/keys/new/preview");
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "with-options");
  assert.ok(await page.getByLabel("demo/echo", { exact: true }).isChecked(), "what was ticked stays");
  await page.getByRole("button", { name: "Make key" }).click();
  const first = await madeKey(page);
  await page.getByRole("link", { name: "Open the key" }).click();

  await page.getByRole("link", { name: "Change", exact: true }).click();
  await page.getByLabel("Requests an hour").fill("9");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/\/keys\/key_[^/]+$/);
  await page.getByRole("link", { name: "Change", exact: true }).click();
  assert.equal(await page.getByLabel("Requests an hour").inputValue(), "9");
  await page.goBack();

  await page.getByRole("link", { name: "Rotate" }).click();
  await page.waitForURL(/\/rotate$/);
  await press("Rotate", "with-options");
  const second = await madeKey(page);
  assert.notEqual(first, second);
  await deployment.ask(second);
  await deployment.ask(first);
  owner.assertNothingWrong();
});

test("the organisation is made, and a service suspended and taken back", async () => {
  for (const [path, name, verb] of [
    ["departments", "engineering", "Make department"],
    ["teams", "compilers", "Make team"],
    ["services", "build", "Make service"],
  ]) {
    await owner.open(`/organisation/${path}`);
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByRole("button", { name: verb }).click();
    await owner.open(`/organisation/${path}`);
    await page.getByRole("link", { name }).waitFor();
  }
  await page.getByRole("link", { name: "build" }).click();
  await page.getByRole("link", { name: "Suspend" }).click();
  await page.waitForURL(/\/suspend$/);
  await page.getByLabel("Reason").fill("It asks too much.");
  await press("Suspend", "build");
  await page.getByText("It asks too much.").first().waitFor();
  await page.getByRole("link", { name: "Resume" }).click();
  await page.waitForURL(/\/resume$/);
  await press("Resume", "build");
  await page.getByRole("link", { name: "Suspend" }).waitFor();
  owner.assertNothingWrong();
});

test("somebody is invited, and put into a team", async () => {
  await owner.open("/organisation");
  await page.getByLabel("E-mail address").fill("grace@example.org");
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.getByText(`${deployment.origin}/invite/`).first().waitFor();
  await owner.open("/organisation");
  await page.getByRole("link", { name: "grace@example.org" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Grace");
  await page.getByLabel("compilers").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Grace" }).waitFor();
  assert.ok(await page.getByLabel("compilers").isChecked(), "she is in the team");
  owner.assertNothingWrong();
});

test("the trail is filtered and verified", async () => {
  await owner.open("/audit");
  await page.getByRole("button", { name: "Verify the chain" }).click();
  await page.getByText("The chain holds.").waitFor();
  await owner.open("/audit");
  const search = page.locator("main form[role=search] input[name=q]");
  await search.fill("keys.");
  await search.press("Enter");
  await page.waitForURL(/\/audit\?q=keys/);
  assert.equal(await search.inputValue(), "keys.");
  owner.assertNothingWrong();
});

test("what is sought is found", async () => {
  await owner.open("/");
  await page.locator("#seek").fill("with-options");
  await page.locator("#seek").press("Enter");
  await page.getByRole("heading", { name: "with-options" }).waitFor();
  owner.assertNothingWrong();
});

test("colours are chosen, and one-time codes set up as far as their secret", async () => {
  await owner.open("/settings");
  await page.getByLabel("Dark").check();
  await page.locator("form[action='/settings/display']").getByRole("button").click();
  await page.waitForURL(/\/settings/);
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  const codes = page.locator("form[action='/settings/codes']");
  await codes.locator("input[type=password]").fill(PASSWORD);
  await codes.getByRole("button").click();
  await page.getByText("Write the six digits").waitFor();
  owner.assertNothingWrong();
});

/** Presses the button of a question, which may want to have the name written. */
async function press(verb, name) {
  const confirm = page.locator("main input[name=confirm]");
  if (await confirm.count()) await confirm.fill(name);
  await page.locator("main").getByRole("button", { name: verb }).click();
}

test("every page of the rail", async () => {
  await owner.open("/");
  const links = await page.locator("#menu a[href]").all();
  const paths = new Set(await Promise.all(links.map((link) => link.getAttribute("href"))));
  for (const path of paths) {
    const answer = await page.goto(path);
    if (answer.status() !== 200) owner.problems.push(`${path} answered ${answer.status()}`);
    else assert.ok((await page.locator("main h1").innerText()).length > 0, path);
  }
  owner.assertNothingWrong();
});

test("the playground answers with a page", async () => {
  await owner.open("/playground");
  await page.getByLabel("Model or router").selectOption({ value: "demo/echo" });
  await page.getByLabel("Message", { exact: true }).fill("Hello without a script");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.locator("#talk article").nth(1).getByText("Hello without a script").waitFor();
  await page.getByRole("link", { name: "Open the request" }).waitFor();
  owner.assertNothingWrong();
});

test("a provider is tested, connected and changed, and its model priced", async () => {
  const answers = createServer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end('{"data":[{"id":"fresh"}]}'));
  await once(answers.listen(0, "127.0.0.1"), "listening");
  await owner.open("/providers/new");
  await page.getByLabel("Name here").fill("lab");
  await page.getByLabel("Address").fill(`http://127.0.0.1:${answers.address().port}`);
  await page.getByLabel("API key").fill("sk-of-the-lab");
  await page.getByLabel("Models").fill("fresh");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("It lists these models").waitFor();
  assert.equal(await page.getByLabel("Name here").inputValue(), "lab", "what was typed stays");
  await page.getByLabel("API key").fill("sk-of-the-lab");
  await page.getByRole("button", { name: "Test and connect" }).click();
  await page.waitForURL("**/providers/lab?done=connected");
  await page.getByLabel("Region").selectOption("eu-west");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("It lists these models").waitFor();
  assert.equal(await page.getByLabel("Region").inputValue(), "eu-west", "what was chosen stays");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL("**/providers/lab?done=changed");
  answers.close();

  await owner.open("/models");
  await page.getByRole("searchbox", { name: "Model", exact: true }).fill("fresh");
  await page.getByRole("searchbox", { name: "Model", exact: true }).press("Enter");
  await page.waitForURL(/\/models\?q=fresh/);
  await page.getByRole("link", { name: "lab/fresh" }).click();
  await page.locator("input[name=context_window]").fill("32000");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/^32,000 tokens/).waitFor();
  owner.assertNothingWrong();
});

test("out and in again", async () => {
  await owner.open("/");
  await signOut(owner);
  await signIn(owner);
  await page.waitForURL(`${deployment.origin}/`);
  owner.assertNothingWrong();
});
