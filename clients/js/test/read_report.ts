/** A collector's reader of packed reports, written from the reference alone: the report, or why it is refused. */
import { bit } from "../src/bytes.js";
import type { Oracle } from "../src/oracle.js";

type Document = Record<string, never> & { method: string };
export type Types = readonly (readonly (readonly [document: unknown, oracle: Oracle])[])[];
export type Found =
  { type: number; id: Uint8Array<ArrayBuffer>; payload: Uint8Array<ArrayBuffer> } | { reason: string };

const PRIME = 2 ** 31 - 1;
const number = (bytes: Uint8Array): number => bytes.reduce((sum, one, place) => sum + one * 256 ** place, 0);

/** Returns the fields of a MessagePack value as far as a report needs it: a list, or anything else as undefined. */
function unpack(data: Uint8Array<ArrayBuffer>): unknown {
  let place = 0;
  const take = (size: number): Uint8Array<ArrayBuffer> => {
    if (place + size > data.length) throw new RangeError("truncated");
    return data.slice(place, (place += size));
  };
  const big = (size: number): number => number(take(size).reverse());
  const read = (): unknown => {
    const mark = take(1)[0]!;
    if (mark < 0x80) return mark;
    if (mark < 0x90) return void Array.from({ length: 2 * (mark & 15) }, read);
    if (mark < 0xa0) return Array.from({ length: mark & 15 }, read);
    if (mark < 0xc0) return new TextDecoder().decode(take(mark & 31));
    if (mark === 0xc1) throw new RangeError("no MessagePack");
    if (mark < 0xc4) return mark === 0xc0 ? null : mark === 0xc3;
    if (mark < 0xc7) return take(big(1 << (mark - 0xc4)));
    if (mark >= 0xcc && mark < 0xcf) return big(1 << (mark - 0xcc));
    if (mark === 0xd9) return new TextDecoder().decode(take(big(1)));
    if (mark >= 0xe0) return mark - 256;
    throw new RangeError("another type");
  };
  const found = read();
  if (place !== data.length && Array.isArray(found)) throw new RangeError("trailing bytes");
  return found;
}

/** Returns why a payload cannot have been sent, or undefined. */
function fault(own: Document, oracle: Oracle, payload: Uint8Array<ArrayBuffer>): string | undefined {
  const padded = (bytes: Uint8Array, size: number): boolean =>
    Array.from({ length: 8 * bytes.length - size }, (_, i) => bit(bytes, size + i)).some(Boolean);
  const size = oracle.sizes.reduce((a, b) => a + b);
  switch (own.method) {
    case "krr":
      return number(payload) >= size ? "out of range" : undefined;
    case "disk_reports":
      return number(payload) >= outputs(own["grid"]!["side"], own["radius"]!) ? "out of range" : undefined;
    case "one_bit":
      return number(payload) >= 2 ? "out of range" : undefined;
    case "circular_wave":
      return number(payload) >= own["groups"]! * own["levels"]! ? "out of range" : undefined;
    case "piecewise":
    case "square_wave": {
      const row = own["levels"]! + own["window"]! - 1;
      return number(payload) >= own["groups"]! * row ? "out of range" : undefined;
    }
    case "hadamard":
      return number(payload) >= 2 * own["rows"]! ? "out of range" : undefined;
    case "pgr": {
      const order = Number(own["order"]);
      let all = 1;
      for (let power = order; all < size; power *= order) all += power;
      return number(payload) >= all ? "out of range" : undefined;
    }
    case "loloha":
    case "olh": {
      const seeds = [0, 4, 8].map((start) => number(payload.slice(start, start + 4)));
      return Math.max(...seeds) >= PRIME || number(payload.slice(12)) >= own["g"]! ? "out of range" : undefined;
    }
    case "rappor":
      if (number(payload.slice(0, 2)) >= own["cohorts"]!) return "unknown cohort";
      return padded(payload.slice(2), own["bits"]!) ? "padding" : undefined;
    case "pcep":
    case "safe_regions":
      return badSign(own, payload);
    default: {
      if (padded(payload, size)) return "padding";
      const ones = Array.from({ length: size }, (_, i) => bit(payload, i)).filter(Boolean).length;
      return own.method === "subset_selection" && ones !== own["weight"] ? "weight" : undefined;
    }
  }
}

function outputs(side: number, radius: number): number {
  const reach = (a: number): number => Math.max(-a, a - side + 1, 0) ** 2;
  const ends = Array.from({ length: side + 2 * radius }, (_, i) => i - radius);
  return ends.flatMap((x) => ends.filter((y) => reach(x) + reach(y) <= radius ** 2)).length;
}

function badSign(own: Document, payload: Uint8Array<ArrayBuffer>): string | undefined {
  const levels = own.method === "pcep" ? own["levels"]! : own["epsilons"]!;
  const regions =
    own.method === "pcep"
      ? (own["regions"]! as unknown[]).length
      : (own["region_levels"]! as number[]).reduce((sum, level) => sum + 4 ** level, 0);
  const limits = [2 * own["rows"]!, regions, (levels as unknown[]).length];
  let start = 0;
  for (const [place, limit] of limits.entries()) {
    if (place && limit === 1) continue;
    let bytes = 1;
    while (256 ** bytes < limit) bytes++;
    if (number(payload.slice(start, (start += bytes))) >= limit)
      return ["out of range", "unknown region", "unknown level"][place];
  }
  return undefined;
}

const integer = (value: unknown, low: number, high: number): value is number =>
  typeof value === "number" && value >= low && value <= high;

/** Returns the report that these bytes hold, or the first reason to refuse it. */
export function readReport(packed: Uint8Array<ArrayBuffer>, ask: Uint8Array, round: number, types: Types): Found {
  let found: unknown;
  try {
    found = unpack(packed);
  } catch {
    return { reason: "form" };
  }
  if (!Array.isArray(found) || found.length !== 6) return { reason: "field" };
  const [version, own, id, of, type, payload] = found;
  const bytes = (value: unknown, size?: number): value is Uint8Array<ArrayBuffer> =>
    value instanceof Uint8Array && (size === undefined || value.length === size);
  if (!integer(version, 1, 255) || !bytes(own, 16) || !bytes(id, 16) || !integer(of, 0, 65535))
    return { reason: "field" };
  if (!integer(type, 0, 65535) || !bytes(payload)) return { reason: "field" };
  if (version !== 2) return { reason: "version" };
  if (own.join() !== ask.join()) return { reason: "another collection" };
  if (of !== round) return { reason: "another round" };
  const parts = types[type];
  if (!parts) return { reason: "unknown report type" };
  if (payload.length !== parts.reduce((sum, [, oracle]) => sum + oracle.width, 0))
    return { reason: "length of the payload" };
  let start = 0;
  for (const [document, oracle] of parts) {
    const reason = fault(document as Document, oracle, payload.slice(start, (start += oracle.width)));
    if (reason) return { reason };
  }
  return { type, id, payload };
}

export const numberOf = number;
