// Signing in and out: password, one-time codes, recovery codes, and the sessions of other browsers.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";

import { makeOwner, signIn, signOut } from "./chores.mjs";
import { Deployment, PASSWORD } from "./deployment.mjs";
import { Visitor, launch } from "./visitor.mjs";

let browser, deployment, owner, page, secret, recovery, spent;

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

test("one-time codes are switched on with the secret that is shown", async () => {
  await owner.open("/settings");
  await page.getByLabel("Your password").fill(PASSWORD);
  await page.getByRole("button", { name: "Set up one-time codes" }).click();
  secret = await page.getByLabel("Secret").innerText();
  await owner.inspect();
  spent = stepNow();
  await page.getByLabel("Code of now").fill(code(secret, spent));
  await page.getByRole("button", { name: "Confirm" }).click();
  recovery = (await page.getByLabel("Recovery codes").innerText()).trim().split("\n");
  assert.ok(recovery.length >= 8 && new Set(recovery).size === recovery.length, recovery.join());
  await owner.inspect();
  await owner.open("/settings");
  await page.getByText(`${recovery.length} recovery codes left`).waitFor();
  assert.ok(!(await page.content()).includes(recovery[0]), "recovery codes are shown once");
  owner.assertNothingWrong();
});

test("signing in asks for password and code", async () => {
  await signOut(owner);
  await page.goto("/keys");
  await page.waitForURL(/\/sign-in/);
  await page.getByLabel("E-mail").waitFor();

  await signIn(owner);
  await page.waitForURL(/\/sign-in\/code/);
  await owner.inspect();
  // The password alone opens nothing.
  await page.goto("/settings");
  await page.waitForURL(/\/sign-in/);

  await signIn(owner);
  await page.waitForURL(/\/sign-in\/code/);
  // A code works once: that of the confirmation is spent, the next one is fresh.
  owner.expect(/the server responded with a status of 401/);
  await enterCode(code(secret, spent));
  await page.getByRole("alert").or(page.locator(".error")).first().waitFor();
  await enterCode(code(secret, Math.max(stepNow(), spent + 1)));
  await page.waitForURL(`${deployment.origin}/`);
  owner.assertNothingWrong();
});

test("a recovery code signs in once", async () => {
  await signOut(owner);
  for (const works of [true, false]) {
    await signIn(owner);
    await page.getByRole("link", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code").fill(recovery[0]);
    await page.getByRole("button", { name: "Go on" }).click();
    if (works) {
      await page.waitForURL(`${deployment.origin}/`);
      await signOut(owner);
    } else {
      await page.locator("[role=alert], .error").first().waitFor();
      assert.match(page.url(), /\/sign-in\/code/);
    }
  }
  await page.getByLabel("Recovery code").fill(recovery[1]);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.waitForURL(`${deployment.origin}/`);
  await owner.open("/settings");
  await page.getByText(`${recovery.length - 2} recovery codes left`).waitFor();
  owner.assertNothingWrong();
});

test("another browser's session is listed and ended", async () => {
  const other = await Visitor.come(browser, deployment.origin, {
    userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile Safari/604.1",
  });
  await signIn(other);
  await other.page.getByRole("link", { name: "Use a recovery code" }).click();
  await other.page.getByLabel("Recovery code").fill(recovery[2]);
  await other.page.getByRole("button", { name: "Go on" }).click();
  await other.page.waitForURL(`${deployment.origin}/`);

  await owner.open("/settings");
  const sessions = page.locator("section", { has: page.getByRole("heading", { name: "Sessions" }) });
  await sessions.getByRole("row", { name: /Linux.*this one/ }).waitFor();
  const row = sessions.getByRole("row", { name: /Safari on iPhone/ });
  await row.getByRole("button", { name: "End" }).click();
  await page.getByRole("status").getByText("Ended.").waitFor();
  await row.waitFor({ state: "detached" });
  await other.page.goto("/keys");
  await other.page.waitForURL(/\/sign-in/);
  other.assertNothingWrong();
  owner.assertNothingWrong();
});

async function enterCode(text) {
  await page.getByLabel("Code", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Go on" }).click();
}

/** The step of thirty seconds that codes are of (RFC 6238). */
const stepNow = () => Math.floor(Date.now() / 30_000);

/** The six digits of a step, as an authenticator computes them out of the secret. */
function code(secret, step) {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const offset = digest.at(-1) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

function fromBase32(text) {
  const letters = [...text.toUpperCase()].map((it) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(it)).filter((it) => it >= 0);
  const bits = letters.map((it) => it.toString(2).padStart(5, "0")).join("");
  return Buffer.from(bits.match(/.{8}/g).map((it) => parseInt(it, 2)));
}
