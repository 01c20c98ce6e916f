/** One table looked at: which, along which attributes, in which order, the others held; as figure and as rows. */
import { levelsOf } from "./attributes.js";
import { chart } from "./charts.js";
import { button, held, search, select } from "./controls.js";
import { element } from "./elements.js";
import { rows } from "./rows.js";
import { FEW, viewOf } from "./views.js";

const MOST = 128; // cells of an axis in a figure
const TOP = 20; // values of a long axis without an order in a figure

/** Returns the explorer. */
export function explore(answers) {
  const { attributes, tables } = answers;
  const shown = element("div");
  const choices = element("div", { class: "controls" });
  let [axes, conditions, place, levels] = [[], {}, 0, {}];

  const titleOf = () => axes.map((axis) => attributes[axis].caption).join(" × ");
  const show = () => {
    const view = viewOf(answers, axes, conditions, { most: MOST, top: TOP, levels });
    if (!view.size) return shown.replaceChildren(element("p", { class: "note" }, "No value has this in its name."));
    const entire = view.edges.every((one) => one.group === 1 && !one.rest);
    const whole = entire ? view : viewOf(answers, axes, conditions, { levels });
    shown.replaceChildren(...(axes.length < 3 ? [chart(view)] : []), rows(whole, titleOf()));
  };
  const choose = (asked) => {
    place = asked;
    const own = severalOf(attributes, tables.all[place].axes);
    [axes, conditions, levels] = [drawnFirst(attributes, own), {}, {}];
    offer();
    show();
  };
  const offer = () => {
    const own = severalOf(attributes, tables.all[place].axes);
    const others = own.filter((axis) => !axes.includes(axis));
    const named = (axis) => [attributes[axis].caption, String(axis)];
    const along = (i) => (value) => {
      const wanted = value === "" ? [] : [Number(value)];
      const rest = axes.filter((axis, place) => place !== i && axis !== wanted[0]);
      axes = i ? [...rest.slice(0, 1), ...wanted] : [...wanted, ...rest];
      if (value === "all") axes = [...own];
      [conditions, levels] = [{}, {}];
      offer();
      show();
    };
    const [first, second, ...more] = axes;
    const list = [select("by", own.map(named), along(0), String(first))];
    if (own.length > 1) {
      const options = [
        ["nothing else", ""],
        ...own.filter((axis) => axis !== first).map(named),
        ...(own.length > 2 ? [["all, as rows", "all"]] : []),
      ];
      list.push(select("and by", options, along(1), more.length ? "all" : String(second ?? "")));
    }
    if (axes.length === 2) list.push(swap());
    choices.replaceChildren(
      ...list,
      ...axes.flatMap((axis) => values(axis)),
      ...others.map((axis) =>
        held(attributes[axis], (cells) => hold(axis, cells && ((i) => i >= cells[0] && i <= cells[1]))),
      ),
    );
  };
  const hold = (axis, holds) => {
    delete conditions[axis];
    if (holds) conditions[axis] = Float64Array.from({ length: attributes[axis].size }, (_, i) => (holds(i) ? 1 : 0));
    show();
  };
  /** Returns what a long axis without an order has: which level of its hierarchy is shown, and which values. */
  const values = (axis) => {
    const own = attributes[axis];
    const above = levelsOf(own);
    const options = [
      [`values (${own.size})`, ""],
      ...above.map(({ title, nodes }, i) => [`${title} (${nodes.length}, such as ${nodes[0].label})`, String(i)]),
    ];
    const level = select(`${own.caption}: show`, options, (value) => {
      if (value === "") delete levels[axis];
      else levels[axis] = above[Number(value)].nodes;
      show();
    });
    const among = (text) => (i) => own.labels[i].toLocaleLowerCase().includes(text);
    const box = search(`Search ${own.caption}`, (text) => hold(axis, text && among(text)));
    return [...(above.length ? [level] : []), ...(!own.ordered && own.size > FEW ? [box] : [])];
  };
  const swap = () => button("Swap", () => ((axes = axes.toReversed()), offer(), show()));
  const named = tables.all.map((one, i) => [
    `${severalOf(attributes, one.axes).map((axis) => attributes[axis].caption).join(" × ")}`,
    String(i),
  ]);
  const table = select("Table", named, (value) => choose(Number(value)));
  choose(0);
  for (const link of document.querySelectorAll("a[data-table]")) {
    link.addEventListener("click", () => {
      choose(Number(link.dataset.table));
      document.querySelector(".explore select").value = link.dataset.table;
    });
  }
  return element(
    "section",
    { class: "explore" },
    element("h3", {}, "Look at a table"),
    element("div", { class: "controls" }, ...(named.length > 1 ? [table] : [])),
    ...(answers.missing
      ? [element("p", { class: "note" }, `${answers.missing} larger tables are in the files alone.`)]
      : []),
    choices,
    shown,
  );
}

/** Returns the axes of more than one cell, or the first: a single cell tells nothing apart. */
function severalOf(attributes, axes) {
  const several = axes.filter((axis) => attributes[axis].size > 1);
  return several.length ? several : axes.slice(0, 1);
}

/** Returns the axes that a figure begins with: at most two, the one with fewer cells first. */
function drawnFirst(attributes, axes) {
  return axes.slice(0, 2).sort((one, other) => attributes[one].size - attributes[other].size);
}
