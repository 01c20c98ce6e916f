/** Exact coins and uniform integers from the system's secure generator, by comparing whole integers. */
import type { Fraction } from "./fraction.js";
import { must } from "./refusal.js";

/** 2^64 p as its high and its low 32 bits; of p = 1 the high ones are 2^32. */
export type Threshold = readonly [high: number, low: number];

const WORDS = 1024; // that are drawn at a time
const WHOLE = 1n << 64n;

/** Returns the threshold of a probability; refuses one that is no multiple of 2^-64 from 0 to 1. */
export function threshold([top, bottom]: Fraction): Threshold {
  must(top <= bottom && WHOLE % bottom === 0n, "a multiple of 2^-64");
  const limit = (top * WHOLE) / bottom;
  return [Number(limit >> 32n), Number(limit & 0xffffffffn)];
}

/** Fills an array with random integers; of a 64-bit word the low half comes first. */
export type Refill = (out: Uint32Array<ArrayBuffer>) => void;

/** Random 64-bit words in the order of their use. A word is used once. */
export class Coins {
  readonly #refill: Refill;
  readonly #buffer: Uint32Array<ArrayBuffer>;
  #place: number;

  /** Draws from the system's secure generator unless another one is given. */
  constructor(refill: Refill = (out) => crypto.getRandomValues(out), words = WORDS) {
    this.#refill = refill;
    this.#buffer = new Uint32Array(2 * words);
    this.#place = 2 * words;
  }

  #next(): number {
    if (this.#place >= this.#buffer.length) {
      this.#refill(this.#buffer);
      this.#place = 0;
    }
    this.#place += 2;
    return this.#place - 2;
  }

  /** Returns true with exactly the probability of the threshold. */
  toss([high, low]: Threshold): boolean {
    const place = this.#next();
    const word = this.#buffer[place + 1]!;
    return word < high || (word === high && this.#buffer[place]! < low);
  }

  /** Returns so many uniform 32-bit integers; half a word may be left over. */
  halves(number: number): Uint32Array<ArrayBuffer> {
    const out = new Uint32Array(number);
    for (let i = 0; i < number; i++) out[i] = this.#buffer[i % 2 ? this.#place - 1 : this.#next()]!;
    return out;
  }

  /** Returns so many uniform integers below n, up to 2^31. */
  small(n: number, number = 1): number[] {
    const limit = BigInt(n);
    return Array.from(this.halves(number), (half) => {
      const found = BigInt(half) * limit;
      const uneven = BigInt.asUintN(32, found) < (1n << 32n) % limit;
      return uneven ? this.small(n)[0]! : Number(found >> 32n);
    });
  }

  /** Returns a uniform 64-bit integer. */
  word(): bigint {
    const [low, high] = this.halves(2);
    return (BigInt(high!) << 32n) | BigInt(low!);
  }

  /** Returns a uniform integer below n, up to 2^53. */
  below(n: number): number {
    const limit = BigInt(n);
    for (;;) {
      const word = this.word();
      if (word < WHOLE - (WHOLE % limit)) return Number(word % limit);
    }
  }

  /** Returns 16 random bytes: a report's id. */
  id(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.halves(4).buffer);
  }
}
