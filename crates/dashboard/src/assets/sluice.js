// What the pages gain by a script. Every page works without it: here are only short cuts.
//
// Pages say what they want in attributes (`data-copy`, `data-dialog`, `data-live`, …); each part
// below looks for its own and leaves the rest alone. Text is set as text, never as markup.

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** An element with attributes and children; strings become text. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]");

// The pages, as the rail has them: their names, addresses and letters.
const places = () =>
  all("#menu .places a").map((link) => ({
    name: (one("span", link) ?? link).textContent.trim(),
    href: link.getAttribute("href"),
    letter: link.dataset.key,
  }));

// ---- Copying -----------------------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const source = button.dataset.copy
    ? document.getElementById(button.dataset.copy)
    : one("pre", button.closest(".code"));
  const text = source.value ?? source.textContent;
  const word = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Over plain HTTP there is no clipboard: the text is selected instead.
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = word; }, 1500);
});

// ---- Dialogs: a link to a page of its own opens the same form in place ---------------------------

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.dialog);
  if (dialog && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    dialog.showModal();
    return;
  }
  const closer = event.target.closest?.("dialog [data-close]");
  // A press beside the dialog is one on the dialog itself.
  const beside = event.target.matches?.("dialog[open]") && isOutside(event.target, event);
  if (closer || beside) {
    event.preventDefault();
    (closer ?? event.target).closest("dialog").close();
  }
});

function isOutside(element, { clientX: x, clientY: y }) {
  const box = element.getBoundingClientRect();
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}

// Open chips close when something else is pressed.
document.addEventListener("click", (event) => {
  for (const chip of all(".chip[open]")) if (!chip.contains(event.target)) chip.open = false;
});

// ---- Forms: sent once ------------------------------------------------------------------------------

// A second press while the answer is on its way would make a second key. What a script sends itself,
// and what only asks, is left alone.
const sent = new Set();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("method") !== "post" || form.dataset.stream) return;
  if (sent.has(form)) return event.preventDefault();
  sent.add(form);
  // The button that was pressed is a part of what is sent: it is disabled afterwards.
  setTimeout(() => enable(form, false));
});

// Back from another page, or from a reload that keeps what was disabled, everything can be sent again.
addEventListener("pageshow", () => {
  sent.clear();
  for (const form of all("form[method=post]")) enable(form, true);
});

function enable(form, isEnabled) {
  for (const button of form.elements) if (button.type === "submit") button.disabled = !isEnabled;
}

// ---- Times: the reader's own, where the page tells another zone's ---------------------------------

const own = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const zone = own.resolvedOptions().timeZone;

function tellOwnTimes(within) {
  for (const time of all("time[datetime]", within)) {
    if (time.title.endsWith(zone) || time.dataset.told) continue;
    time.dataset.told = "1";
    time.title += `\n${own.format(new Date(time.dateTime))} ${zone}`;
  }
}
tellOwnTimes(document);

// `4 s ago` is true for a second: what stays open is told anew, in the words of the server.
const UNITS = [[86_400, (days) => `${days.toLocaleString("en")} day${days === 1 ? "" : "s"}`], [3_600, (hours) => `${hours} h`], [60, (minutes) => `${minutes} min`], [1, (seconds) => `${seconds} s`]];

function ago(seconds) {
  const [size, words] = UNITS.find(([size]) => seconds >= size) ?? [];
  return size ? `${words(Math.floor(seconds / size))} ago` : "now";
}
const relative = all("time[datetime]").filter((time) => /^(now|.* ago)$/.test(time.textContent));
// The server's clock counts, not the reader's: what is told is moved on by the time since.
const told = Date.now();
const began = relative.map((time) => {
  const [, number, unit] = /^([\d,]+) (s|min|h|day)/.exec(time.textContent) ?? [, "0", "s"];
  const size = { s: 1, min: 60, h: 3_600, day: 86_400 }[unit];
  return Number(number.replaceAll(",", "")) * size;
});
if (relative.length) {
  setInterval(() => {
    const since = Math.floor((Date.now() - told) / 1000);
    relative.forEach((time, place) => { time.textContent = ago(began[place] + since); });
  }, 15_000);
}

// ---- Theme ---------------------------------------------------------------------------------------

function turnTheme() {
  const root = document.documentElement;
  const shown = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = shown === "dark" ? "light" : "dark";
  root.dataset.theme = next;
  document.cookie = `sluice-theme=${next}; Path=/; Max-Age=31536000; SameSite=Lax`;
}
for (const button of all("[data-theme-next]")) button.addEventListener("click", turnTheme);

// ---- Charts: the values at the pointer, as the chart's table has them ------------------------------

for (const chart of all(".chart")) {
  const drawn = one(".drawn", chart);
  if (!drawn) continue;
  const heads = all(".data thead th", chart).map((head) => head.textContent);
  const rows = all(".data tbody tr", chart).map((row) => [...row.children].map((cell) => cell.textContent));
  const bars = all(".plot g[data-at]", chart);
  for (const bar of bars) one("title", bar)?.remove();
  const plot = one(".plot", chart);
  const values = make("div", { class: "values", hidden: "" });
  chart.append(values);

  const show = (event) => {
    const box = plot.getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
    if (at < 0 || at >= bars.length || event.clientY > box.bottom) return hide();
    bars.forEach((bar, place) => bar.classList.toggle("at", place === at));
    const [name, ...figures] = rows[at];
    const lines = figures.flatMap((figure, place) =>
      heads[place + 1] === "Sum" || !/^(\$0\.00|0|0 ms)$/.test(figure)
        ? [make("span", {}, heads[place + 1]), make("span", {}, figure)]
        : []);
    values.replaceChildren(make("b", {}, name), ...lines);
    values.hidden = false;
    const frame = chart.getBoundingClientRect();
    const middle = box.left - frame.left + ((at + 0.5) / bars.length) * box.width;
    const right = middle + values.offsetWidth + 14 > frame.width;
    values.style.left = `${right ? Math.max(0, middle - values.offsetWidth - 10) : middle + 10}px`;
    values.style.top = "8px";
  };
  const hide = () => {
    values.hidden = true;
    for (const bar of bars) bar.classList.remove("at");
  };
  drawn.addEventListener("pointermove", show);
  drawn.addEventListener("pointerleave", hide);

  // Drawn over with the pointer, several bars are one period.
  const links = bars.map((bar) => bar.closest("a"));
  if (!links.length || links.includes(null)) continue;
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    return Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - box.left) / box.width) * bars.length)));
  };
  let from = null;
  plot.addEventListener("dragstart", (event) => event.preventDefault());
  plot.addEventListener("pointerdown", (event) => { if (event.button === 0) from = place(event); });
  plot.addEventListener("pointermove", (event) => {
    if (from === null || place(event) === from) return;
    const [first, last] = [from, place(event)].sort((a, b) => a - b);
    bars.forEach((bar, at) => bar.classList.toggle("at", at >= first && at <= last));
  });
  const leave = () => { from = null; };
  plot.addEventListener("pointerleave", leave);
  plot.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const [first, last] = [from, place(event)].sort((a, b) => a - b);
    leave();
    if (first === last) return;
    const target = new URL(links[first].getAttribute("href"), location.href);
    target.searchParams.set("until", new URL(links[last].getAttribute("href"), location.href).searchParams.get("until"));
    plot.addEventListener("click", (click) => click.preventDefault(), { once: true });
    location.assign(target);
  });
}

// ---- Live: finished requests, as the server tells them ----------------------------------------------

const live = one("[data-live]");
if (live) {
  const body = one("tbody", live);
  const state = document.getElementById("live-state");
  const pause = document.getElementById("live-pause");
  const most = Number(live.dataset.most) || 200;
  let waiting = [];
  let isPaused = false;

  const say = (word, kind) => {
    state.textContent = word;
    state.className = `badge ${kind}`;
  };
  const path = (row) => one("a.go", row)?.getAttribute("href");
  const add = (row) => {
    one(".nobody", body)?.remove();
    body.prepend(row);
    while (body.rows.length > most) body.deleteRow(-1);
    tellOwnTimes(row);
  };
  // The server sends a row as the page would have it, so there is one template for both. It is
  // read as a document of its own, in which nothing runs.
  const row = (text) => {
    const parsed = new DOMParser().parseFromString(`<table><tbody>${text}`, "text/html");
    const made = document.importNode(one("tr", parsed), true);
    made.classList.add("new");
    return made;
  };

  // What ended while nobody listened is on the page as it is now.
  const catchUp = async () => {
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const known = new Set([...body.rows].map(path));
    for (const found of all("[data-live] tbody tr", page).reverse()) {
      if (path(found) && !known.has(path(found))) add(document.importNode(found, true));
    }
  };

  const source = new EventSource(live.dataset.live);
  source.addEventListener("open", () => {
    if (!isPaused) say("listening", "good");
    // What is told now takes a moment to be on the page.
    setTimeout(catchUp, 2_000);
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) say("ended: read the page anew", "bad");
    else if (!isPaused) say("connection lost, trying again", "warn");
  });
  source.addEventListener("lost", (event) => {
    const cell = make("td", { class: "text muted", colspan: "12" }, `${Number(event.data).toLocaleString("en")} more ended here, too fast to be shown`);
    const row = make("tr", {});
    row.append(cell);
    if (isPaused) return;
    add(row);
  });
  source.addEventListener("request", (event) => {
    if (!isPaused) return add(row(event.data));
    waiting.push(event.data);
    waiting = waiting.slice(-most);
    pause.textContent = `Continue (${waiting.length})`;
  });
  pause?.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Continue" : "Pause";
    say(isPaused ? "paused" : "listening", isPaused ? "warn" : "good");
    if (!isPaused) for (const text of waiting.splice(0)) add(row(text));
  });
  addEventListener("pagehide", () => source.close());
}

// ---- Playground: an answer as it comes ---------------------------------------------------------------

// The events, each with a text as JSON: `text` has more of the answer, `turn` at the end all of it, as
// the page would have it, with what the next question brings along.
const ask = one("form[data-stream]");
if (ask) {
  let running = null;
  const stop = document.getElementById("stop");
  ask.addEventListener("submit", async (event) => {
    event.preventDefault();
    running?.abort();
    const mine = (running = new AbortController());
    const talk = document.getElementById("talk");
    const body = new URLSearchParams(new FormData(ask));
    const text = make("div", { class: "prose", dir: "auto" });
    const state = make("p", { class: "hint", role: "status" }, "Waiting for the first token");
    const head = make("h2", { class: "wrap" }, body.get("model"));
    const turn = [
      make("article", { class: "say mine" }, make("h2", {}, "You"), make("div", { class: "prose", dir: "auto" }, body.get("prompt"))),
      make("article", { class: "say" }, head, text, state),
    ];
    one(".empty", talk)?.closest(".panel").remove();
    talk.append(...turn);
    state.scrollIntoView({ block: "nearest" });
    if (stop) stop.hidden = false;
    try {
      const answer = await fetch(ask.dataset.stream, { method: "POST", body, signal: mine.signal });
      if (!answer.ok || !answer.body) throw new Error(await refusal(answer));
      for await (const { event: kind, data } of events(answer.body)) {
        const it = data && JSON.parse(data);
        if (kind === "text") {
          text.append(it);
          state.textContent = "Answering";
        }
        if (kind === "turn") {
          // Read as a document of its own, in which nothing runs.
          const parsed = new DOMParser().parseFromString(it, "text/html");
          const told = [...parsed.body.children].map((child) => document.importNode(child, true));
          turn[0].before(...told);
          for (const part of turn) part.remove();
          if (told.some((part) => part.name === "answered")) ask.elements.prompt.value = "";
          told.at(-1)?.scrollIntoView({ block: "nearest" });
        }
      }
      if (state.isConnected) throw new Error("The answer broke off. Ask again.");
    } catch (error) {
      state.replaceWith(make("p", { class: "notice bad", role: "alert" },
        error.name === "AbortError" ? "Stopped. What was used until then counts." : error.message));
    }
    if (stop && running === mine) stop.hidden = true;
  });
  stop?.addEventListener("click", () => running?.abort());
  one("textarea[name=prompt]", ask)?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask.requestSubmit();
  });
}

/** Why nothing was asked, as the page says it that came instead. It is read as a document of its own. */
async function refusal(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const says = all("main .card .muted", page).map((line) => line.textContent).join(" ");
  return `Nothing was asked (status ${answer.status}). ${says || "Open the page again."}`;
}

/** The events of a server-sent stream, wherever its bytes were cut. */
async function* events(body) {
  let rest = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const found = { event: "message", data: "" };
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        if (colon > 0) found[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
      }
      yield found;
    }
  }
}

// ---- The command bar and the list of keys ----------------------------------------------------------

const seek = document.getElementById("seek");

function commandBar() {
  let bar = document.getElementById("command-bar");
  if (bar) return bar;
  const list = make("ul", { class: "menu", role: "listbox", id: "command-list", "aria-label": "Pages" });
  const input = make("input", {
    type: "text", name: "q", placeholder: "A page, key, person, model or id", autocomplete: "off", spellcheck: "false",
    role: "combobox", "aria-expanded": "true", "aria-controls": "command-list", "aria-label": "Go to",
  });
  // What is sought may be a key: it is sent as a form, and never stands in an address.
  const csrf = make("input", { type: "hidden", name: "csrf", value: seek?.form.elements.csrf?.value ?? "" });
  const form = make("form", { method: "post", action: "/find" }, csrf, input, list);
  bar = make("dialog", { id: "command-bar", class: "bar-dialog", "aria-label": "Go to" }, form);
  document.body.append(bar);

  let chosen = 0;
  const draw = () => {
    const sought = input.value.trim().toLowerCase();
    const found = places().filter(({ name }) => name.toLowerCase().includes(sought));
    const rows = found.map(({ name, href, letter }) => ({ name, href, letter }));
    if (sought) rows.push({ name: `Find “${input.value.trim().slice(0, 60)}”`, href: "/find" });
    chosen = Math.min(chosen, Math.max(0, rows.length - 1));
    list.replaceChildren(...rows.map(({ name, href, letter }, place) =>
      make("li", { role: "presentation" },
        make("a", { href, role: "option", tabindex: "-1", id: `command-${place}`, "aria-selected": String(place === chosen) },
          name, ...(letter ? [make("span", {}, make("kbd", {}, "g"), " ", make("kbd", {}, letter))] : [])))));
    input.setAttribute("aria-activedescendant", rows.length ? `command-${chosen}` : "");
    one("[aria-selected=true]", list)?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => { chosen = 0; draw(); });
  input.addEventListener("keydown", (event) => {
    const rows = all("a", list);
    if (event.key === "ArrowDown") chosen = (chosen + 1) % rows.length;
    else if (event.key === "ArrowUp") chosen = (chosen + rows.length - 1) % rows.length;
    else if (event.key === "Enter" && rows[chosen]) { event.preventDefault(); rows[chosen].click(); return; }
    else return;
    event.preventDefault();
    draw();
  });
  list.addEventListener("click", (event) => {
    if (event.target.closest("a")?.getAttribute("href") !== "/find") return;
    event.preventDefault();
    form.requestSubmit();
  });
  bar.addEventListener("close", () => { input.value = ""; chosen = 0; });
  bar.draw = draw;
  return bar;
}

function openBar() {
  const bar = commandBar();
  bar.draw();
  bar.showModal();
}

function showKeys() {
  const rows = [
    ["/", "go to a page, key, person or id"], ["j  k", "next and previous row"], ["Enter", "open the row"],
    ["[  ]", "newer and older rows"], ["t", "light or dark"], ["?", "this list"],
    ...places().filter(({ letter }) => letter).map(({ name, letter }) => [`g  ${letter}`, name]),
  ];
  const keys = (text) => text.split("  ").flatMap((key, place) => (place ? [" ", make("kbd", {}, key)] : [make("kbd", {}, key)]));
  const facts = make("dl", { class: "facts" }, ...rows.flatMap(([key, what]) => [make("dt", {}, ...keys(key)), make("dd", {}, what)]));
  const dialog = make("dialog", { "aria-label": "Keys" },
    make("div", { class: "stack" }, make("h2", {}, "Keys"), facts, make("button", { class: "btn", type: "button", "data-close": "" }, "Close")));
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}

// Whoever comes by Tab passes, or types into the field itself: it is a form.
seek?.addEventListener("click", openBar);

let isGoing = false;
let rowAt = -1;

function moveTo(step) {
  const rows = all("table.rows > tbody > tr").filter((row) => one(".go", row));
  if (!rows.length) return;
  rowAt = Math.max(0, Math.min(rows.length - 1, rowAt + step));
  rows.forEach((row, place) => row.classList.toggle("at", place === rowAt));
  one(".go", rows[rowAt]).focus();
  rows[rowAt].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const isCommand = (event.ctrlKey || event.metaKey) && event.key === "k";
  if (isCommand) { event.preventDefault(); openBar(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || one("dialog[open]")) return;
  if (isGoing) {
    isGoing = false;
    const place = places().find(({ letter }) => letter === event.key);
    if (place) { event.preventDefault(); location.assign(place.href); }
    return;
  }
  switch (event.key) {
    case "/": event.preventDefault(); if (one("#menu")) openBar(); break;
    case "g": isGoing = true; setTimeout(() => { isGoing = false; }, 1200); break;
    case "j": moveTo(1); break;
    case "k": moveTo(-1); break;
    case "[": one("a[rel=prev]")?.click(); break;
    case "]": one("a[rel=next]")?.click(); break;
    case "t": turnTheme(); break;
    case "?": showKeys(); break;
  }
});
