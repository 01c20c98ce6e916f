/** Reads conditions as trees, as `dpress.query.condition_grammar` does; the grammar is in docs/reference/queries.md. */
import { hintFor, nearest } from "./query_hints.js";

const OPERATOR = "(?:!=|<=|>=|=|<|>|\\bin\\b)";
const START = `(?:==|${OPERATOR}|\\bbetween\\b|\\bis\\b)`; // of what stands behind an attribute, right or wrong
export const QUOTED = `'[^']*'|"[^"]*"`;
const MIRRORED = {
  "=": "=",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
}; // "30" < age is age > "30"
const DEEPEST = 50; // parentheses within one another
const MOST_CONDITIONS = 1 << 14;
export const TOTAL = { word: "total" };

/** A query that cannot be read, or answered here; the message says why. */
export class Unread extends Error {}

/** A query that the command answers and this page does not. */
export class Elsewhere extends Unread {}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** Returns a text in quotes, as Python writes it. */
export const shown = (text) => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/\t/g, "\\t");
  return quote + (quote === "'" ? body.replace(/'/g, "\\'") : body) + quote;
};

export const unquoted = (text) => (/^(['"])[^]*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text);

/** Returns a name as it is listed, from one that may stand in quotes. */
export const plainName = (names, written) => (names.includes(written) ? written : unquoted(written));

/** Returns a pattern of the attributes' names, as they are or in quotes, the longest first. */
export function anyName(names) {
  const plain = [...names]
    .sort((one, two) => two.length - one.length)
    .map(escaped)
    .join("|");
  return `(?:${plain}|'(?:${plain})'|"(?:${plain})")`;
}

/** Returns a pattern of what a condition begins with: an attribute and an operator, or a value in quotes first. */
export function beginning(names) {
  const name = anyName(names);
  const behind = `(?:\\s*${OPERATOR}|\\s+between\\s|\\s+is\\s+missing\\b)`;
  return `(?:${name}${behind}|(?:${QUOTED})\\s*(?:!=|<=|>=|=|<|>)\\s*${name}(?!\\w))`;
}

/** Returns the parts of a text around a separator, a pattern, that stands outside quotes. */
export function parts(text, separator) {
  const found = [];
  let begin = 0;
  for (const match of text.matchAll(new RegExp(`${QUOTED}|${separator}`, "g"))) {
    if (/^['"]/.test(match[0])) continue;
    found.push(text.slice(begin, match.index).trim());
    begin = match.index + match[0].length;
  }
  return [...found, text.slice(begin).trim()];
}

/** Returns what a name was probably meant to be, to be put behind a refusal; empty where nothing is near. */
export function meant(name, names) {
  const near = nearest(name, names);
  return near === undefined ? "" : `; did you mean ${shown(near)}?`;
}

export const noAttribute = (names, name) =>
  new Unread(`there is no attribute ${shown(name)}; the attributes are ${names.join(", ")}${hintFor(name) || meant(name, names)}`);

/** Returns the tree of conditions: { word, attribute, values } of a test, { word, parts } of what joins them. */
export function conditions(names, text) {
  const count = (text.replace(new RegExp(QUOTED, "g"), "").match(new RegExp(OPERATOR, "g")) ?? []).length;
  if (count > MOST_CONDITIONS) throw new Unread("a query of so many conditions is too long; use in (a, b)");
  const reader = new Reader(names, text);
  const tree = reader.joined("or");
  const left = text.slice(reader.at).trim();
  const why = left.startsWith(")") ? "a parenthesis is left over" : "`and` or `or` is missing before it";
  if (reader.at < text.length) throw new Unread(`cannot read ${shown(left)}; ${why}`);
  return tree;
}

/** Reads one text from left to right. */
class Reader {
  constructor(names, text) {
    [this.names, this.text, this.at, this.open] = [names, text, 0, 0];
    const begin = `\\s*${beginning(names)}`;
    this.begin = new RegExp(begin, "y");
    this.ends = `\\s+(?:and|or)\\b(?=(?:[\\s(]|not\\b)*(?:${begin}|total\\b))`;
  }

  /** Returns operands joined by a word: by `or` those that are joined by `and`. */
  joined(word) {
    const operand = () => (word === "and" ? this.operand() : this.joined("and"));
    const operands = [operand()];
    while (this.skip(word === "and" ? /\s*\band\b/y : /\s*\bor\b/y)) operands.push(operand());
    return operands.length > 1 ? { word, parts: operands } : operands[0];
  }

  /** Returns what may be negated, any number of times: a condition, or what stands in parentheses. */
  operand() {
    let negated = false;
    while (!this.begins() && this.skip(/\s*not\b/y)) negated = !negated;
    return negated ? { word: "not", parts: [this.plain()] } : this.plain();
  }

  plain() {
    if (!this.skip(/\s*\(/y)) return condition(this.names, this.upToTheNext());
    if (++this.open > DEEPEST) throw new Unread(`more than ${DEEPEST} parentheses within one another`);
    const tree = this.joined("or");
    if (!this.skip(/\s*\)\s*/y)) throw new Unread(`${shown(this.text)}: a parenthesis is not closed`);
    this.open--;
    return tree;
  }

  /** Returns the text up to what ends a condition: a word before the next one, or a parenthesis that was open. */
  upToTheNext() {
    const start = this.at;
    const [stop, closed] = this.stop(1);
    this.at = closed ? stop : this.stop(0)[0];
    return this.text.slice(start, this.at).trim();
  }

  /** Returns where a condition ends, and whether every parenthesis of its value is closed. */
  stop(bracket) {
    const pattern = new RegExp(`${QUOTED}|[()]|${this.ends}`, "g");
    pattern.lastIndex = this.at;
    let depth = 0;
    for (let match = pattern.exec(this.text); match; match = pattern.exec(this.text)) {
      depth += { "(": bracket, ")": -1 }[match[0]] ?? 0;
      if ((depth < 0 && this.open) || (depth === 0 && /^\s/.test(match[0]))) return [match.index, true];
      depth = Math.max(depth, 0); // a parenthesis of a value
    }
    return [this.text.length, depth === 0];
  }

  begins() {
    this.begin.lastIndex = this.at;
    return this.begin.test(this.text);
  }

  /** Goes beyond a pattern that stands here; says whether it does. */
  skip(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.test(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }
}

/** Returns one test of an attribute, or `total`. */
function condition(names, text) {
  const name = anyName(names);
  const match = (pattern) => new RegExp(`^(?:${pattern})$`).exec(text);
  if (text.toLowerCase() === "total") return TOTAL;
  let found = match(`(${name})\\s+is\\s+missing`);
  if (found) return { word: "missing", attribute: plainName(names, found[1]) };
  if ((found = match(`(${name})\\s+between\\s+([^]+)`))) return between(plainName(names, found[1]), found[2].trim());
  if ((found = match(`(${name})\\s*(${OPERATOR})\\s*([^]+)`)))
    return test(plainName(names, found[1]), found[2], found[3].trim());
  found = match(`(${QUOTED})\\s*(${OPERATOR})\\s*(${name})`);
  if (!found || !MIRRORED[found[2]]) throw new Unread(unread(names, text));
  return test(plainName(names, found[3]), MIRRORED[found[2]], found[1]);
}

function test(attribute, operator, text) {
  if (operator !== "in") return { word: operator, attribute, values: [unquoted(text)] };
  if (text.startsWith("(") && text.endsWith(")")) return { word: "in", attribute, values: listed(text.slice(1, -1)) };
  const ends = new RegExp(`^(${QUOTED}|[^]*?)\\s*\\.\\.\\s*([^]*)$`).exec(text);
  if (!ends) throw new Unread(`cannot read ${shown(text)} after \`in\`; write a..b or (a, b, c)`);
  return {
    word: "between",
    attribute,
    values: [unquoted(ends[1]), unquoted(ends[2])],
  };
}

function between(attribute, text) {
  const ends = parts(text, "\\s+and\\s+");
  if (ends.length !== 2 || !ends.every(Boolean))
    throw new Unread(`cannot read ${shown(text)} after \`between\`; write \`${attribute} between a and b\``);
  return { word: "between", attribute, values: ends.map(unquoted) };
}

function listed(text) {
  const values = (text.match(/\s*'[^']*'\s*|\s*"[^"]*"\s*|[^,]+/g) ?? []).map((one) => one.trim()).filter(Boolean);
  if (!values.length) throw new Unread("the list after `in` is empty; write in (a, b)");
  return values.map(unquoted);
}

/** Returns why a part of a query is no condition, and what it was probably meant as. */
function unread(names, text) {
  const left = new RegExp(`^([^]+?)\\s*(?:${START})`).exec(text);
  const name = unquoted((left ? left[1] : text).trim());
  if (!left && names.includes(name))
    return `cannot read ${shown(text)}; write e.g. \`${name} = VALUE\`, and the whole query in quotes in a shell`;
  if (/^where\b/i.test(text))
    return `cannot read ${shown(text)}; leave out \`${text.slice(0, 5)}\`: a query is a condition alone`;
  const wanted = `write e.g. \`NAME in 30..40 and NAME = VALUE\`, with the attributes ${names.join(", ")}`;
  return `cannot read ${shown(text)}; ${wanted}${hintFor(text) || noOperator(names, text) || meant(name, names)}`;
}

/** Returns that nothing compares an attribute with what stands behind it; empty where it is no attribute. */
function noOperator(names, text) {
  const begins = new RegExp(`^(${anyName(names)})[\\s:]`).exec(text);
  return begins ? `; an operator is missing behind ${plainName(names, begins[1])}` : "";
}
