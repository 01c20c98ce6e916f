/** Reading a document strictly: every field there, none more, each of its type. */
import { refuse } from "./refusal.js";

export type Fields = Readonly<Record<string, unknown>>;

/** Returns an object that has exactly these fields, their names separated by blanks. */
export function fields(value: unknown, names: string): Fields {
  const wanted = names.split(" ");
  const known = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const missing = wanted.find((name) => !known.includes(name));
  const unknown = known.find((name) => !wanted.includes(name));
  if (missing !== undefined) refuse(`${missing}: missing`);
  if (unknown !== undefined) refuse(`${unknown}: unknown field`);
  return value as Fields;
}

/** Returns a field that is an integer between two bounds, both included. */
export function integer(own: Fields, name: string, low: number, high: number): number {
  const value = own[name];
  if (!Number.isSafeInteger(value) || (value as number) < low || (value as number) > high)
    refuse(`${name}: expected an integer from ${low} to ${high}`);
  return value as number;
}

/** Returns a field that is a list with an entry at least. */
export function list(own: Fields, name: string): readonly unknown[] {
  const value = own[name];
  return Array.isArray(value) && value.length ? value : refuse(`${name}: expected a list with an entry at least`);
}

/** Returns a field that is a list of integers between two bounds. */
export function integers(own: Fields, name: string, low: number, high: number): readonly number[] {
  return list(own, name).map((value) => integer({ [name]: value }, name, low, high));
}

/** Returns a field that is a text. */
export function text(own: Fields, name: string): string {
  const value = own[name];
  return typeof value === "string" ? value : refuse(`${name}: expected a text`);
}
