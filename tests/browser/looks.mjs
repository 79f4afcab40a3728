// What a machine can tell of how a page looks: whether it fits its window, and what axe finds.

import { axe } from "./packages.mjs";

/** The problems of the page as it is now, in words. */
export async function problemsOf(page) {
  const problems = [];
  const wide = await page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return null;
    const far = [...document.querySelectorAll("body *")].filter((it) => it.getBoundingClientRect().right > root.clientWidth + 1);
    const names = far.slice(0, 3).map((it) => `${it.tagName.toLowerCase()}.${it.getAttribute("class") ?? ""}`);
    return `is ${root.scrollWidth} pixels wide in a window of ${root.clientWidth} (${names.join(", ")})`;
  });
  if (wide) problems.push(wide);
  // The debugger evaluates axe, so the page's policy neither hinders it nor has to be weakened.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const { impact, id, help, nodes } of violations) {
    if (impact !== "serious" && impact !== "critical") continue;
    const shown = nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.any[0]?.message ?? node.html.slice(0, 120)}`);
    problems.push(`axe ${impact} ${id}, ${help}: ${shown.join("; ")}`);
  }
  return problems;
}
