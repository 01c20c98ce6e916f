/** Reading a document strictly: every field there, none more, each of its type. */
import { must } from "./refusal.js";

export type Fields = Readonly<Record<string, unknown>>;

/** Returns an object that has exactly these fields, their names separated by blanks. */
export function fields(value: unknown, names: string): Fields {
  const known = Object.keys(Object(value)).sort().join(" ");
  must(known === names.split(" ").sort().join(" "), `the fields ${names}`);
  return value as Fields;
}

/** Returns a field that is an integer between two bounds, both included. */
export function integer(own: Fields, name: string, low: number, high: number): number {
  const value = own[name] as number;
  must(Number.isSafeInteger(value) && value >= low && value <= high, `${name} in ${low}..${high}`);
  return value;
}

/** Returns a field that is a list with an entry at least. */
export function list(own: Fields, name: string): readonly unknown[] {
  const value = own[name];
  must(Array.isArray(value) && value.length, `the list ${name}`);
  return value;
}

/** Returns a field that is a list of integers between two bounds. */
export function integers(own: Fields, name: string, low: number, high: number): readonly number[] {
  return list(own, name).map((value) => integer({ [name]: value }, name, low, high));
}

/** Returns a field that is a text. */
export function text(own: Fields, name: string): string {
  const value = own[name];
  must(typeof value === "string", `the text ${name}`);
  return value;
}

/** Returns what makes something of a document, by the word that a field of it has, and the document with its fields. */
export function maker<Maker extends { readonly fields: string; readonly make: unknown }>(
  document: unknown,
  makers: Readonly<Record<string, Maker>>,
  field: string,
): [Maker, Fields] {
  const chosen = makers[Object(document)[field]];
  must(chosen?.make, field);
  return [chosen, fields(document, `${field} ${chosen.fields}`)];
}
