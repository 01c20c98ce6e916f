/** A map: the more people a cell holds, the stronger its colour; and the fullest cells in figures. */
import { drawn, element } from "./elements.js";
import { count, edge } from "./numbers.js";
import { list } from "./list.js";

/** Returns the figure of a map, to be updated as often as there is something new. */
export function heat(title, across, up) {
  const [wide, high] = [across.labels.length, up.labels.length];
  const cells = Array.from({ length: wide * high }, (_, i) =>
    drawn("rect", { x: Math.floor(i / high), y: high - 1 - (i % high), width: 1.02, height: 1.02 }),
  );
  const ratio = Math.min(Math.max(shape(across, up), 0.4), 1.6);
  const drawing = drawn(
    "svg",
    {
      viewBox: `0 0 ${wide} ${wide * ratio}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Map of ${title}; the list below has the fullest cells in figures`,
    },
    drawn("g", { transform: `scale(1 ${(wide * ratio) / high})` }, ...cells),
  );
  drawing.style.maxWidth = `calc(38rem / ${Math.max(ratio, 0.8)})`;
  const pointed = element("p", { class: "note" }, "Point at a cell to read it.");
  const beside = list(cells.map((_, i) => place(across, up, i)));
  const ends = `${across.title} ${edge(across.edges[0])} to ${edge(across.edges.at(-1))}, ${up.title} ${edge(up.edges[0])} to ${edge(up.edges.at(-1))}`;
  const node = element("figure", { class: "part heat" }, element("h3", {}, title), drawing, element("p", { class: "ends" }, ends), pointed, beside.node);
  let shown = null;
  drawing.addEventListener("pointermove", (event) => {
    const i = cells.indexOf(event.target);
    if (i < 0 || !shown) return;
    pointed.textContent = `${place(across, up, i)}: ${count(shown.count[i])} people (${count(shown.low[i])} to ${count(shown.high[i])})`;
  });
  const update = (table, users) => {
    shown = table;
    const most = Math.max(...table.count, 1);
    cells.forEach((cell, i) => cell.setAttribute("fill-opacity", Math.sqrt(Math.max(table.count[i], 0) / most).toFixed(3)));
    beside.update(table, users);
  };
  return { node, update };
}

/** Returns height through width; degrees of longitude are shorter than those of latitude. */
function shape(across, up) {
  const [west, east, south, north] = [across.edges[0], across.edges.at(-1), up.edges[0], up.edges.at(-1)];
  const degrees = -180 <= west && east <= 180 && -90 < south && north < 90;
  return (north - south) / ((east - west) * (degrees ? Math.cos(((south + north) / 2) * (Math.PI / 180)) : 1));
}

function place(across, up, i) {
  const [x, y] = [Math.floor(i / up.labels.length), i % up.labels.length];
  return `${edge(across.edges[x])} to ${edge(across.edges[x + 1])}, ${edge(up.edges[y])} to ${edge(up.edges[y + 1])}`;
}
