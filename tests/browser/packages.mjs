// The browser and the packages that drive it.
//
// `cargo xtask test browser` installs the packages into `target/browser`; the browser is the
// system's: Debian's `chromium`, or what CHROMIUM names.

import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The folder into which the packages were installed. */
const folder = resolve(process.env.SLUICE_BROWSER_PACKAGES ?? join(root, "target/browser"));

/** The program under test. */
export const binary = resolve(process.env.SLUICE_BINARY ?? join(root, "target/release/sluice"));

const require = createRequire(join(folder, "package.json"));
export const { chromium } = require("playwright-core");
export const axe = require("axe-core");

/** The path of Chromium. */
export function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = folders.map((it) => join(it, "chromium")).find(isProgram);
  if (!found) throw new Error("`chromium` is not on the path; install Debian's package `chromium`, or set CHROMIUM to a browser's path");
  return found;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
