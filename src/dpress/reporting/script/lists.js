/** Tables of any columns, in the place of those that the page has without its script. */
import { error, number, unitFor } from "./rounding.js";
import { table } from "./rows.js";
import { unpacked } from "./unpacked.js";
import { csvOf } from "./words.js";

const NUMBERS = { count: "count", value: "value", low: "95 % from", high: "95 % to", standard_error: "standard error" };
const MISSING = "not known";
const TOWARDS = { low: Math.floor, high: Math.ceil };

/** Puts every list of the data where the page has a place for it. */
export function putLists(lists) {
  for (const place of document.querySelectorAll("[data-list]")) place.append(list(lists[place.dataset.list]));
}

function list({ title, rows, labels, measured, heads = {} }) {
  const texts = labels.map(
    ({ names, at }) =>
      (row) =>
        names[at[row]],
  );
  const numbers = Object.entries(measured).map(([name, own]) => [name, unpacked(own)]);
  const own = Object.fromEntries(numbers);
  const spread = (row, name) => {
    const known = own.change && name !== "value" ? NaN : own.standard_error?.[row];
    return Number.isFinite(known) ? known : (own.high?.[row] - own.low?.[row]) / 4;
  };
  const names = [...labels.map((one) => one.name), ...numbers.map(([name]) => heads[name] ?? name)];
  const exact = (row) => [...texts.map((text) => text(row)), ...numbers.map(([, values]) => values[row])];
  return table({
    title,
    size: rows,
    noun: "rows",
    labels: labels.length,
    sought: labels.length === 1 ? labels[0].name : "the rows",
    heads: [...labels.map((one) => one.name), ...numbers.map(([name]) => heads[name] ?? NUMBERS[name])],
    sorters: [
      ...labels.map(({ names, at }) => ranked(names, at)),
      ...numbers.map(
        ([, values]) =>
          (row) =>
            values[row],
      ),
    ],
    texts: (row) => [
      ...texts.map((text) => text(row)),
      ...numbers.map(([name, values]) => rounded(name, values[row], spread(row, name))),
    ],
    links: labels.map(
      ({ links, at }) =>
        (row) =>
          links?.[at[row]],
    ),
    csv: (order) => csvOf([names, ...Array.from(order, exact)]),
    json: (order) =>
      JSON.stringify(
        Array.from(order, (row) => Object.fromEntries(exact(row).map((one, i) => [names[i], one]))),
        null,
        1,
      ),
  });
}

/** Returns which place a row's label has: numbers by their size, texts as they first occur. */
function ranked(names, at) {
  const numbers = names.map(Number);
  return numbers.every(Number.isFinite) ? (row) => numbers[at[row]] : (row) => at[row];
}

/** Returns a number in the digits that its error warrants, the ends of an interval rounded outward. */
function rounded(name, value, spread) {
  if (Number.isNaN(value)) return MISSING;
  if (name === "standard_error") return error(value);
  return number(value, unitFor(spread), TOWARDS[name] ?? null);
}
