/** An attribute: its column, its cells, and what its document says of a value without one. */
import type { Fields } from "./fields.js";
import { refuse } from "./refusal.js";

export interface Attribute {
  readonly name: string;
  /** How many different codes it has: of its one cell, or of every word of a set. */
  readonly sizes: readonly number[];
  /** Returns the codes of a value; refuses one that is rejected or dropped. */
  codes(value: unknown): readonly number[];
}

/** Makes an attribute of a document that has these fields, `name` among them, beside `kind`. */
export interface Kind {
  readonly fields: string;
  make(own: Fields, name: string): Omit<Attribute, "name">;
}

/** The kinds of a file, by the word that documents have for them. */
export type Kinds = Readonly<Record<string, Kind>>;

/** Returns a number for a value: its cell, or MISSING or OUTSIDE. */
export type Place = (value: unknown) => number;

export const MISSING = -1;
export const OUTSIDE = -2;

const POLICIES = ["reject", "drop"];

/** Returns what has one cell of so many for a value. */
export const single = (size: number, cell: Place): Omit<Attribute, "name"> => ({
  sizes: [size],
  codes: (value) => [cell(value)],
});

/** Returns how many cells there are with those beside the values', and the cell of a place; refuses one without. */
export function beside(
  name: string,
  cells: number,
  outside: string,
  missing: string,
): [size: number, cell: (place: number) => number] {
  const named = [...new Set([outside, missing])].filter((policy) => !POLICIES.includes(policy));
  const cell = (place: number): number => {
    if (place >= 0) return place;
    const extra = named.indexOf(place === MISSING ? missing : outside);
    return extra < 0 ? refuse(`${name}: a value is ${place === MISSING ? "missing" : "outside"}`) : cells + extra;
  };
  return [cells + named.length, cell];
}
