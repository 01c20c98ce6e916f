/** Conditions on attributes without typing: sliders for ordered ones, a list of values for the others. */
import { code } from "./attributes.js";
import { element } from "./elements.js";

/** Returns controls of an attribute; `act` is called with the first and the last cell, or null for all of them. */
export function held(own, act) {
  if (!own.ordered) return chosen(own, act);
  const ends = [0, own.ordered - 1].map((value, i) =>
    element("input", {
      type: "range",
      min: "0",
      max: String(own.ordered - 1),
      value: String(value),
      "aria-label": `${own.caption}, ${i ? "to" : "from"}`,
    }),
  );
  const text = element("output", {}, "all");
  for (const [i, one] of ends.entries()) {
    one.addEventListener("input", () => {
      if (Number(ends[0].value) > Number(ends[1].value)) ends[1 - i].value = one.value;
      const [first, last] = ends.map((end) => Number(end.value));
      const all = first === 0 && last === own.ordered - 1;
      text.textContent = all
        ? "all"
        : first === last
          ? own.labels[first]
          : `${own.labels[first]} to ${own.labels[last]}`;
      ends.forEach((end) => end.setAttribute("aria-valuetext", own.labels[Number(end.value)]));
      act(all ? null : [first, last]);
    });
  }
  return element(
    "div",
    { class: "held" },
    element("span", {}, own.caption),
    element("span", { class: "ends" }, ...ends),
    text,
  );
}

function chosen(own, act) {
  const options = [["all", ""], ...own.labels.map((label, i) => [label, String(i)])];
  return select(own.caption, options, (value) => act(value === "" ? null : [Number(value), Number(value)]));
}

let lists = 0;

/** Returns a list with its label. */
export function select(text, options, act, chosen = undefined) {
  const id = `list${++lists}`;
  const node = element("select", { id }, ...options.map(([label, value]) => element("option", { value }, label)));
  if (chosen !== undefined) node.value = chosen;
  node.addEventListener("change", () => act(node.value));
  return element("span", { class: "held" }, element("label", { for: id }, text), node);
}

/** Returns a box that looks for values; `act` is called with what was typed, in small letters. */
export function search(text, act) {
  const id = `list${++lists}`;
  const box = element("input", { type: "search", id, spellcheck: "false", autocomplete: "off" });
  box.addEventListener("input", () => act(box.value.trim().toLocaleLowerCase()));
  return element("span", { class: "held" }, element("label", { for: id }, text), box);
}

/** Returns what a cell is called in a query: its label, where that names this cell and no other one. */
const called = (own, cell) =>
  code(own, own.labels[cell]) === cell && !own.labels[cell].includes('"') ? own.labels[cell] : own.names[cell];

/** Returns the condition of a query on a run of cells, as text. */
export function condition(own, [first, last]) {
  if (first === 0 && last === own.ordered - 1 && own.ordered === own.size) return "";
  if (own.edges && own.kind !== "dated") {
    const high = own.edges[last + 1] - (own.whole ? 1 : 0);
    return own.whole && first === last && own.edges[first] === high
      ? `${own.name} = ${high}`
      : `${own.name} in ${own.edges[first]}..${high}`;
  }
  const quoted = (text) => (/^[\w-]+$/.test(text) ? text : `"${text}"`);
  const [low, high] = [own.names[first], own.names[last]];
  if (own.edges && !own.cyclic) return `${own.name} in ${low.split("..")[0]}..${high.split("..").at(-1)}`;
  return first === last ? `${own.name} = ${quoted(called(own, first))}` : `${own.name} in ${quoted(low)}..${quoted(high)}`;
}

/** Returns a button. */
export function button(text, act) {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}

/** Returns a text as one word of a shell. */
export const shell = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
