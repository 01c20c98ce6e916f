/** The plan beside the steps: the error of every wish before anything is spent, and what the promise means. */

import { byId, drawn, element } from "./elements.js";
import { mark, wayTo } from "./faults.js";
import { why } from "./fields.js";
import { listing, refusal } from "./shown.js";
import { address, ask, work } from "./work.js";

const known = new Map(); // what was found for a specification, by its text and its statements
let turn = 0;

/** Draws the plan of every wish; an answer that comes too late is left out. */
export async function drawPlan() {
  turn += 1;
  const own = turn;
  const open = work.wishes.filter((one) => !one.published);
  const parts = open.map((one) => element("section", { "aria-label": one.name }, element("h3", {}, one.name)));
  const done = why("All that was wished for is published. Add another wish to plan more.");
  const first = work.wishes.length ? done : why("Describe at least one column, say whom you protect, and wish for something: what it will cost and give is shown here at once.");
  byId("plan").replaceChildren(...(parts.length ? parts : [first]));
  for (const [place, one] of open.entries()) {
    if (one.fault) {
      const empty = one.faults.some((fault) => fault.empty);
      parts[place].append(...(empty ? [why("Still to say:")] : []), ...(one.faults.length ? one.faults.map(wayTo) : [element("p", { class: "wrong-line" }, one.fault)]));
      continue;
    }
    const key = `${one.toml}\n${one.sql}`;
    const waiting = why("Planning.");
    const began = Date.now();
    const clock = setInterval(() => (waiting.textContent = `Planning, ${Math.round((Date.now() - began) / 1000)} s.`), 1000);
    if (!known.has(key)) parts[place].append(waiting);
    try {
      const found = known.get(key) ?? (await ask("POST", "/wishes/forecast", one.name));
      if (own !== turn) return;
      known.set(key, found);
      waiting.remove();
      parts[place].append(...forecast(one, found));
      tell(one, found);
      if (!one.kind) continue; // of statements the plan says all
      found.preview ??= await ask("POST", "/wishes/preview", one.name);
      if (own !== turn) return;
      parts[place].append(...preview(one, found.preview));
    } catch (error) {
      if (own !== turn) return;
      waiting.remove();
      parts[place].append(...refusal(error));
      if (!error.at) continue;
      one.faults.push({ at: error.at, line: error.message.replace(/^\$\.\S*: /, "") });
      mark();
    } finally {
      clearInterval(clock);
    }
  }
}

/** Says beside the button that publishes it how far off its numbers will be. */
function tell(one, { off }) {
  const place = [...document.querySelectorAll("[data-error]")].find((span) => span.dataset.error === one.name);
  if (place && off) place.textContent = ` ${off}`;
}

function forecast(one, found) {
  const more = found.budgets.map((other) => `${other.words} the epsilon (${other.epsilon ?? other.rho}), ${other.times} times the error`);
  const rest = [...found.more.map((table) => listing(table, "What else is planned")), ...found.remarks.map((line) => why(line))];
  return [
    element("p", {}, found.why),
    element("p", {}, element("strong", {}, found.promise)),
    ...(found.chances.length ? [chances(found.chances)] : []),
    ...(more.length ? [why(`With ${more.join("; with ")}.`)] : []),
    ...found.tables.map((table) => listing(table, "What is planned, and its errors")),
    ...(found.periods ?? []).map((line) => why(line.replace(" (`counter`)", ""))),
    ...(found.running ? [listing(found.running, "What counts over several periods err")] : []),
    ...(rest.length ? [element("details", {}, element("summary", {}, "All that the plan says"), ...rest)] : []),
  ];
}

function chances(rows) {
  const head = element("tr", {}, ...["without your data", "with your data, at most"].map((words) => element("th", { scope: "col" }, words)));
  const body = rows.map((one) => element("tr", {}, element("td", {}, `${one.without} in 100`), element("td", {}, `${one.with} in 100`)));
  return element("table", {}, element("caption", {}, "How often anything can be concluded about you"), element("thead", {}, head), element("tbody", {}, ...body));
}

function preview(one, found) {
  const page = element("a", { href: address("/made-up", one.name), target: "_blank", rel: "noopener" }, "The whole page with made-up people");
  if (found.records.length) {
    const rows = found.records.map((record) => element("tr", {}, ...record.map((cell) => element("td", { class: "label" }, cell.replace("+-", "±")))));
    return [element("table", {}, element("caption", {}, "Records, had the people been made up"), element("tbody", {}, ...rows)), element("p", {}, page)];
  }
  const cut = found.cells > found.bars.length ? `; the ${found.largest ? "largest" : "first"} ${found.bars.length} of ${found.cells.toLocaleString("en")}` : "";
  return [bars(found.bars), why(`Made-up people, with 95 % intervals${cut}.`), element("p", {}, page)];
}

function bars(rows) {
  const widest = Math.max(...rows.map((one) => Math.max(one.value, one.high, 0)), 1e-12);
  const across = (value) => 130 + (200 * Math.min(Math.max(value, 0), widest)) / widest;
  const marks = rows.flatMap((one, place) => {
    const y = 8 + 20 * place;
    const high = one.high ?? one.value;
    return [
      drawn("text", { x: 124, y: y + 11, class: "end" }, one.label.length > 20 ? `${one.label.slice(0, 19)}…` : one.label),
      drawn("rect", { x: 130, y, width: across(one.value) - 130, height: 14 }),
      drawn("line", { x1: across(one.low ?? one.value), x2: across(high), y1: y + 7, y2: y + 7 }),
      ...[one.low ?? one.value, high].map((end) => drawn("line", { x1: across(end), x2: across(end), y1: y + 2, y2: y + 12 })),
      drawn("text", { x: across(Math.max(high, one.value)) + 6, y: y + 11 }, figure(one)),
    ];
  });
  return drawn("svg", { class: "bars", viewBox: `0 0 440 ${12 + 20 * rows.length}`, role: "img", "aria-label": "Bars of made-up people with intervals" }, ...marks);
}

/** Returns a number with its interval, in no more digits than the interval leaves it. */
function figure(one) {
  if (one.value === null) return "not known";
  const half = one.high === null || one.high === undefined ? 0 : one.high - one.value;
  if (!(half > 0)) return Number(one.value.toPrecision(4)).toLocaleString("en");
  const digits = { maximumFractionDigits: half < 1 ? Math.min(9, 1 - Math.floor(Math.log10(half))) : 0 };
  return `${one.value.toLocaleString("en", digits)} ± ${Number(half.toPrecision(2)).toLocaleString("en", digits)}`;
}
