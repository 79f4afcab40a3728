// Draws the pages of a folder: node screenshots.mjs FOLDER WIDTHS THEMES STATES PAGES
//
// Serves FOLDER/pages under the policy that the real pages have, opens each in Chromium, and writes
// FOLDER/PAGE/STATE-WIDTH-THEME.png. Ends with an error where a page is wider than its window, axe
// finds something serious, or the console has an error (violations of the policy are errors there).

import { createServer } from "node:http";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, extname, join, normalize } from "node:path";

import { problemsOf } from "./looks.mjs";
import { chromium, findChromium } from "./packages.mjs";

const [folder, widths, themes, states, pages] = process.argv.slice(2);
const list = (text) => (text ? text.split(",") : []);

const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
const server = createServer(async (request, response) => {
  const path = normalize(new URL(request.url, "http://localhost").pathname);
  try {
    const bytes = await readFile(join(folder, "pages", path));
    response.writeHead(200, {
      "content-type": TYPES[extname(path)] ?? "application/octet-stream",
      // The same as POLICY in crates/dashboard/src/web/reply.rs.
      "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
    }).end(bytes);
  } catch {
    // The live tail asks for events; an empty stream keeps it waiting.
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": nobody is here\n\n");
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const origin = `http://127.0.0.1:${server.address().port}`;

const wanted = JSON.parse(await readFile(join(folder, "pages/states.json"), "utf8")).filter((name) => {
  const [page, state] = name.replace(".html", "").split("/");
  return (!pages || list(pages).includes(page)) && (!states || list(states).includes(state));
});
const browser = await chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox"] });
const problems = [];

for (const theme of list(themes)) {
  for (const width of list(widths).map(Number)) {
    const context = await browser.newContext({
      viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: "reduce",
      hasTouch: width < 600, isMobile: width < 600, timezoneId: "Europe/Berlin",
    });
    const page = await context.newPage();
    let at = "";
    page.on("console", (message) => message.type() === "error" && problems.push(`${at}: ${message.text()}`));
    page.on("pageerror", (error) => problems.push(`${at}: ${error}`));
    for (const name of wanted) {
      at = `${name} at ${width}, ${theme}`;
      await page.goto(`${origin}/${name}`, { waitUntil: "load" });
      for (const problem of await problemsOf(page)) problems.push(`${at}: ${problem}`);
      const file = join(folder, name.replace(".html", `-${width}-${theme}.png`));
      await mkdir(dirname(file), { recursive: true });
      await page.screenshot({ path: file, fullPage: true });
    }
    await context.close();
  }
}
await browser.close();
server.closeAllConnections();
server.close();
for (const problem of problems) console.error(problem);
console.log(`${wanted.length} states, ${problems.length} problems`);
process.exitCode = problems.length ? 1 : 0;
