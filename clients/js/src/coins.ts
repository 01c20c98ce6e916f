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

/** Returns the threshold of a probability strictly between 0 and 1. */
export function coin(p: Fraction): Threshold {
  must(p[0] > 0n && p[0] < p[1], "a probability");
  return threshold(p);
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
    this.#place = this.#buffer.length;
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
    for (let i = 0; i < number; i += 2) {
      const place = this.#next();
      out[i] = this.#buffer[place]!;
      if (i + 1 < number) out[i + 1] = this.#buffer[place + 1]!;
    }
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

  /** Returns a uniform integer below n, up to 2^53. */
  below(n: number): number {
    const limit = BigInt(n);
    for (;;) {
      const place = this.#next();
      const word = (BigInt(this.#buffer[place + 1]!) << 32n) | BigInt(this.#buffer[place]!);
      if (word < WHOLE - (WHOLE % limit)) return Number(word % limit);
    }
  }

  /** Returns 16 random bytes: a report's id. */
  id(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.halves(4).buffer);
  }
}
