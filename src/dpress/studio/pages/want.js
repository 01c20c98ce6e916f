/** The third and the fourth step: wishes and their parts of the budget; check, publish, the pages, what was done. */

import { asking, forget } from "./asking.js";
import { byId, drawn, element } from "./elements.js";
import { placeOf, toFirst, wayTo } from "./faults.js";
import { button, choice, group, lines, row, text, ticks, why } from "./fields.js";
import { waited } from "./shown.js";
import { address, ask, attributeName, keep, take, typed, work } from "./work.js";

const LOWEST = -2; // of the slider: a hundredth
const STEPS = 100; // for each factor of ten
const PARTS = [["", "an equal part of what is left"], ["all", "all that is left"], ["half", "half of what is left"], ["tenth", "a tenth of what is left"]];

/** Draws the third step. */
export function drawWhat(redraw) {
  const { draft, kinds } = work;
  const names = draft.columns.filter((one) => one.use).map(attributeName);
  const add = (kind) => () => {
    const name = unused(kind || "sql");
    draft.wishes.push({ name, kind, sql: "", attributes: [], by: [], mean: [], median: [], ways: "1", more: "", periods: "", counter: "separate", per_unit: "1", epsilon: "" });
    redraw();
    typed();
  };
  const cards = kinds.map((wished) => {
    const made = button("", add(wished.kind));
    made.append(picture(wished), element("strong", {}, wished.title), element("span", { class: "why" }, wished.words));
    return made;
  });
  byId("step-what").replaceChildren(
    element("div", { class: "kinds" }, ...cards),
    budget(),
    ...draft.wishes.map((own) => wish(own, names, redraw)),
  );
}

/** Draws the fourth step. */
export function drawDo(redraw, fail) {
  const { draft, ledger } = work;
  byId("step-do").replaceChildren(
    bar(), ...spent(),
    ...(ledger.exists ? [why(`The ledger allows ${ledger.words}, and nothing can be taken back from it.`)] : []),
    ...draft.wishes.map((own) => done(own, redraw, fail)),
    ...(draft.wishes.length ? [] : [why("Nothing is wished for yet.")]),
  );
}

function unused(kind) {
  const taken = new Set(work.draft.wishes.map((one) => one.name));
  let number = 1;
  while (taken.has(`${kind}-${number}`)) number += 1;
  return `${kind}-${number}`;
}

function picture({ mark, marks: places }) {
  const marks = places.map(([x, y]) => {
    if (mark === "line") return drawn("rect", { x, y, width: 44, height: 6 });
    if (mark === "round") return drawn("path", { d: `M${x} ${y} m-4 0 a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0` });
    return drawn("rect", { x, y, width: 8, height: 40 - y });
  });
  return drawn("svg", { viewBox: "0 0 56 42", "aria-hidden": "true" }, ...marks);
}

function budget() {
  const { draft, ledger } = work;
  if (ledger.exists) {
    return group("The budget of all wishes", why(`It stands in the ledger: ${ledger.words}.`));
  }
  const field = text("epsilon, of all wishes together", draft, "epsilon");
  const slider = element("input", { type: "range", min: LOWEST * STEPS, max: STEPS, step: 1, "aria-label": "epsilon on a slider" });
  const number = field.querySelector("input");
  slider.value = Math.round(Math.log10(Number(draft.epsilon) || 1) * STEPS);
  slider.addEventListener("input", () => {
    number.value = draft.epsilon = String(Number((10 ** (slider.value / STEPS)).toPrecision(2)));
    typed();
  });
  number.addEventListener("input", () => {
    if (Number(number.value) > 0) slider.value = Math.round(Math.log10(Number(number.value)) * STEPS);
  });
  return group("The budget of all wishes", row(field, text("delta, where a method needs one", draft, "delta", { more: { placeholder: "none" } })), slider,
    why("Smaller epsilon, more noise, a stronger promise. What it means stands beside, under the plan."));
}

function wish(own, names, redraw) {
  const remove = button("Remove", () => {
    work.draft.wishes = work.draft.wishes.filter((one) => one !== own);
    redraw();
    typed();
  });
  if (found(own).published) return group(`${own.name}: published`, why("It stays as it was published; add another wish to publish more."));
  const made = group(own.name, row(
    text("Name of its files", own, "name"),
    ...part(own, redraw), remove), ...(own.kind ? [...about(own, names), ...again(own, redraw), further(own)] : statements(own, names)));
  made.dataset.wish = own.name;
  return made;
}

/** Returns the choice of a wish's part of the budget, and a field for a figure of its own. */
function part(own, redraw) {
  const share = { part: PARTS.some(([value]) => value === own.epsilon) ? own.epsilon : "figure" };
  const chosen = () => {
    own.epsilon = share.part === "figure" ? String(found(own).epsilon || 0.1) : share.part;
    redraw();
  };
  const field = choice("How much of the budget it spends", share, "part", [...PARTS, ["figure", "my own figure"]], chosen);
  if (share.part === "figure") return [field, text("Its epsilon", own, "epsilon")];
  field.at = () => placeOf(own, "epsilon");
  return [field];
}

function about(own, names) {
  const { fields, of_attributes: ticked } = wished(own);
  const asked = fields.map(({ name, label, choices }) => (
    choices.length ? row(choice(label, own, name, choices)) : ticks(label, own, name, names)));
  return ticked ? [ticks("About which attributes (none ticked: all)", own, "attributes", names), ...asked] : asked;
}

/** Returns whether a wish is published once or period by period, where its kind and a column allow that. */
function again(own, redraw) {
  const { draft, series } = work;
  const dated = draft.columns.filter((one) => one.use && ["date", "datetime"].includes(one.kind));
  if (!series.includes(own.kind) || !dated.length) return [];
  const options = dated.map((one) => [attributeName(one), `period by period: each ${one.cells || "cell"} of ${one.title || attributeName(one)}`]);
  const whether = choice("Published", own, "periods", [["", "once"], ...options], redraw);
  if (!own.periods) return [row(whether)];
  const counter = choice("Counted", own, "counter", [["separate", "each period by itself"], ["auto", "as errs least"], ["tree", "in running totals, by a tree"], ["smooth", "in running totals, smoothly"]]);
  const persons = draft.unit === "person" ? [text("In how many periods a person counts", own, "per_unit")] : [];
  return [row(whether, counter, ...persons), why("What it spends is for all its periods together. Each is published when its rows are there, in order, and never again.")];
}

function statements(own, names) {
  const field = lines("Statements, with a semicolon between them", own, "sql", { class: "sql", placeholder: "select count(*) as people from people" });
  return [field, why(`Over one table, whose name does not matter, with the columns ${names.join(", ") || "that you use"}. The plan beside shows the error of every number, or what is wrong and where.`)];
}

/** Returns how the kind of a wish is offered; one that is not is asked for its attributes. */
const wished = (own) => work.kinds.find((one) => one.kind === own.kind) ?? { fields: [], of_attributes: true, lines: false };

function further(own) {
  const made = element("details", {}, element("summary", {}, "Further parameters"),
    lines("Lines of TOML, as the reference lists them: quantiles = { income = [0.1, 0.9] }", own, "more"));
  if (own.more || wished(own).lines) made.open = true;
  return made;
}

const found = (own) => work.wishes.find((one) => one.name === own.name) ?? { fault: "", faults: [], turns: {}, toml: "", commands: [], published: false };

/** Returns the ledger's bar: spent, asked for, free. */
function bar() {
  const { draft, ledger } = work;
  const whole = ledger.exists ? ledger.limit.epsilon : Number(draft.epsilon);
  const spent = ledger.exists ? (ledger.spent.epsilon ?? 0) : 0;
  const open = work.wishes.filter((one) => !one.published);
  const planned = open.reduce((sum, one) => sum + (Number(one.epsilon) || 0), 0);
  const part = (value) => (whole > 0 ? Math.min(100, (100 * value) / whole) : 0);
  const words = `epsilon ${figure(whole)}: ${figure(spent)} spent, ${figure(planned)} asked for by what is not published yet`;
  const shown = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": words },
    drawn("rect", { class: "spent", x: 0, y: 0, width: part(spent), height: 10 }),
    drawn("rect", { class: "planned", x: part(spent), y: 0, width: Math.min(100 - part(spent), part(planned)), height: 10 }));
  return element("div", {}, element("div", { class: "budget" }, shown), why(words));
}

/** Returns what can still be done when nothing of the budget is left, if that is so. */
function spent() {
  const { draft, ledger } = work;
  if (!ledger.exists || ledger.left.epsilon > 0) return [];
  const rows = draft.wishes.filter((own) => found(own).published).map((own) => element("li", {}, element("strong", {}, own.name), ": ",
    ...(own.kind ? [shown(own, "the page")] : []), ...(own.kind && !own.periods ? [", "] : []), ...free(own)));
  return [element("section", { class: "free", "aria-labelledby": "free" },
    element("h3", { id: "free" }, "The budget is spent. All of this is still there, and nothing is charged for it:"),
    element("ul", {}, ...rows),
    why("Ask as often as you like: answers are made of what is published, and no row is read again. More about the same people costs more: a second budget would add to this one."))];
}

const turns = new Map(); // by wish: the period that was chosen

/** Returns the choice of the period that is next, and the button that publishes it. */
function turn(own, known, open, redraw, fail) {
  const names = known.turns.names ?? [];
  if (!names.length) return known.published ? [why("All its periods are published.")] : [];
  const chosen = names.includes(turns.get(own.name)) ? turns.get(own.name) : names[0];
  const field = element("select", {}, ...names.map((name) => element("option", { value: name }, name)));
  const go = button(`Publish ${chosen}`, open((place) => published(own, place, redraw, fail, field.value)), "main");
  field.value = chosen;
  field.addEventListener("change", () => {
    turns.set(own.name, field.value);
    go.textContent = `Publish ${field.value}`;
  });
  return [element("label", {}, "Period", field), go];
}

/** Returns what a published wish offers for nothing. */
function free(own) {
  if (own.periods) return [];
  const ask = button("ask it", () => {
    const box = byId(`asked-${own.name}`);
    box.open = true;
    box.querySelector("textarea").focus();
  }, "way");
  if (!own.kind) return [ask];
  const out = () => byId(`out-${own.name}`);
  const zip = element("a", { href: address("/bundle", own.name), download: `${own.name}.zip` }, "all its files as a zip");
  const drawn = wished(own).drawn ? [", ", button("made-up records of it", () => recorded(own, out()), "way")] : [];
  return [ask, ...drawn, ", ", zip];
}

const shown = (own, words) => element("a", { href: address("/released", own.name), target: "_blank", rel: "noopener" }, words);

async function recorded(own, out) {
  out.scrollIntoView({ block: "center" });
  await waited(out, "Drawing records.", async () => {
    const made = await ask("POST", "/wishes/records", own.name);
    const file = URL.createObjectURL(new Blob([made.csv], { type: "text/csv" }));
    const save = element("a", { href: file, download: `${own.name}-records.csv` }, "Save as CSV");
    out.replaceChildren(element("p", {}, `${made.count.toLocaleString("en")} made-up records. `, save), why("Nothing is charged."));
  });
}

/** Returns what publishing spends, and what is left after it. */
function spending(own, known) {
  if (known.after === null || known.after === undefined) return [];
  const over = own.periods ? " over all its periods" : "";
  const words = known.after > 0
    ? `Of epsilon ${figure(known.left)} that is left this spends ${figure(known.epsilon)}${over}; ${figure(known.after)} is left after it.`
    : `This spends all of your budget${over}: nothing else can be published after it. What is published can still be asked, for nothing.`;
  const less = button("Choose how much", () => byId("step-what").querySelector(`[data-wish="${CSS.escape(own.name)}"] select`).focus(), "way");
  return [element("p", { class: known.after > 0 ? "spends" : "spends all" }, words, element("span", { "data-error": own.name }), " ", less)];
}

const figure = (value) => String(Number(Number(value).toPrecision(4)));

function done(own, redraw, fail) {
  const known = found(own);
  const out = element("div", { role: "status", id: `out-${own.name}` });
  const copied = group(own.name);
  if (known.published && own.periods) {
    copied.append(where(own), why(`Published: ${known.turns.published?.join(", ") ?? ""}.`), row(...turn(own, known, (act) => () => act(out), redraw, fail)));
  } else if (known.published) {
    copied.append(where(own), element("p", {}, "For nothing: ", ...free(own), "."), asking(own, (told) => published(own, told, redraw, fail)));
  } else {
    const open = (act) => async () => {
      await keep(); // which draws this step anew
      if (!toFirst(found(own).faults)) await act(byId(`out-${own.name}`));
    };
    const check = button("Check (for your eyes only)", open((place) => checked(own, place)));
    const go = button(`Publish: spend epsilon ${known.epsilon ?? ""}`, open((place) => published(own, place, redraw, fail)), "main");
    copied.append(row(check, ...(own.periods ? turn(own, known, open, redraw, fail) : [go])), ...spending(own, known));
    copied.append(...known.faults.slice(0, 1).map(wayTo));
    if (known.faults.length > 1) copied.append(why(`And ${known.faults.length - 1} more; the plan lists them.`));
  }
  const files = own.kind ? `${own.name}.toml` : `${own.name}.toml and ${own.name}.sql`;
  const save = button(`Save as ${files}, for the commands`, () => saved(own, out));
  copied.append(out, copyable("The same as TOML", known.toml, known.fault || known.published ? [] : [save]),
    copyable("The same as commands", known.commands.join("\n")));
  return copied;
}

/** Returns where a published wish is; of statements there is a folder for each release. */
function where(own) {
  const folder = `${work.folder}/${own.name}`;
  if (!own.kind) return why(`The releases that answer its statements are in ${folder}.`);
  return element("p", {}, shown(own, "Its page"), ` is in ${folder}, with its tables.`);
}

function copyable(words, content, more = []) {
  const copy = button("Copy", () => navigator.clipboard.writeText(content));
  const shown = element("pre", { tabindex: "0", "aria-label": words }, content);
  return element("details", {}, element("summary", {}, words), shown, row(copy, ...more));
}

async function saved(own, out) {
  await waited(out, "Writing.", async () => {
    const found = await ask("POST", "/wishes/save", own.name);
    out.replaceChildren(why(`Written to ${found.spec}.`));
  });
}

async function checked(own, out) {
  await waited(out, "Counting.", async () => {
    const found = await ask("POST", "/wishes/check", own.name);
    out.replaceChildren(element("p", { class: "private" }, "Not private: exact figures, for whoever may see the rows. They are not kept, and no part of what is published."),
      element("pre", { tabindex: "0", "aria-label": "What would be counted where" }, found.lines.join("\n")));
  });
}

async function published(own, out, redraw, fail, period = "") {
  await waited(out, "Counting, charging the ledger, adding noise.", async () => {
    await (period ? ask("POST", "/period", JSON.stringify({ name: own.name, period })) : ask("POST", "/wishes/publish", own.name));
    forget(own);
    take(await ask("GET", "/work"));
    fail("");
    redraw();
  });
}
