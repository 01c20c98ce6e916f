/** Small asks for tests, their oracles those of the vectors. */
import { readFileSync } from "node:fs";
import { identity } from "../src/ask.js";

const stored = new URL("../../../src/dpress/vectors/reports.json", import.meta.url);
export const golden = JSON.parse(readFileSync(stored, "utf8"));

export type Document = Record<string, unknown> & { method: string };

/** Returns the first document of a method whose values are so many, or any. */
export function oracleOf(method: string, size?: number): Document {
  const all: Document[] = golden.devices.map((one: { oracle: Document }) => one.oracle);
  return all.find((one) => one.method === method && (size === undefined || one["size"] === size))!;
}

const VALUES = ["North", "East", "South", "West", "Centre", "Isles", "Abroad"];

/** Returns an ask about one attribute, `region`, and its id. */
export async function askOf(oracle: Document, width: number, rounds: unknown = null): Promise<[object, string]> {
  const size = Number(oracle["size"] ?? (oracle["sizes"] as number[])[0]);
  const attribute = {
    kind: "categorical",
    name: "region",
    values: VALUES.slice(0, size),
    other: "reject",
    null: null,
    hierarchy: null,
  };
  const part = { axes: [0], encoder: { encoder: "code" }, oracle };
  const ask = { model: "local", attributes: [attribute], report_types: [{ weight: 1, width, parts: [part] }], rounds };
  return [ask, await identity(ask)];
}
