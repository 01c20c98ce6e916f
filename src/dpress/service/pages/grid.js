/** Two attributes: a table whose cells are the darker the more people they hold; several: the largest cells. */
import { element } from "./elements.js";
import { axisEnd, percent, points, shares } from "./numbers.js";
import { list } from "./list.js";

const MOST = 240; // cells that are shown one by one

/** Returns the figure of several attributes, to be updated as often as there is something new. */
export function grid(axes) {
  const title = axes.map((one) => one.title).join(" and ");
  const [down, across] = axes;
  if (axes.length > 2 || down.labels.length * across.labels.length > MOST) return listed(title, axes);
  const cells = down.labels.map(() => across.labels.map(() => element("td", { class: "number" })));
  const node = element(
    "table",
    { class: "grid" },
    element("caption", {}, title),
    element(
      "thead",
      {},
      element("tr", {}, element("td"), ...across.labels.map((label) => element("th", { scope: "col" }, label))),
    ),
    element(
      "tbody",
      {},
      ...down.labels.map((label, i) => element("tr", {}, element("th", { scope: "row", class: "label" }, label), ...cells[i])),
    ),
  );
  const update = (table, users) => {
    const found = shares(table, users);
    const last = axisEnd(found.share);
    cells.flat().forEach((cell, i) => {
      cell.style.setProperty("--part", Math.min(Math.max((found.share[i] ?? 0) / last, 0), 1).toFixed(3));
      cell.replaceChildren(percent(found.share[i]), element("small", {}, points(found.half[i])));
    });
  };
  return { node: element("div", { class: "part scroll", tabindex: "0", role: "group", "aria-label": title }, node), update };
}

function listed(title, axes) {
  const names = axes.reduce((so_far, axis) => so_far.flatMap((left) => axis.labels.map((one) => [...left, one])), [[]]);
  const { node, update } = list(names.map((one) => one.join(", ")));
  return { node: element("div", { class: "part" }, element("h3", {}, title), node), update };
}
