/** A table of any length, of which the rows in sight are made; sorted by a click on a head; saved as CSV or JSON. */
import { button } from "./controls.js";
import { element } from "./elements.js";
import { error, interval, number, unitFor } from "./rounding.js";
import { asCsv, asJson, labelsOf } from "./words.js";
import { placesOf } from "./views.js";

const HEIGHT = 28; // of a row, in pixels
const BEYOND = 10; // rows made above and below those in sight

/** Returns a view as a table. */
export function rows(view, title) {
  const heads = [...view.edges.map((one) => one.caption), "count", "95 % interval", "standard error"];
  const sorters = [
    ...view.edges.map((_, i) => (cell) => placesOf(view.edges, cell)[i]),
    (cell) => view.value[cell],
    (cell) => view.value[cell],
    (cell) => view.error[cell],
  ];
  let [order, sorted, down] = [Array.from(view.value.keys()), -1, false];
  const body = element("tbody");
  const head = element(
    "tr",
    {},
    ...heads.map((name, i) =>
      element(
        "th",
        { scope: "col", class: i < view.edges.length ? "label" : "" },
        button(name, () => sort(i)),
      ),
    ),
  );
  const table = element(
    "table",
    { "aria-rowcount": String(view.size + 1) },
    element("caption", {}, `${title}: ${number(view.size)} cells`),
    element("thead", {}, head),
    body,
  );
  const box = element(
    "div",
    { class: "rows", tabindex: "0", role: "region", "aria-label": `${title}, scrolls` },
    table,
  );
  const unit = unitOf(view);

  function sort(column) {
    [down, sorted] = [sorted === column ? !down : column >= view.edges.length, column];
    const by = sorters[column];
    const keys = Float64Array.from(view.value, (_, cell) => by(cell));
    order = Array.from(view.value.keys()).sort(
      (one, other) => (down ? keys[other] - keys[one] : keys[one] - keys[other]) || one - other,
    );
    [...head.children].forEach((th, i) =>
      i === column ? th.setAttribute("aria-sort", down ? "descending" : "ascending") : th.removeAttribute("aria-sort"),
    );
    box.scrollTop = 0;
    show();
  }

  function show() {
    const first = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(view.size, first + Math.ceil(box.clientHeight / HEIGHT) + 2 * BEYOND);
    const made = order.slice(first, last).map((cell, i) => row(view, cell, unit, first + i + 2));
    body.replaceChildren(gap(first, heads.length), ...made, gap(view.size - last, heads.length));
  }

  box.addEventListener("scroll", show);
  new ResizeObserver(show).observe(box);
  const save = element(
    "p",
    { class: "note" },
    "Save the table: ",
    button("CSV", () => saved(`${title}.csv`, "text/csv", asCsv(view, order))),
    " ",
    button("JSON", () => saved(`${title}.json`, "application/json", asJson(view, order))),
    " (exact numbers, nothing is sent)",
  );
  return element("div", {}, box, save);
}

function unitOf({ value, error: errors }) {
  const known = errors.filter(Number.isFinite);
  const typical = known.length ? Math.sqrt(known.reduce((sum, one) => sum + one * one, 0) / known.length) : 0;
  return value.every((one) => one % 1 === 0) ? Math.max(1, unitFor(typical)) : unitFor(typical);
}

function row(view, cell, unit, place) {
  const [value, half] = [view.value[cell], view.half[cell]];
  const texts = [number(value, unit), interval(value - half, value + half, unit), error(view.error[cell])];
  const labels = labelsOf(view, cell).map((one) => element("td", { class: "label", title: one }, one));
  return element(
    "tr",
    { "aria-rowindex": String(place) },
    ...labels,
    ...texts.map((one) => element("td", { class: "number" }, one)),
  );
}

/** Returns the room of rows that are not in sight. */
function gap(count, columns) {
  const cell = element("td", { colspan: String(columns) });
  cell.style.cssText = `height: ${count * HEIGHT}px; padding: 0; border: 0`;
  const made = element("tr", { "aria-hidden": "true" }, cell);
  made.hidden = count === 0;
  return made;
}

function saved(name, type, text) {
  const link = element("a", {
    download: name.replace(/[^\p{L}\p{N}. -]+/gu, "_"),
    href: URL.createObjectURL(new Blob([text], { type })),
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
