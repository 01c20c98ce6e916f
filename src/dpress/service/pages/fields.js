/** A field of the survey for every attribute, made of what is asked alone. */
import { ends, span } from "./asked.js";
import { drawn, element } from "./elements.js";

const SILENT = ["reject", "drop"]; // what happens to a missing value where it has no cell
const ELSE = "\u0000 something else"; // a text that no list of values has

/** Returns a field: its node, and the values that it holds by column. */
export function field(attribute) {
  if (attribute.kind === "location") return place(attribute);
  const own = attribute.own[0];
  if (own.kind === "strings") return string(attribute.title, own);
  if (own.values) return choice(attribute, own);
  return bounded(attribute.title, own, own.kind === "date" ? dated(own) : numeric(own));
}

function choice({ title, labels }, own) {
  const values = [...own.values];
  const extra = [own.other, own.null ?? own.other].filter((one, i, all) => !SILENT.includes(one) && all.indexOf(one) === i);
  for (const one of extra) values.push(one === own.other ? ELSE : null);
  const select = element(
    "select",
    { id: `field-${own.name}`, required: "" },
    element("option", { value: "" }, "Choose"),
    ...values.map((_, i) => element("option", { value: i }, labels[i])),
  );
  const node = element("p", { class: "ask" }, element("label", { for: select.id }, title), select);
  return { node, values: () => ({ [own.name]: values[Number(select.value)] }) };
}

function string(title, own) {
  const input = element("input", { id: `field-${own.name}`, type: "text", maxlength: own.longest, required: "" });
  const node = element("p", { class: "ask" }, element("label", { for: input.id }, title), input);
  return { node, values: () => ({ [own.name]: input.value }) };
}

function bounded(title, own, input) {
  const empty = !SILENT.includes(own.null);
  input.required = !empty;
  const hint = element("span", { class: "note", id: `${input.id}-hint` }, `${span(own) || "any day"}${empty ? ", or leave it empty" : ""}`);
  input.setAttribute("aria-describedby", hint.id);
  const node = element("p", { class: "ask" }, element("label", { for: input.id }, title), input, " ", hint);
  const value = () => (own.kind === "date" ? input.value : Number(input.value));
  return { node, values: () => ({ [own.name]: input.value === "" ? null : value() }) };
}

function dated(own) {
  const [min, max] = own.bounds ?? ["0001-01-01", "9999-12-31"];
  return element("input", { id: `field-${own.name}`, type: "date", min, max, required: "" });
}

function numeric(own) {
  const all = own.edges ?? own.bounds;
  const step = own.kind === "integer" ? 1 : "any";
  return element("input", { id: `field-${own.name}`, type: "number", step, min: all[0], max: all.at(-1), required: "" });
}

function place({ title, own }) {
  const inputs = own.map(numeric);
  const [[left, right], [bottom, top]] = own.map((one) => one.bounds.map(Number));
  const dot = drawn("circle", { r: 2.5, cx: -9, cy: -9 });
  const lines = [20, 40, 60, 80].flatMap((at) => [
    drawn("line", { x1: at, x2: at, y1: 0, y2: 100 }),
    drawn("line", { x1: 0, x2: 100, y1: at, y2: at }),
  ]);
  const map = drawn("svg", { class: "place", viewBox: "0 0 100 100", "aria-hidden": "true" }, ...lines, dot);
  const mark = () => {
    const [x, y] = inputs.map((one) => Number(one.value));
    dot.setAttribute("cx", (100 * (x - left)) / (right - left));
    dot.setAttribute("cy", 100 - (100 * (y - bottom)) / (top - bottom));
  };
  map.addEventListener("click", (event) => {
    const box = map.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
    inputs[0].value = (left + x * (right - left)).toFixed(5);
    inputs[1].value = (bottom + y * (top - bottom)).toFixed(5);
    mark();
  });
  inputs.forEach((one) => one.addEventListener("input", mark));
  const labelled = inputs.map((one, i) =>
    element("p", { class: "ask" }, element("label", { for: one.id }, `${own[i].name}, from ${ends(own[i]).join(" to ")}`), one),
  );
  const node = element("fieldset", {}, element("legend", {}, `${title}: click, or write both numbers`), map, ...labelled);
  return { node, values: () => Object.fromEntries(own.map((one, i) => [one.name, Number(inputs[i].value)])) };
}
