/** The third and the fourth step: wishes and their parts of the budget; check, publish, the pages, what was done. */

import { asking, forget } from "./asking.js";
import { byId, drawn, element } from "./elements.js";
import { button, choice, group, lines, row, text, ticks, why } from "./fields.js";
import { waited } from "./shown.js";
import { address, ask, attributeName, keep, take, typed, work } from "./work.js";

const LOWEST = -2; // of the slider: a hundredth
const STEPS = 100; // for each factor of ten

/** Draws the third step. */
export function drawWhat(redraw) {
  const { draft, kinds } = work;
  const names = draft.columns.filter((one) => one.use).map(attributeName);
  const add = (kind) => () => {
    const name = unused(kind || "sql");
    draft.wishes.push({ name, kind, sql: "", attributes: [], by: [], mean: [], median: [], ways: "1", more: "", epsilon: "" });
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
    bar(),
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
    text("Its part of epsilon (empty: an equal part)", own, "epsilon"), remove), ...(own.kind ? [...about(own, names), further(own)] : statements(own, names)));
  made.dataset.wish = own.name;
  return made;
}

function about(own, names) {
  const { fields, of_attributes: ticked } = wished(own);
  const asked = fields.map(({ name, label, choices }) => (
    choices.length ? row(choice(label, own, name, choices)) : ticks(label, own, name, names)));
  return ticked ? [ticks("About which attributes (none ticked: all)", own, "attributes", names), ...asked] : asked;
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

const found = (own) => work.wishes.find((one) => one.name === own.name) ?? { fault: "", toml: "", commands: [], published: false };

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

const figure = (value) => String(Number(Number(value).toPrecision(4)));

function done(own, redraw, fail) {
  const known = found(own);
  const out = element("div", { role: "status" });
  const copied = group(own.name);
  if (known.published) {
    copied.append(where(own), asking(own, (told) => published(own, told, redraw, fail)));
  } else {
    const check = button("Check (for your eyes only)", () => checked(own, out));
    const go = button(`Publish: spend epsilon ${known.epsilon ?? ""}`, () => published(own, out, redraw, fail), "main");
    for (const one of [check, go]) one.disabled = Boolean(known.fault);
    copied.append(row(check, go));
    if (known.fault) copied.append(element("p", { class: "wrong-line" }, known.fault));
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
  const page = element("a", { href: address("/released", own.name), target: "_blank", rel: "noopener" }, "Its page");
  return element("p", {}, page, ` is in ${folder}, with its tables.`);
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

async function published(own, out, redraw, fail) {
  await keep();
  await waited(out, "Counting, charging the ledger, adding noise.", async () => {
    await ask("POST", "/wishes/publish", own.name);
    forget(own);
    take(await ask("GET", "/work"));
    fail("");
    redraw();
  });
}
