// What the script does for forms: one is sent once, and what was refused is said where it was asked.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { madeKey, makeOwner } from "./chores.mjs";
import { Deployment } from "./deployment.mjs";
import { Visitor, launch } from "./visitor.mjs";

let browser, deployment, owner, page;

before(async () => {
  browser = await launch();
  deployment = await Deployment.start();
  owner = await Visitor.come(browser, deployment.origin);
  page = owner.page;
  await makeOwner(owner, deployment);
});

after(async () => {
  await browser?.close();
  await deployment?.stop();
});

test("a second press makes no second key", async () => {
  await owner.open("/keys/new");
  await page.getByLabel("Name", { exact: true }).fill("pressed-twice");
  // The answer waits, so that there is time for more.
  let answers = 0;
  await page.route("**/keys/new", async (route) => {
    answers += 1;
    await new Promise((ready) => { setTimeout(ready, 500); });
    await route.continue();
  });
  await page.getByRole("button", { name: "Make key" }).dblclick();
  await madeKey(page);
  await page.unroute("**/keys/new");
  assert.equal(answers, 1);
  await owner.open("/keys");
  assert.equal(await page.getByRole("link", { name: "pressed-twice" }).count(), 1);
  owner.assertNothingWrong();
});

test("the button that was pressed is a part of what is sent, and works again afterwards", async () => {
  await owner.open("/keys/new");
  for (const way of ["forward", "back"]) {
    await page.getByLabel("Name", { exact: true }).fill(way);
    await page.getByRole("button", { name: "Work it out anew" }).click();
    await page.waitForURL("**/keys/new/preview");
    if (way === "forward") await page.goBack();
  }
  owner.assertNothingWrong();
});

test("a conversation that is too long says so, and stays", async () => {
  owner.expect(/the server responded with a status of 413/);
  await owner.open("/playground");
  // What came before travels along, hidden.
  await page.locator("#ask").evaluate((form) => {
    const earlier = document.createElement("input");
    Object.assign(earlier, { type: "hidden", name: "asked", value: "w".repeat(17 << 20) });
    form.append(earlier);
  });
  const message = page.getByLabel("Message", { exact: true });
  await message.fill("And now?");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByRole("alert").filter({ hasText: "The conversation is too long" }).waitFor();
  assert.equal(await message.inputValue(), "And now?");
  owner.assertNothingWrong();
});
