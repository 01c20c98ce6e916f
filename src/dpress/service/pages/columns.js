/** One attribute with many cells: columns side by side with a band of intervals, and a list of the largest. */
import { drawn, element } from "./elements.js";
import { axisEnd, beyond, percent, shares } from "./numbers.js";
import { list } from "./list.js";

/** Returns the figure of an attribute, to be updated as often as there is something new. */
export function columns({ title, labels }) {
  const width = labels.length;
  const cells = labels.map((_, i) => ({
    bar: drawn("rect", { class: "bar", x: i + 0.05, width: 0.9 }),
    band: drawn("rect", { class: "band", x: i + 0.3, width: 0.4 }),
    ends: [`M${i + 0.5} 100l-.3 -3h.6z`, `M${i + 0.5} 0l-.3 3h.6z`].map((d) => drawn("path", { class: "cut", d })),
  }));
  const drawing = drawn(
    "svg",
    { viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}: see the list below` },
    ...cells.flatMap((one) => [one.bar, one.band, ...one.ends]),
  );
  const top = element("span");
  const beside = list(labels);
  const node = element(
    "figure",
    { class: "part columns" },
    element("h3", {}, title),
    element("p", { class: "ends" }, top),
    drawing,
    element("p", { class: "ends" }, element("span", {}, labels[0]), element("span", {}, labels.at(-1))),
    beside.node,
  );
  const update = (table, users) => {
    const found = shares(table, users);
    const last = axisEnd(found.share);
    const at = (value) => 100 * (1 - Math.min(Math.max((value ?? 0) / last, 0), 1));
    top.textContent = `up to ${percent(last)}`;
    cells.forEach(({ bar, band, ends }, i) => {
      bar.setAttribute("y", at(found.share[i]));
      bar.setAttribute("height", 100 - at(found.share[i]));
      band.setAttribute("y", at(found.high[i]));
      band.setAttribute("height", at(found.low[i]) - at(found.high[i]));
      beyond(found.low[i], found.high[i], last).forEach((cut, side) => ends[side].setAttribute("visibility", cut === null ? "hidden" : "visible"));
    });
    beside.update(table, users);
  };
  return { node, update };
}
