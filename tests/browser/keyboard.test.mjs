// The first steps by keyboard alone. Wherever the focus goes, it has to be seen.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { madeKey } from "./chores.mjs";
import { Deployment, OWNER, PASSWORD } from "./deployment.mjs";
import { Visitor, launch } from "./visitor.mjs";

/** No page has more stops of Tab than this. */
const MOST_STOPS = 120;

let browser, deployment, owner, page, keyboard, key;

before(async () => {
  browser = await launch();
  deployment = await Deployment.start();
  owner = await Visitor.come(browser, deployment.origin);
  ({ page } = owner);
  ({ keyboard } = page);
});

after(async () => {
  await browser?.close();
  await deployment?.stop();
});

test("the owner is made", async () => {
  await page.goto(deployment.welcomeLink);
  await tabTo(page.getByLabel("E-mail"));
  await keyboard.type(OWNER);
  await tabTo(page.getByLabel("Password"));
  await keyboard.type(PASSWORD);
  await tabTo(page.getByRole("button", { name: "Make the owner" }));
  await keyboard.press("Enter");
  await page.waitForURL(`${deployment.origin}/`);
  owner.assertNothingWrong();
});

test("the first stop skips the rail", async () => {
  await owner.open("/");
  await keyboard.press("Tab");
  const skip = page.getByRole("link", { name: "Skip to the page" });
  assert.ok(await hasFocus(skip), "the first stop is the link that skips");
  await keyboard.press("Enter");
  await keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.activeElement.closest("main") !== null), "the next stop is in the page");
  owner.assertNothingWrong();
});

test("every stop of the rail is passed", async () => {
  await owner.open("/");
  await tabTo(page.getByRole("searchbox"));
  await tabTo(page.locator("#menu").getByRole("link", { name: "Help" }));
  await tabTo(page.getByRole("button", { name: "Sign out" }));
  assert.equal(await page.locator("dialog[open]").count(), 0, "passing by opens nothing");
  owner.assertNothingWrong();
});

test("a key is made and copied", async () => {
  await owner.open("/");
  await tabTo(page.locator("main").getByRole("link", { name: "Make key" }).first());
  await keyboard.press("Enter");
  await page.waitForURL("**/keys/new");
  await tabTo(page.getByLabel("Name", { exact: true }));
  await keyboard.type("by-keyboard");
  await tabTo(page.locator("summary", { hasText: "What it may use" }));
  await keyboard.press("Space");
  await page.getByText("How it is filtered", { exact: true }).waitFor();
  await tabTo(page.getByRole("button", { name: "Make key" }));
  await keyboard.press("Space");
  await page.getByRole("heading", { name: "Copy the key now" }).waitFor();
  key = await madeKey(page);
  await tabTo(page.getByRole("button", { name: "Copy key" }));
  await keyboard.press("Enter");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);
  owner.assertNothingWrong();
});

test("a request that appears is opened", async () => {
  await owner.open("/");
  await tabTo(page.locator("#menu").getByRole("link", { name: "Live" }));
  await keyboard.press("Enter");
  await page.locator("#live-state", { hasText: "listening" }).waitFor();
  const { id } = await deployment.ask(key, { model: "svc/auto" });
  const link = page.locator(`a[href="/requests/${id}"]`);
  await link.waitFor();
  await tabTo(link);
  await keyboard.press("Enter");
  await page.waitForURL(`**/requests/${id}`);
  await page.getByRole("row", { name: /email 1 redacted/ }).waitFor();
  owner.assertNothingWrong();
});

test("a filter is chosen", async () => {
  await owner.openUntil("/requests", () => page.getByText("1 of 1 request").isVisible(), "the request's figures");
  await tabTo(page.locator("summary", { hasText: "outcome" }));
  await keyboard.press("Enter");
  await tabTo(page.locator(".chip[open]").getByRole("link", { name: /completed/ }));
  await keyboard.press("Enter");
  await page.waitForURL(/outcome=completed/);
  owner.assertNothingWrong();
});

test("a question is asked in place, taken back, and answered", async () => {
  await owner.open("/keys");
  await tabTo(page.getByRole("link", { name: "by-keyboard" }));
  await keyboard.press("Enter");
  await page.waitForURL(/\/keys\/key_/);
  const opener = page.locator(".tools").getByRole("link", { name: "Revoke" });
  await tabTo(opener);
  await keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Revoke" });
  await dialog.waitFor();
  assert.ok(await page.evaluate(() => document.activeElement.closest("dialog") !== null), "the focus goes into the dialog");
  await keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  assert.ok(await hasFocus(opener), "the focus goes back to what opened the dialog");
  await keyboard.press("Enter");
  await tabTo(dialog.getByLabel("to confirm"));
  await keyboard.type("by-keyboard");
  await tabTo(dialog.getByRole("button", { name: "Revoke" }));
  await keyboard.press("Enter");
  await page.getByText("does not work any more").waitFor();
  owner.assertNothingWrong();
});

test("the menu of a narrow window opens and closes", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await owner.open("/");
  await tabTo(page.getByRole("button", { name: "Menu" }));
  await keyboard.press("Enter");
  await tabTo(page.locator("#menu").getByRole("link", { name: "Requests" }));
  await keyboard.press("Escape");
  await page.locator("#menu").waitFor({ state: "hidden" });
  await page.setViewportSize({ width: 1280, height: 900 });
  owner.assertNothingWrong();
});

test("out again", async () => {
  await owner.open("/");
  await tabTo(page.getByRole("button", { name: "Sign out" }));
  await keyboard.press("Enter");
  await page.waitForURL(/\/sign-in/);
  owner.assertNothingWrong();
});

const hasFocus = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Presses Tab until this has the focus; each stop on the way has to be seen. */
async function tabTo(locator) {
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    if (stop === 0 && await hasFocus(locator)) return;
    await keyboard.press("Tab");
    const unseen = await page.evaluate(unseenFocus);
    if (unseen) owner.problems.push(`${owner.where()}: the focus is not seen on ${unseen}`);
    if (await hasFocus(locator)) return;
  }
  assert.fail(`${owner.where()}: Tab never comes to ${locator}`);
}

/** What has the focus, if one cannot see that it has. Runs in the page. */
function unseenFocus() {
  const element = document.activeElement;
  // The browser marks the parts of a date itself: the day, the month, its calendar's button.
  if (!element || element === document.body || element.type === "date") return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const isIn = box.width > 2 && box.height > 2 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  const isSeen = isIn && outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
  return isSeen ? null : element.outerHTML.slice(0, 160);
}
