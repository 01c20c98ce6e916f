/** A table of any length, of which the rows in sight are made; sorted by a click on a head; saved as CSV or JSON. */
import { button, search } from "./controls.js";
import { element } from "./elements.js";
import { error, interval, number, unitFor } from "./rounding.js";
import { asCsv, asJson, labelsOf } from "./words.js";
import { FEW, placesOf } from "./views.js";

const HEIGHT = 28; // of a row, in pixels
const BEYOND = 10; // rows made above and below those in sight
const [LONG, END] = [30, 12]; // letters of a label that is cut, and of its end, which is not

/** Returns a view as a table. */
export function rows(view, title) {
  const unit = unitOf(view);
  return table({
    title,
    size: view.size,
    noun: "cells",
    labels: view.edges.length,
    heads: [...view.edges.map((one) => one.caption), "count", "95 % interval", "standard error"],
    sorters: [
      ...view.edges.map((edge, i) => (cell) => edge.cells[placesOf(view.edges, cell)[i]].key),
      (cell) => view.value[cell],
      (cell) => view.value[cell],
      (cell) => view.error[cell],
    ],
    texts: (cell) => textsOf(view, cell, unit),
    csv: (order) => asCsv(view, order),
    json: (order) => asJson(view, order),
    first: view.edges.some((edge) => edge.ranked) ? view.edges.length : -1,
  });
}

function textsOf(view, cell, unit) {
  const [value, low, high] = [view.value[cell], view.low[cell], view.high[cell]];
  const texts = [number(value, unit), interval(low, high, unit), error(view.error[cell])];
  return [...labelsOf(view, cell), ...texts];
}

/**
 * Returns a table: of `size` rows, the first columns being `labels`; every column has a head, a text and a key, and the
 * first ones may have links. It is sorted by the column `first`, if there is one; of more than 30 rows those can be found
 * whose labels hold a text, where they are called `sought`.
 */
export function table(shown) {
  const {
    title,
    size,
    noun,
    labels,
    heads,
    sorters,
    texts,
    links = [],
    csv,
    json,
    first = -1,
    sought = "",
    numbers = "exact",
  } = shown;
  const places = Array.from({ length: size }, (_, place) => place);
  let [order, sorted, down, wanted] = [places, -1, false, ""];
  const said = element("caption", { "aria-live": "polite" }, `${title}: ${number(size)} ${noun}`);
  const body = element("tbody");
  const head = element(
    "tr",
    {},
    ...heads.map((name, i) =>
      element(
        "th",
        { scope: "col", class: i < labels ? "label" : "" },
        button(name, () => sort(i)),
      ),
    ),
  );
  const whole = element("table", { "aria-rowcount": String(size + 1) }, said, element("thead", {}, head), body);
  const box = element(
    "div",
    { class: "rows", tabindex: "0", role: "region", "aria-label": `${title}, scrolls` },
    whole,
  );

  function find(text) {
    wanted = text;
    arrange();
    said.textContent = `${title}: ${text ? `${number(order.length)} of ` : ""}${number(size)} ${noun}`;
  }

  function arrange() {
    const names = (place) => texts(place).slice(0, labels);
    order = places.filter((place) => !wanted || names(place).some((one) => one.toLocaleLowerCase().includes(wanted)));
    if (sorted >= 0) {
      const by = sorters[sorted];
      const keys = Float64Array.from(places, (place) => by(place) ?? NaN).map((key) =>
        Number.isNaN(key) ? -Infinity : key,
      );
      order.sort((one, other) => (down ? keys[other] - keys[one] : keys[one] - keys[other]) || one - other);
    }
    whole.setAttribute("aria-rowcount", String(order.length + 1));
    box.scrollTop = 0;
    show();
  }

  function sort(column) {
    [down, sorted] = [sorted === column ? !down : column >= labels, column];
    [...head.children].forEach((th, i) =>
      i === column ? th.setAttribute("aria-sort", down ? "descending" : "ascending") : th.removeAttribute("aria-sort"),
    );
    arrange();
  }

  function show() {
    const start = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(order.length, start + Math.ceil(box.clientHeight / HEIGHT) + 2 * BEYOND);
    const made = order.slice(start, last).map((place, i) => {
      const leads = links.map((link) => link(place));
      return row(texts(place), leads, labels, start + i + 2);
    });
    body.replaceChildren(gap(start, heads.length), ...made, gap(order.length - last, heads.length));
  }

  if (first >= 0) sort(first);
  box.addEventListener("scroll", show);
  new ResizeObserver(show).observe(box);
  const save = element(
    "p",
    { class: "note" },
    "Save the table: ",
    button("CSV", () => saved(`${title}.csv`, "text/csv", csv(order))),
    " ",
    button("JSON", () => saved(`${title}.json`, "application/json", json(order))),
    ` (${numbers} numbers, nothing is sent)`,
  );
  return element("div", {}, ...(sought && size > FEW ? [search(`Search ${sought}`, find)] : []), box, save);
}

function unitOf({ value, error: errors }) {
  const known = errors.filter(Number.isFinite);
  const typical = known.length ? Math.sqrt(known.reduce((sum, one) => sum + one * one, 0) / known.length) : 0;
  return value.every((one) => one % 1 === 0) ? Math.max(1, unitFor(typical)) : unitFor(typical);
}

function row(texts, links, labels, place) {
  const cut = texts.map((one, i) => (i < labels && one.length > LONG ? withEnd(one) : one));
  const shown = cut.map((one, i) => (links[i] ? element("a", { href: links[i] }, one) : one));
  const cells = texts.map((one, i) =>
    element("td", i < labels ? { class: "label", title: one } : { class: "number" }, shown[i]),
  );
  return element("tr", { "aria-rowindex": String(place) }, ...cells);
}

/** Returns a long label whose end is always seen: there labels differ that begin alike. */
function withEnd(text) {
  const parts = [element("span", {}, text.slice(0, -END)), element("span", {}, text.slice(-END))];
  return element("span", { class: "cut" }, ...parts);
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
