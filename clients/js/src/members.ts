/** A set of values: from a list, or one text of several, to the bits of its members in words of 16. */
import { exact } from "./decimal.js";
import { BLANKS } from "./listed.js";

const WORD = 16;

/** Returns how many different codes each word of so many values has. */
export const wordSizes = (size: number): number[] =>
  Array.from({ length: Math.ceil(size / WORD) }, (_, i) => 2 ** Math.min(WORD, size - WORD * i));

/** Returns the words of the set of the values at these places. */
export function words(places: readonly number[], size: number): number[] {
  const held = wordSizes(size).map(() => 0);
  for (const place of places) held[Math.floor(place / WORD)]! |= 1 << (place % WORD);
  return held;
}

/** Returns the values that a set holds, null where there is none: a value alone is a set of one. */
export function members(value: unknown, separator: string): readonly unknown[] | null {
  if (Array.isArray(value) || value instanceof Set) return [...value].filter((one) => (one ?? null) !== null);
  if (typeof value !== "string") return typeof value === "boolean" || exact(value) ? [value] : null;
  return value
    .split(separator)
    .map((one) => one.replace(BLANKS, ""))
    .filter(Boolean);
}
