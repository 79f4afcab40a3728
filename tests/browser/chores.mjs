// What several tests do on the way to what they test.

import assert from "node:assert/strict";

import { OWNER, PASSWORD } from "./deployment.mjs";

/** Makes the owner by the link that the server printed. */
export async function makeOwner({ page }, deployment) {
  await page.goto(deployment.welcomeLink);
  await page.getByLabel("E-mail").fill(OWNER);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Make the owner" }).click();
  await page.waitForURL(`${deployment.origin}/`);
}

/** Signs in up to the point where a code may be asked for. */
export async function signIn({ page }) {
  await page.goto("/sign-in");
  await page.getByLabel("E-mail").fill(OWNER);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
}

export async function signOut({ page }) {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
}

/** Makes a key in the browser; gives back its text. */
export async function makeKey(visitor, name) {
  const { page } = visitor;
  await visitor.open("/keys/new");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Make key" }).click();
  return madeKey(page);
}

/** The text of the key that the page shows once. */
export async function madeKey(page) {
  const key = await page.getByLabel("Service key").innerText();
  assert.match(key.trim(), /^svc_[a-z]{3}_[A-Za-z0-9]+$/);
  return key.trim();
}
