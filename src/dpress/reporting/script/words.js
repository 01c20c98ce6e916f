/** What is said of a cell, and of a view as a file. */
import { answered } from "./rounding.js";
import { placesOf } from "./views.js";

/** Returns a cell's labels, one for every attribute of a view. */
export const labelsOf = (view, cell) => placesOf(view.edges, cell).map((place, i) => view.edges[i].cells[place].label);

/** Returns a cell with its count, interval and standard error. */
export const said = (view, cell) =>
  `${labelsOf(view, cell)
    .map((one, i) => `${view.edges[i].caption} ${one}`)
    .join(", ")}: ${answered(answerAt(view, cell))}`;

/** Returns a cell as an answer. */
export function answerAt({ value, low, high, error }, cell) {
  return { value: value[cell], standardError: error[cell], interval: [low[cell], high[cell]] };
}

const COLUMNS = ["count", "standard_error", "low", "high"];

function rowOf(view, cell) {
  const { value, standardError, interval } = answerAt(view, cell);
  return [...labelsOf(view, cell), value, standardError, ...interval];
}

const namesOf = (view) => [...view.edges.map((one) => one.name), ...COLUMNS];

/** Returns a view as CSV; a text that a spreadsheet would take for a formula is led by an apostrophe. */
export const asCsv = (view, order) => csvOf([namesOf(view), ...Array.from(order, (place) => rowOf(view, place))]);

/** Returns rows as CSV; a number that is not known, or hidden, is left out. */
export function csvOf(rows) {
  const cell = (one) =>
    one === null || typeof one === "number"
      ? String(Number.isNaN(one) ? "" : (one ?? ""))
      : `"${one.replace(/^(?=[=+@\t\r]|-(?![\d.]))/, "'").replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Returns a view as JSON: a list of objects. */
export function asJson(view, order) {
  const names = namesOf(view);
  return JSON.stringify(
    Array.from(order, (place) => Object.fromEntries(rowOf(view, place).map((one, i) => [names[i], one]))),
    null,
    1,
  );
}
