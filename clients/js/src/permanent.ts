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

/** Returns so many 32-bit integers, and maybe some more, that a secret draws once for a value. */
async function stream({ secret, collection, number }: Slot, value: number, size: number): Promise<DataView> {
  const head = joined("dpress permanent", collection, little(number, 2), little(value, 4));
  const blocks = range(Math.ceil(size / WORDS), (i) => joined(head, little(i, 4)));
  return new DataView(joined(...(await hmac(secret, blocks))).buffer);
}

/** Returns which bits of a value's string are flipped for ever, each with probability f / 2. */
export async function flips(slot: Slot, value: number, size: number, f: Fraction): Promise<boolean[]> {
  const limit = Number((f[0] << 31n) / f[1]);
  const drawn = await stream(slot, value, size);
  return range(size, (place) => drawn.getUint32(4 * place, true) < limit);
}

/** Returns the 32 bytes that a secret draws once for a message. */
const digest = async (secret: Bytes, ...message: (Bytes | string)[]): Promise<Bytes> =>
  (await hmac(secret, [joined(...message)]))[0]!;

/** Returns a number below n that a secret draws once for a collection, under a label of 16 bytes. */
const drawn = async (label: string, { secret, collection }: Omit<Slot, "number">, n: number): Promise<number> =>
  modulo(await digest(secret, label, collection), n);

export const cohort = (slot: Slot, n: number): Promise<number> => drawn("dpress cohort   ", slot, n);
export const userGroup = (own: Omit<Slot, "number">, n: number): Promise<number> => drawn("dpress group    ", own, n);

/** Returns the three numbers below n of a hash function that a secret draws once for a slot. */
export async function hashSeed(slot: Slot, n: number): Promise<[a: number, b: number, c: number]> {
  const drawn = await digest(slot.secret, "dpress hash     ", slot.collection, little(slot.number, 2));
  return [0, 8, 16].map((start) => modulo(drawn.slice(start, start + 8), n)) as [number, number, number];
}

/** Returns the 32 random bits that a secret draws once for a cell. */
export const word = async (slot: Slot, cell: number): Promise<number> =>
  (await stream(slot, cell, 1)).getUint32(0, true);

/** Returns the name of a permanent response, which tells nothing of the values without the secret. */
export const tag = (slot: Slot, values: readonly number[]): Promise<Bytes> =>
  digest(
    slot.secret,
    "dpress ledger v1",
    slot.collection,
    little(slot.number, 2),
    ...values.map((value) => little(value, 4)),
  );
