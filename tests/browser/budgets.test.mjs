// A budget from its form to the refusal that leads back to its page, and on to a top-up.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { makeKey, makeOwner } from "./chores.mjs";
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

test("a budget is set, met, topped up and removed", async () => {
  const key = await makeKey(owner, "spender");
  await deployment.ask(key);
  await owner.open("/budgets/new");
  await page.getByLabel("For", { exact: true }).selectOption("key");
  await page.getByLabel("Which").fill("spender");
  await page.getByLabel("Limits").selectOption("requests");
  await page.getByLabel("Limit", { exact: true }).fill("1");
  await page.getByLabel("For how long").selectOption("total");
  await page.getByRole("button", { name: "Try it on yesterday" }).click();
  await page.getByRole("status").filter({ hasText: "would have refused 0 of 0 requests" }).waitFor();
  await page.getByRole("button", { name: "Set it" }).click();
  await page.getByRole("status").filter({ hasText: "It is set" }).waitFor();

  // It begins at zero, and the refusal says where it is.
  await deployment.ask(key);
  const refused = await assert.rejects(deployment.ask(key)).then(() => deployment.ask(key).catch((error) => error.message));
  assert.match(refused, /429.*this key has reached its limit of 1 requests in total/);
  const [, link] = /see (http[^"]+\/budgets\/bud_\w+)/.exec(refused);
  await owner.open(new URL(link).pathname);
  await page.getByRole("status").filter({ hasText: "It is spent" }).waitFor();
  await page.getByText("Who can raise it").waitFor();

  await page.getByRole("link", { name: "Top up" }).click();
  await page.getByRole("dialog").getByLabel("Amount").fill("1");
  await page.getByRole("dialog").getByRole("button", { name: "Top up" }).click();
  await page.getByRole("status").filter({ hasText: "The top-up holds" }).waitFor();
  await deployment.ask(key);

  await page.getByRole("link", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("spender");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("status").filter({ hasText: "The budget is removed" }).waitFor();
  await page.getByText("No budget yet").waitFor();
  await deployment.ask(key);
  owner.assertNothingWrong();
});
