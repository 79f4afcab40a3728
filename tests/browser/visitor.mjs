// A person at a browser, whose pages are watched: whatever a machine can tell is wrong with a page
// becomes a problem with the page's address. A test ends with `assertNothingWrong`.

import assert from "node:assert/strict";
import { join } from "node:path";

import { problemsOf } from "./looks.mjs";
import { chromium, findChromium } from "./packages.mjs";

/** The browser of a test file; a visitor has cookies of its own in it. */
export const launch = () => chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox"] });

export class Visitor {
  #expected = [];

  /** `options` are those of a Playwright context, such as `javaScriptEnabled` or `viewport`. */
  static async come(browser, origin, options = {}) {
    const visitor = new Visitor();
    visitor.origin = origin;
    visitor.problems = [];
    visitor.context = await browser.newContext({
      baseURL: origin, viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", locale: "en", ...options,
    });
    // What takes longer than this does not come any more; a check that waits ends much earlier.
    visitor.context.setDefaultTimeout(20_000);
    await visitor.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    // The policy is in force; only its violations are told to the test as well.
    await visitor.context.exposeBinding("tellViolation", (_, what) => visitor.#tell(`violates the policy: ${what}`));
    await visitor.context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        window.tellViolation(`${event.violatedDirective} by ${event.blockedURI || event.sample}`));
    });
    visitor.page = await visitor.context.newPage();
    visitor.#watch(visitor.page);
    return visitor;
  }

  #watch(page) {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.#tell(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.#tell(`script: ${error}`));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith("http") && url.origin !== this.origin) this.#tell(`asks another host: ${url}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 500) this.#tell(`${response.url()} answered ${response.status()}`);
    });
  }

  #tell(what) {
    if (!this.#expected.some((it) => it.test(what))) this.problems.push(`${this.where()}: ${what}`);
  }

  /** A problem that this test brings about itself, such as the console's line about a 404. */
  expect(pattern) {
    this.#expected.push(pattern);
  }

  /** The page's path and how it is looked at. */
  where() {
    const { pathname, search } = new URL(this.page.url());
    return `${pathname}${search}${this.manner ? ` (${this.manner})` : ""}`;
  }

  /** Opens a page, which has to be there. */
  async open(path) {
    const answer = await this.page.goto(path);
    assert.equal(answer.status(), 200, `${path} answered ${answer.status()}`);
    return answer;
  }

  /** Opens a page again and again until something is there: records are written a moment later. */
  async openUntil(path, isThere, what) {
    const end = Date.now() + 20_000;
    for (;;) {
      await this.open(path);
      if (await isThere()) return;
      assert.ok(Date.now() < end, `${path}: ${what} did not appear`);
    }
  }

  /** Looks at the page as it is now: whether it fits its window, and what axe finds. */
  async inspect() {
    if (process.env.SLUICE_BROWSER_PICTURES) {
      const name = this.where().replace(/[^a-zA-Z0-9=&,-]+/g, "_");
      await this.page.screenshot({ path: join(process.env.SLUICE_BROWSER_PICTURES, `${name}.png`), fullPage: true });
    }
    for (const problem of await problemsOf(this.page)) this.problems.push(`${this.where()}: ${problem}`);
  }

  /** Fails with every problem since it was last called. */
  assertNothingWrong() {
    const problems = [...new Set(this.problems.splice(0))];
    assert.ok(problems.length === 0, `${problems.length} problems:\n${problems.join("\n")}`);
  }

  leave() {
    return this.context.close();
  }
}
