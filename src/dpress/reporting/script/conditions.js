/** The query language, as `dpress query` reads it: `age in 30..40 and sex = Female` -> weights of every attribute's cells. */
import { code, stretch } from "./attributes.js";

const OPERATOR = "(?:!=|<=|>=|=|<|>|\\bin\\b)";
export const QUOTED = `'[^']*'|"[^"]*"`;
const MIRRORED = { "=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=" }; // "30" < age is age > "30"

/** A query that cannot be read; the message says why. */
export class Unread extends Error {}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** Returns a pattern of the attributes' names, as they are or in quotes, the longest first. */
function anyName(attributes) {
  const plain = attributes
    .map((one) => one.name)
    .sort((one, two) => two.length - one.length)
    .map(escaped)
    .join("|");
  return `(?:${plain}|'(?:${plain})'|"(?:${plain})")`;
}

/** Returns a pattern of what a condition begins with: an attribute and an operator, or a value in quotes first. */
function beginning(attributes) {
  const name = anyName(attributes);
  return `(?:${name}\\s*${OPERATOR}|(?:${QUOTED})\\s*(?:!=|<=|>=|=|<|>)\\s*${name}(?!\\w))`;
}

/** Returns whether a text begins as a condition does. */
export const isCondition = (attributes, text) => new RegExp(`^\\s*${beginning(attributes)}`).test(text);

/** Returns 0/1 weights, one array for every attribute. */
export function weightsOf(attributes, text) {
  const weights = attributes.map((one) => new Float64Array(one.size).fill(1));
  for (const { axis, operator, value } of conditions(attributes, text)) {
    const own = cellsOf(attributes[axis], operator, value);
    weights[axis].forEach((_, i) => (weights[axis][i] *= own[i]));
  }
  return weights;
}

function conditions(attributes, text) {
  if (text.trim().toLowerCase() === "total") return [];
  const parts = [];
  let begin = 0;
  for (const match of text.matchAll(new RegExp(`${QUOTED}|\\s+and\\s+(?=${beginning(attributes)})`, "g"))) {
    if (/['"]/.test(match[0][0])) continue; // an `and` within quotes belongs to the value
    parts.push(text.slice(begin, match.index));
    begin = match.index + match[0].length;
  }
  return [...parts, text.slice(begin)].map((part) => condition(attributes, part.trim()));
}

function condition(attributes, part) {
  const name = anyName(attributes);
  const first = new RegExp(`^(${name})\\s*(${OPERATOR})\\s*([^]+)$`).exec(part);
  const last = first ? null : new RegExp(`^(${QUOTED})\\s*(${OPERATOR})\\s*(${name})$`).exec(part);
  const [written, operator, value] = first ? first.slice(1) : last ? [last[3], MIRRORED[last[2]], last[1]] : [];
  if (!operator)
    throw new Unread(
      `cannot read “${part}”; write e.g. NAME = VALUE or NAME in a..b, with the attributes ${attributes.map((one) => one.name).join(", ")}`,
    );
  const names = attributes.map((one) => one.name);
  return { axis: names.indexOf(names.includes(written) ? written : unquoted(written)), operator, value: value.trim() };
}

function cellsOf(own, operator, text) {
  const weights = new Float64Array(own.size);
  if (operator === "=" || operator === "!=") {
    for (const cell of cells(own, text)) weights[cell] = 1;
    return operator === "=" ? weights : weights.map((one) => 1 - one);
  }
  if (operator === "in" && text.startsWith("(") && text.endsWith(")")) {
    const values =
      text
        .slice(1, -1)
        .match(/\s*'[^']*'\s*|\s*"[^"]*"\s*|[^,]+/g)
        ?.map((one) => one.trim())
        .filter(Boolean) ?? [];
    if (!values.length) throw new Unread("the list after “in” is empty; write in (a, b)");
    for (const cell of values.flatMap((value) => cells(own, value))) weights[cell] = 1;
    return weights;
  }
  const [first, last] = range(own, operator, text);
  return weights.fill(1, first, last + 1);
}

const unquoted = (text) => (/^(['"])[^]*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text);

/** Returns the cells that one value names. */
function cells(own, text) {
  const value = unquoted(text);
  if (Object.hasOwn(own.groups, value)) return own.groups[value];
  const found = code(own, value);
  if (found >= 0) return [found];
  const some = `${own.names.slice(0, 8).join(", ")}${own.size > 8 ? `, ... (${own.size} in all)` : ""}`;
  if (own.kind === "listed" || !own.whole) throw new Unread(`${own.name} has no value “${value}”; it has ${some}`);
  const [first, last] = span(own, value, value);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Returns the first and the last cell of a range. */
function range(own, operator, text) {
  if (operator === "in") {
    const at = text.indexOf("..");
    if (at < 0) throw new Unread(`cannot read “${text}” after “in”; write a..b or (a, b, c)`);
    return span(own, text.slice(0, at).trim(), text.slice(at + 2).trim());
  }
  const up = operator[0] === ">";
  const strict = operator.length === 1;
  if (own.kind === "listed") {
    if (strict) throw new Unread(`${own.name} is a list of values; use <=, >= or in a..b`);
    return up ? span(own, text, null) : span(own, null, text);
  }
  const [first, end] = place(own, text);
  return up ? between(own, strict ? end : first, null) : between(own, null, strict ? first : end);
}

/** Returns the cells from `low` to `high`, which must lie on the borders of cells; null is the end of the axis. */
function span(own, low, high) {
  if (own.kind !== "listed") {
    const [bottom, top] = [low === null ? null : place(own, low), high === null ? null : place(own, high)];
    if (bottom && top && bottom[0] > top[0]) throw new Unread(`${own.name}: the ends of ${low}..${high} are reversed`);
    return between(own, bottom && bottom[0], top && top[1]);
  }
  if (!own.ordered) throw new Unread(`${own.name} has no order; use = or in (a, b)`);
  const first = low === null ? 0 : cells(own, low)[0];
  const last = high === null ? own.ordered - 1 : cells(own, high).at(-1);
  if (!(first <= last && last < own.ordered))
    throw new Unread(`${own.name}: ${low}..${high} is no range of its ordered values`);
  return [first, last];
}

function between(own, bottom, top) {
  const [least, most] = [own.edges[0], own.edges.at(-1)];
  const low = bottom === null ? least : Math.max(bottom, least);
  const high = top === null ? most : Math.min(top, most);
  if (low >= high)
    throw new Unread(`${own.name}: nothing lies there; it runs from ${own.names[0]} to ${own.names[own.ordered - 1]}`);
  const [first, last] = [own.edges.indexOf(low), own.edges.indexOf(high)];
  if (first < 0 || last < 0)
    throw new Unread(
      `${own.name}: the condition cuts through a cell; the cells begin at ${own.edges.slice(0, 8).join(", ")}, ...`,
    );
  return [first, last - 1];
}

function place(own, text) {
  const found = stretch(own, unquoted(text));
  if (!found)
    throw new Unread(
      `${own.name}: expected ${own.kind === "dated" ? "a date or a period" : "a number"}, got “${text}”`,
    );
  return found;
}
