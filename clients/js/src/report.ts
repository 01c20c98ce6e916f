/** From values to a packed report: the report type, its parts side by side, and what the answer costs. */
import type { Ask, ReportType } from "./ask.js";
import { type Bytes, hex, joined } from "./bytes.js";
import type { Coins } from "./coins.js";
import type { Fraction } from "./fraction.js";
import { tag, userGroup } from "./permanent.js";
import { refuse } from "./refusal.js";
import { total } from "./total.js";

/** A loss under a name; the same name is never charged twice. */
export interface Charge {
  readonly name: string;
  readonly loss: Fraction;
  readonly permanent: boolean;
}

export interface Report {
  readonly id: string;
  readonly type: ReportType;
  readonly packed: Bytes;
  readonly charges: readonly Charge[];
}

const VERSION = 2;

/** Returns an integer in MessagePack's shortest form; up to 2^16. */
const integer = (value: number): number[] =>
  value < 0x80 ? [value] : value < 0x100 ? [0xcc, value] : [0xcd, value >> 8, value];

/** Returns bytes in MessagePack's shortest form. */
function binary(bytes: Uint8Array): Bytes {
  const size = bytes.length;
  const head = size < 0x100 ? [0xc4] : size < 0x10000 ? [0xc5, size >> 8] : [0xc6, size >> 24, size >> 16, size >> 8];
  return joined([...head, size], bytes);
}

/** Returns the six fields of a report, packed. */
export const pack = (ask: Bytes, id: Bytes, round: number, type: number, payload: Bytes): Bytes =>
  joined([0x96, VERSION], binary(ask), binary(id), integer(round), integer(type), binary(payload));

/** Returns the number of the report type that a secret answers; refuses where its user group has another round. */
export async function typeOf(ask: Ask, secret: Bytes): Promise<number> {
  const weights = ask.rounds ? ask.rounds.types : ask.types.map((one) => one.weight);
  let left =
    ask.types.length > 1 || ask.rounds ? await userGroup({ secret, collection: ask.collection }, total(weights)) : 0;
  let place = 0;
  while (left >= weights[place]!) left -= weights[place++]!;
  if (!ask.rounds) return place;
  return place === ask.rounds.number ? left : refuse(`this device reports in round ${place}, counted from 0`);
}

/** Returns a report about these codes, and what it costs: a permanent response once, anything else every time. */
export async function answer(
  ask: Ask,
  round: number,
  codes: readonly number[],
  secret: Bytes,
  coins: Coins,
): Promise<Report> {
  const number = await typeOf(ask, secret);
  const [type, id] = [ask.types[number]!, coins.id()];
  const [payload, charges]: [Bytes[], Charge[]] = [[], []];
  let slot = type.slot;
  for (const { axes, encoder, oracle } of type.parts) {
    const own = axes.map((axis) => codes[axis]!);
    const permanent = encoder.plain && oracle.lifetime;
    const place = { secret, collection: ask.collection, number: slot };
    payload.push(await oracle.answer(encoder.values(own), coins, permanent ? place : undefined));
    charges.push({
      name: permanent
        ? hex(await tag(place, oracle.cell ? [await oracle.cell(encoder.values(own), place)] : own))
        : `${hex(id)} ${slot}`,
      loss: permanent ? oracle.lifetime!() : oracle.loss(),
      permanent: Boolean(permanent),
    });
    slot += axes.length;
  }
  return { id: hex(id), type, packed: pack(ask.id, id, round, number, joined(...payload)), charges };
}
