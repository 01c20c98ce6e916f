/** A box that answers any query, and controls that write one. */
import { Elsewhere, Unread } from "./condition_grammar.js";
import { button, condition, held, shell } from "./controls.js";
import { element } from "./elements.js";
import { answered } from "./rounding.js";
import { answersTo } from "./statistics.js";

/** Returns the query box. */
export function ask(answers) {
  const input = element("input", {
    type: "text",
    id: "query",
    spellcheck: "false",
    autocomplete: "off",
  });
  const found = element("p", { class: "answer", role: "status" });
  const command = element("pre", { tabindex: "0" });
  const asked = new Map();
  const show = () => {
    found.replaceChildren(...words(answers, input.value).flatMap((line) => [line, element("br")]));
    command.textContent = commandOf(input.value);
  };
  const wrote = () => {
    input.value =
      [...asked]
        .map(([axis, cells]) => condition(answers.attributes[axis], cells))
        .filter(Boolean)
        .join(" and ") || "total";
    show();
  };
  const controls = answers.attributes.flatMap((own, axis) =>
    own.size > 1 ? [held(own, (cells) => (cells ? asked.set(axis, cells) : asked.delete(axis), wrote()))] : [],
  );
  const listed = answers.examples ?? examplesOf(answers);
  const examples = listed.map((text) => button(text, () => ((input.value = text), show())));
  input.addEventListener("input", show);
  input.value = listed[0];
  show();
  return element(
    "section",
    { class: "ask" },
    element("h3", {}, element("label", { for: "query" }, "Ask")),
    input,
    found,
    element("p", { class: "note" }, "Such as ", ...examples),
    element(
      "details",
      {},
      element("summary", {}, "Choose instead of typing"),
      element("div", { class: "controls" }, ...controls),
    ),
    element(
      "p",
      { class: "note" },
      `Answered on this page, nothing is sent; it costs no privacy. The command gives the same, and ${answers.beyond ?? "means, sums and quantiles"}:`,
    ),
    command,
  );
}

const commandOf = (text) => `dpress query FOLDER ${shell(text.trim() || "total")}`;

/** Returns the lines that answer a query: one, or one for every group, and what is to be known of them. */
function words(answers, text) {
  try {
    const found = answersTo(answers, text || "total");
    const notes = [...new Set(found.map((one) => one.note).filter(Boolean))];
    const [first] = found;
    if (!first.group.length) return [[`${answered(first, first.of)}.`, ...notes].join(" ")];
    return [...found.map((one) => `${one.group.join(", ")}: ${answered(one, one.of)}.`), ...notes];
  } catch (fault) {
    if (fault instanceof Elsewhere) return [`${fault.message}: ${commandOf(text)}`];
    if (fault instanceof Unread) return [fault.message];
    throw fault;
  }
}

/** Returns queries that this release answers. */
function examplesOf({ attributes, tables, signed }) {
  const largest = tables.all.reduce((one, other) => (other.axes.length > one.axes.length ? other : one));
  const [first, second] = largest.axes.map((axis) => middle(attributes[axis]));
  const both = [first, second].filter(Boolean).join(" and ");
  if (!signed) return [both];
  return [both, second ? `share ${first} where ${second}` : `share ${first}`, ...compared(largest.axes.map((axis) => attributes[axis]))];
}

/** Returns the difference of two values of an attribute, of one without an order where there is one. */
function compared(axes) {
  const own = axes.find((one) => !one.ordered && one.size > 1) ?? axes.find((one) => one.ordered > 1);
  if (!own) return [];
  const half = own.ordered >> 1;
  const parts = own.ordered ? [[0, half - 1], [half, own.ordered - 1]] : [[0, 0], [1, 1]];
  return [parts.map((part) => `count ${condition(own, part)}`).join(" - ")];
}

const middle = (own) => condition(own, own.ordered > 2 ? [own.ordered >> 2, ((own.ordered + 1) >> 1) - 1] : [0, 0]);
