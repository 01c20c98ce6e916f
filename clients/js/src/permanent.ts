/** What a device derives from its secret, for ever: the flips of a permanent response, its cohort, its user group. */
import { type Bytes, hmac, joined, little, modulo } from "./bytes.js";
import type { Fraction } from "./fraction.js";
import { range } from "./range.js";

/** A secret, 16 bytes that name the collection, and the number of an attribute's answer in it. */
export interface Slot {
  readonly secret: Bytes;
  readonly collection: Bytes;
  readonly number: number;
}

const WORDS = 8; // in a block

/** Returns which bits of a value's string are flipped for ever, each with probability f / 2. */
export async function flips(slot: Slot, value: number, size: number, f: Fraction): Promise<boolean[]> {
  const limit = Number((f[0] << 31n) / f[1]);
  const head = joined("dpress permanent", slot.collection, little(slot.number, 2), little(value, 4));
  const blocks = range(Math.ceil(size / WORDS), (i) => joined(head, little(i, 4)));
  const stream = new DataView(joined(...(await hmac(slot.secret, blocks))).buffer);
  return range(size, (place) => stream.getUint32(4 * place, true) < limit);
}

/** Returns a number below n that a secret draws once for a collection, under a label of 16 bytes. */
async function drawn(label: string, { secret, collection }: Omit<Slot, "number">, n: number): Promise<number> {
  const [digest] = await hmac(secret, [joined(label, collection)]);
  return modulo(digest!, n);
}

export const cohort = (slot: Slot, n: number): Promise<number> => drawn("dpress cohort   ", slot, n);
export const userGroup = (own: Omit<Slot, "number">, n: number): Promise<number> => drawn("dpress group    ", own, n);

/** Returns the three numbers below n of a hash function that a secret draws once for a slot. */
export async function hashSeed(slot: Slot, n: number): Promise<[a: number, b: number, c: number]> {
  const [digest] = await hmac(slot.secret, [joined("dpress hash     ", slot.collection, little(slot.number, 2))]);
  return [0, 8, 16].map((start) => modulo(digest!.slice(start, start + 8), n)) as [number, number, number];
}

/** Returns the 32 random bits that a secret draws once for a cell. */
export async function word(slot: Slot, cell: number): Promise<number> {
  const head = joined("dpress permanent", slot.collection, little(slot.number, 2), little(cell, 4), little(0, 4));
  const [digest] = await hmac(slot.secret, [head]);
  return new DataView(digest!.buffer).getUint32(0, true);
}

/** Returns the name of a permanent response, which tells nothing of the values without the secret. */
export async function tag(slot: Slot, values: readonly number[]): Promise<Bytes> {
  const codes = values.map((value) => little(value, 4));
  const message = joined("dpress ledger v1", slot.collection, little(slot.number, 2), ...codes);
  return (await hmac(slot.secret, [message]))[0]!;
}
