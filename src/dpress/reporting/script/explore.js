/** One table looked at: which, along which attributes, in which order, the others held; as figure and as rows. */
import { chart } from "./charts.js";
import { button, held, select } from "./controls.js";
import { element } from "./elements.js";
import { rows } from "./rows.js";
import { viewOf } from "./views.js";

const MOST = 128; // cells of an axis in a figure

/** Returns the explorer. */
export function explore(answers) {
  const { attributes, tables } = answers;
  const shown = element("div");
  const choices = element("div", { class: "controls" });
  let [axes, conditions, place] = [[], {}, 0];

  const titleOf = () => axes.map((axis) => attributes[axis].caption).join(" × ");
  const show = () => {
    const view = viewOf(answers, axes, conditions, MOST);
    const whole = view.edges.every((one) => one.group === 1) ? view : viewOf(answers, axes, conditions);
    shown.replaceChildren(...(axes.length < 3 ? [chart(view)] : []), rows(whole, titleOf()));
  };
  const choose = (asked) => {
    place = asked;
    const own = tables.all[place].axes;
    [axes, conditions] = [drawnFirst(attributes, own), {}];
    offer();
    show();
  };
  const offer = () => {
    const own = tables.all[place].axes;
    const others = own.filter((axis) => !axes.includes(axis));
    const named = (axis) => [attributes[axis].caption, String(axis)];
    const along = (i) => (value) => {
      const wanted = value === "" ? [] : [Number(value)];
      const rest = axes.filter((axis, place) => place !== i && axis !== wanted[0]);
      axes = i ? [...rest.slice(0, 1), ...wanted] : [...wanted, ...rest];
      if (value === "all") axes = [...own];
      conditions = {};
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
      ...others.map((axis) =>
        held(attributes[axis], (cells) => {
          delete conditions[axis];
          if (cells)
            conditions[axis] = Float64Array.from({ length: attributes[axis].size }, (_, i) =>
              i >= cells[0] && i <= cells[1] ? 1 : 0,
            );
          show();
        }),
      ),
    );
  };
  const swap = () => button("Swap", () => ((axes = axes.toReversed()), offer(), show()));
  const named = tables.all.map((one, i) => [
    `${one.axes.map((axis) => attributes[axis].caption).join(" × ")}`,
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

/** Returns the axes that a figure begins with: at most two, the one with fewer cells first. */
function drawnFirst(attributes, axes) {
  return axes.slice(0, 2).sort((one, other) => attributes[one].size - attributes[other].size);
}
