/** Bytes: numbers with the lowest byte first, hexadecimal digits, bits, hashes. */
import { must } from "./refusal.js";
import { total } from "./total.js";

export type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the fewest bytes, at least one, that hold 0 to `numbers` - 1. */
export function width(numbers: number): number {
  let bytes = 1;
  while (256 ** bytes < numbers) bytes++;
  return bytes;
}

/** Returns a number in so many bytes. */
export function little(value: number, bytes: number): Bytes {
  return Uint8Array.from({ length: bytes }, (_, place) => Math.floor(value / 256 ** place));
}

/** Returns bytes one after the other; of a number the lowest counts, a text stands for its bytes in UTF-8. */
export function joined(...parts: (ArrayLike<number> | string)[]): Bytes {
  const all = parts.map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : part));
  const out = new Uint8Array(total(all.map((part) => part.length)));
  let start = 0;
  for (const part of all) {
    out.set(part, start);
    start += part.length;
  }
  return out;
}

export const hex = (bytes: Uint8Array): string => [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");

/** Returns the bytes of lower-case hexadecimal digits. */
export function unhex(value: unknown): Bytes {
  must(typeof value === "string" && /^([0-9a-f]{2})*$/.test(value), "digits");
  return Uint8Array.from(value.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export const bit = (bytes: Uint8Array, place: number): boolean => ((bytes[place >> 3]! >> (place & 7)) & 1) === 1;

/** Returns a string of bits, the lowest bit of the first byte first. */
export function bits(size: number, held: (place: number) => boolean): Bytes {
  const out = new Uint8Array((size + 7) >> 3);
  for (let place = 0; place < size; place++) if (held(place)) out[place >> 3]! |= 1 << (place & 7);
  return out;
}

/** Returns bytes 0 to 7 as a number below n. */
export const modulo = (bytes: Bytes, n: number): number =>
  Number(new DataView(bytes.buffer).getBigUint64(0, true) % BigInt(n));

export const sha256 = async (message: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", message));

/** Returns HMAC-SHA256 of every message. */
export async function hmac(secret: Bytes, messages: readonly Bytes[]): Promise<Bytes[]> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return Promise.all(messages.map(async (one) => new Uint8Array(await crypto.subtle.sign("HMAC", key, one))));
}
