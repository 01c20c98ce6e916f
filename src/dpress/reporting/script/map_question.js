/** What is asked of a map in words: a named area, or a rectangle by both columns or by the place's own name. */
import { element } from "./elements.js";

/** Returns a box for a question, which shows what it names: by `choose` the area of a place, by `ask` a rectangle. */
export function questionBox({ names, place, title, box, areas }, choose, ask) {
  const rectangle = `${place} in (${box.map((ends) => ends.join("..")).join(", ")})`;
  const example = areas.length ? areas[0][0] : rectangle;
  const wanted = areas.length ? `the name of a place, such as ${example}, or a rectangle: ${rectangle}` : rectangle;
  const input = element("input", { type: "search", "aria-label": `Ask of ${title}`, placeholder: example });
  const said = element("output", { "aria-live": "polite" });
  input.addEventListener("change", () => {
    const text = input.value.trim();
    const area = areas.findIndex(([name]) => name.toLowerCase() === text.toLowerCase());
    const part = rectangleOf(text, names, place, box);
    if (area >= 0) choose(area);
    else if (part) ask(part);
    const told = part ? "It is drawn on the map; the commands below count it." : `Write ${wanted}`;
    said.textContent = area >= 0 || !text ? "" : told;
  });
  return element("p", { class: "controls" }, element("span", { class: "held question" }, input), said);
}

/** Returns the part of the map that a text names; null where it names none. */
function rectangleOf(text, names, place, box) {
  const asked = box.map((ends) => ends);
  for (const part of text.split(/\s+and\s+/)) {
    const [, name, values] = /^(.*\S)\s+in\s+(.*)$/.exec(part) ?? [];
    const sides = name === place ? [0, 1] : [names.indexOf(name)];
    const ranges = (values ?? "").replace(/^\((.*)\)$/, "$1").split(",");
    if (!(sides[0] in names) || ranges.length !== sides.length) return null;
    sides.forEach((side, i) => (asked[side] = rangeOf(ranges[i], box[side])));
  }
  return asked.every(([low, high]) => low < high) ? asked : null;
}

function rangeOf(text, [least, most]) {
  const ends = text.split("..");
  const [low, high] = ends.map((end) => (end.trim() ? Number(end) : NaN));
  return ends.length === 2 ? [Math.max(low, least), Math.min(high, most)] : [NaN, NaN];
}
