/** What devices are asked: its canonical form and its hash, and the document read strictly. */
import type { Attribute, Kind } from "./attribute.js";
import { type Bytes, hex, joined, sha256, unhex } from "./bytes.js";
import { type Encoder, readEncoder } from "./encoder.js";
import { type Fields, fields, integer, integers, list, maker, text } from "./fields.js";
import type { Oracle } from "./oracle.js";
import { readOracle } from "./oracles/read.js";
import { must, refuse } from "./refusal.js";
import { KINDS } from "./attributes/rooms.js";
import { total } from "./total.js";

export interface Part {
  readonly axes: readonly number[];
  readonly encoder: Encoder;
  readonly oracle: Oracle;
}

export interface ReportType {
  readonly weight: number;
  readonly width: number;
  /** The number of its first attribute's answer among those of all types. */
  readonly slot: number;
  readonly parts: readonly Part[];
}

export interface Ask {
  /** The first 16 bytes of its hash, which name it in a report. */
  readonly id: Bytes;
  /** The 16 bytes that key permanent responses, the same in all rounds. */
  readonly collection: Bytes;
  readonly attributes: readonly Attribute[];
  readonly types: readonly ReportType[];
  readonly rounds: { readonly number: number; readonly types: readonly number[] } | null;
}

const LONG = 2 ** 53 - 1;

/** Returns the canonical form: names sorted, no white space. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const own = value as Fields;
  const names = Object.keys(own).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(own[name])}`).join()}}`;
}

/** Returns the id: the SHA-256 of the canonical form, hexadecimal. */
export const identity = async (ask: unknown): Promise<string> => hex(await sha256(joined(canonical(ask))));

function readAttribute(document: unknown): Attribute {
  const [kind, own] = maker<Kind>(document, KINDS, "kind");
  const name = text(own, "name");
  return { name, ...kind.make(own, name) };
}

function readPart(document: unknown, sizes: readonly number[]): Part {
  const own = fields(document, "axes encoder oracle");
  const axes = integers(own, "axes", 0, sizes.length - 1);
  const encoder = readEncoder(
    own["encoder"],
    axes.map((axis) => sizes[axis]!),
  );
  const oracle = readOracle(own["oracle"]);
  must(encoder.sizes.join() === oracle.sizes.join(), "sizes");
  return { axes, encoder, oracle };
}

/** Returns the rounds, whose number and first id fit each other and so many types; null where there is one. */
function readRounds(value: unknown, types: number): (NonNullable<Ask["rounds"]> & { collection: string }) | null {
  if (value === null) return null;
  const own = fields(value, "number types collection");
  const [each, collection] = [integers(own, "types", 1, LONG), text(own, "collection")];
  const number = integer(own, "number", 0, each.length - 1);
  must(each[number] === types && (number ? /^[0-9a-f]{64}$/ : /^$/).test(collection), "rounds");
  return { number, types: each, collection };
}

/** Reads the ask whose hash is this; anything else is refused. */
export async function readAsk(document: unknown, id: string): Promise<Ask> {
  if ((await identity(document)) !== id) refuse("the server asks something else");
  const own = fields(document, "model attributes report_types rounds");
  must(own["model"] === "local", "model");
  const attributes = list(own, "attributes").map(readAttribute);
  const sizes = attributes.flatMap((one) => one.sizes);
  let slot = 0;
  const types = list(own, "report_types").map((one): ReportType => {
    const found = fields(one, "weight width parts");
    const parts = list(found, "parts").map((part) => readPart(part, sizes));
    const axes = parts.flatMap((part) => part.axes);
    const width = total(parts.map((part) => part.oracle.width));
    must(new Set(axes).size === axes.length, "axes");
    slot += axes.length;
    return {
      weight: integer(found, "weight", 1, LONG),
      width: integer(found, "width", width, width),
      slot: slot - axes.length,
      parts,
    };
  });
  must(slot <= 2 ** 16, "report_types");
  const rounds = readRounds(own["rounds"], types.length);
  const key = (name: string): Bytes => unhex(name.slice(0, 32));
  return { id: key(id), collection: key(rounds?.collection || id), attributes, types, rounds };
}
