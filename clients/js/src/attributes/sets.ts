/** A set of values: from a list, or one text of several, to the bits of its members in words of 16. */
import { type Kinds, MISSING, OUTSIDE } from "../attribute.js";
import { exact } from "../decimal.js";
import { text } from "../fields.js";
import { range } from "../range.js";
import { must } from "../refusal.js";
import { BLANKS, FIELDS, listing } from "./listed.js";

const WORD = 16;
const MOST = 1024;

/** Returns how many different codes each word of so many values has. */
export const wordSizes = (size: number): number[] =>
  range(Math.ceil(size / WORD), (i) => 2 ** Math.min(WORD, size - WORD * i));

/** Returns the words of the set of the values at these places. */
function words(places: readonly number[], size: number): number[] {
  const held = wordSizes(size).map(() => 0);
  for (const place of places) held[place >> 4]! |= 1 << (place & 15);
  return held;
}

/** Returns the values that a set holds, null where there is none: a value alone is a set of one. */
function members(value: unknown, separator: string): readonly unknown[] | null {
  if (Array.isArray(value) || value instanceof Set) return [...value].filter((one) => (one ?? null) !== null);
  if (typeof value !== "string") return typeof value === "boolean" || exact(value) ? [value] : null;
  return value
    .split(separator)
    .map((one) => one.replace(BLANKS, ""))
    .filter(Boolean);
}

export const KINDS: Kinds = {
  set: {
    fields: `${FIELDS} separator`,
    make(own, name) {
      const [place, size, cell] = listing(own, name);
      const separator = text(own, "separator");
      must(size <= MOST && separator.trim(), "values, separator");
      const member = (value: unknown): number => {
        const found = place(value);
        return cell(found < 0 ? OUTSIDE : found);
      };
      const held = (value: unknown): number[] =>
        members(value, separator)?.map(member) ?? (own["null"] === null ? [] : [cell(MISSING)]);
      return { sizes: wordSizes(size), codes: (value) => words(held(value), size) };
    },
  },
};
