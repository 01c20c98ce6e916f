/** Which share of a region's count is shown on the map and in the list: a table's, where conditions hold. */
import { held, select } from "./controls.js";
import { element } from "./elements.js";
import { titleOf, weightsOf, wordsOf } from "./region_words.js";

/** Returns the choice: its node, and the view of a level. */
export function regionShade(counts) {
  const { attributes } = counts;
  const [node, controls] = [element("div", { class: "controls" }), element("span", { class: "controls" })];
  let [table, conditions, act] = [null, {}, () => undefined];
  const sameAs = (axes) => String(axes) === String(table);

  const hold = (axis, cells) => {
    delete conditions[axis];
    if (cells) conditions[axis] = weightsOf(attributes[axis].size, cells);
  };
  const offer = () => {
    conditions = {};
    controls.replaceChildren(...table.map((axis) => held(attributes[axis], (cells) => (hold(axis, cells), act()))));
    begin(controls.firstElementChild, attributes[table[0]]);
  };
  return {
    node,
    changed: (then) => (act = then),
    show(level) {
      const tables = counts.tables(level);
      const same = tables.find(sameAs);
      table = same ?? tables[0] ?? null;
      if (!table) return node.replaceChildren();
      const named = tables.map((axes, i) => [titleOf(attributes, axes), String(i)]);
      const choose = (value) => ((table = tables[value]), offer(), act());
      const list = select("Share of", named, choose, String(tables.indexOf(table)));
      node.replaceChildren(list, controls);
      if (!same) offer();
    },
    /** Returns the view of a level, null where the table is not in the page. */
    at: (level) =>
      table && counts.tables(level).some((axes) => sameAs(axes)) ? counts.view(level, [], conditions, {}) : null,
    get words() {
      return table ? wordsOf(attributes, conditions) : "";
    },
  };
}

/** Begins with a condition: the first value, or the lower half of an ordered attribute. */
function begin(control, { ordered }) {
  const list = control.querySelector("select");
  const input = list ?? control.querySelectorAll("input")[1];
  input.value = list ? "0" : String((ordered - 1) >> 1);
  input.dispatchEvent(new Event(list ? "change" : "input"));
}
