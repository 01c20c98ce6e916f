/** One attribute with few cells: a table whose rows have a bar, its interval, and both in figures. */
import { drawn, element } from "./elements.js";
import { axisEnd, beyond, count, percent, points, shares } from "./numbers.js";

/** Returns the figure of an attribute, to be updated as often as there is something new. */
export function bars({ title, labels }) {
  const end = element("span");
  const rows = labels.map(row);
  const node = element(
    "table",
    { class: "bars" },
    element("caption", {}, title),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col", class: "cell" }, "value"),
        element("th", { scope: "col", class: "chart-cell" }, element("span", { class: "axis" }, element("span", {}, "0"), end)),
        element("th", { scope: "col", class: "share" }, "share, 95 %"),
        element("th", { scope: "col", class: "count" }, "people, 95 %"),
      ),
    ),
    element("tbody", {}, ...rows.map((one) => one.node)),
  );
  const update = (table, users) => {
    const found = shares(table, users);
    const last = axisEnd(found.share);
    end.textContent = percent(last);
    rows.forEach((one, i) => one.update(found, table, i, last));
  };
  return { node: element("div", { class: "part" }, node), update };
}

function row(label) {
  const bar = drawn("rect", { class: "bar", x: "0", y: "20%", height: "60%", width: "0" });
  const line = drawn("line", { class: "interval", y1: "50%", y2: "50%" });
  const ends = [arrow("0%", "M0 0l7 -5v10z"), arrow("100%", "M0 0l-7 -5v10z")];
  const drawing = drawn("svg", { "aria-hidden": "true", focusable: "false" }, bar, line, ...ends.map((one) => one.node));
  const share = element("td", { class: "share number" });
  const people = element("td", { class: "count number" });
  const node = element(
    "tr",
    {},
    element("th", { scope: "row", class: "cell" }, label),
    element("td", { class: "chart-cell" }, drawing),
    share,
    people,
  );
  const update = (found, table, i, last) => {
    const at = (value) => `${(100 * Math.min(Math.max((value ?? 0) / last, 0), 1)).toFixed(2)}%`;
    bar.setAttribute("width", at(found.share[i]));
    line.setAttribute("x1", at(found.low[i]));
    line.setAttribute("x2", at(found.high[i]));
    beyond(found.low[i], found.high[i], last).forEach((cut, side) => ends[side].update(cut));
    share.replaceChildren(percent(found.share[i]), element("br"), element("small", {}, points(found.half[i])));
    people.replaceChildren(
      count(table.count[i]),
      element("br"),
      element("small", {}, `${count(table.low[i])} to ${count(table.high[i])}`),
    );
    node.dataset.count = table.count[i];
    node.dataset.low = table.low[i];
    node.dataset.high = table.high[i];
  };
  return { node, update };
}

/** Returns the end of an axis: an arrow where an interval goes on beyond it, with how far as its title. */
function arrow(x, shape) {
  const title = drawn("title");
  const node = drawn("svg", { class: "cut", x, y: "50%", overflow: "visible", width: "1", height: "1" }, drawn("path", { d: shape }, title));
  const update = (value) => {
    node.setAttribute("visibility", value === null ? "hidden" : "visible");
    title.textContent = value === null ? "" : `goes on to ${percent(value)}`;
  };
  return { node, update };
}
