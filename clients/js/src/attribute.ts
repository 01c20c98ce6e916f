/** An attribute: its column, its cells, and from a value to its cell, of a set to its words. */
import { exact, floor } from "./decimal.js";
import { type Fields, fields, integer, integers, list, text } from "./fields.js";
import { MISSING, OUTSIDE, type Values, placed } from "./listed.js";
import { members, wordSizes, words } from "./members.js";
import { must, refuse } from "./refusal.js";
import { readStrings } from "./strings.js";

export interface Attribute {
  readonly name: string;
  /** How many different codes it has: of its one cell, or of every word of a set. */
  readonly sizes: readonly number[];
  /** Returns the codes of a value; refuses one that is rejected or dropped. */
  codes(value: unknown): readonly number[];
}

/** Returns the cell of a value, or MISSING or OUTSIDE. */
type Place = (value: unknown) => number;

const LARGEST = 2 ** 53 - 1;
const POLICIES = ["reject", "drop"];
const BOUNDED = "bounds bins outside null";
const LISTED = "values other null hierarchy";
const MOST_OF_A_SET = 1024;

const clamped = <T extends number | bigint>(value: T, low: T, high: T): T =>
  value < low ? low : value > high ? high : value;

/** Returns where an integer lies among equal bins. */
function whole(own: Fields, clamp: boolean): [cells: number, place: Place] {
  const [low, high] = integers(own, "bounds", -LARGEST, LARGEST).map(BigInt) as [bigint, bigint];
  const span = high - low + 1n;
  const cells = integer({ bins: own["bins"] ?? Number(span) }, "bins", 1, Math.min(Number(span), LARGEST));
  const place = (value: unknown): number => {
    const found = exact(value);
    if (!found) return MISSING;
    const at = floor(found);
    const near = clamped(at, low, high);
    return near === at || clamp ? Number(((near - low) * BigInt(cells)) / span) : OUTSIDE;
  };
  return [cells, place];
}

/** Returns where a number lies among bins, the last of which is closed. */
function numbers(own: Fields, clamp: boolean): [cells: number, place: Place] {
  const given = own["edges"] === null ? list(own, "bounds") : list(own, "edges");
  const stated = given.map((one) => (typeof one === "string" ? Number(one) : NaN));
  const cells = own["edges"] === null ? integer(own, "bins", 1, LARGEST) : stated.length - 1;
  const [low, high] = [stated[0]!, stated.at(-1)!];
  const edge = (i: number): number =>
    own["edges"] !== null ? stated[i]! : i === cells ? high : low + ((high - low) * i) / cells;
  must(
    stated.length > 1 && stated.every((one, i) => Number.isFinite(one) && !(one <= stated[i - 1]!)),
    "bounds, edges",
  );
  const place = (value: unknown): number => {
    if (!exact(value)) return MISSING;
    const at = Number(value);
    const near = clamped(at, low, high);
    if (near !== at && !clamp) return OUTSIDE;
    let bin = own["edges"] === null ? clamped(Math.floor(((near - low) / (high - low)) * cells), 0, cells - 1) : 0;
    while (bin > 0 && edge(bin) > near) bin--;
    while (bin < cells - 1 && edge(bin + 1) <= near) bin++;
    return bin;
  };
  return [cells, place];
}

/** Returns the attribute of a document. */
export function readAttribute(document: unknown): Attribute {
  const { kind } = Object(document) as { kind: unknown };
  if (kind === "strings") return readStrings(document);
  const listed = kind === "categorical" || kind === "ordinal" || kind === "set";
  must(listed || kind === "integer" || kind === "numeric", "kind");
  const own = fields(
    document,
    `kind name ${listed ? LISTED : kind === "integer" ? BOUNDED : `${BOUNDED} edges`}${kind === "set" ? " separator" : ""}`,
  );
  const outside = text(own, listed ? "other" : "outside");
  const missing = listed && own["null"] === null ? outside : text(own, "null");
  const [cells, place] = listed
    ? [list(own, "values").length, (value: unknown) => placed(list(own, "values") as Values, value)]
    : (kind === "integer" ? whole : numbers)(own, outside === "clamp");
  const beside = [...new Set(listed ? [outside, missing] : [missing])].filter((name) => !POLICIES.includes(name));
  const name = text(own, "name");
  const size = cells + beside.length;
  const settled = (found: number): number => {
    if (found >= 0) return found;
    const extra = beside.indexOf(found === MISSING ? missing : outside);
    return extra < 0 ? refuse(`${name}: a value is ${found === MISSING ? "missing" : "outside"}`) : cells + extra;
  };
  if (kind !== "set") return { name, sizes: [size], codes: (value) => [settled(place(value))] };
  const separator = text(own, "separator");
  must(size <= MOST_OF_A_SET && separator.trim(), "values, separator");
  const member = (one: unknown): number => {
    const found = place(one);
    return settled(found < 0 ? OUTSIDE : found);
  };
  const held = (value: unknown): number[] =>
    members(value, separator)?.map(member) ?? (own["null"] === null ? [] : [settled(MISSING)]);
  return { name, sizes: wordSizes(size), codes: (value) => words(held(value), size) };
}
