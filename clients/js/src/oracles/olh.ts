/** `olh`: a random hash function, and the value's bucket under it by randomised response over the buckets. */
import { joined, little, width } from "../bytes.js";
import { integer } from "../fields.js";
import { whole } from "../fraction.js";
import { LARGEST, type Method } from "../oracle.js";
import { respond, truth } from "./krr.js";

export type Seed = [a: number, b: number, c: number];
export const PRIME = 2 ** 31 - 1;

/** Returns the bucket of a value under (c v^2 + a v + b) mod P. */
export function bucket(value: number, a: number, b: number, c: number, g: number): number {
  const [v, prime] = [BigInt(value), BigInt(PRIME)];
  const hash = Number(((BigInt(c) * v + BigInt(a)) * v + BigInt(b)) % prime);
  return Math.floor((hash * g) / 2 ** 31);
}

const olh: Method = {
  fields: "size loss g p",
  make(own, loss) {
    const size = integer(own, "size", 1, LARGEST);
    const g = integer(own, "g", 2, 2 ** 16);
    const [p, bytes] = [truth(own["p"], loss, whole(g - 1)), width(g)];
    return {
      sizes: [size],
      width: 12 + bytes,
      answer([value], coins) {
        const seed = coins.small(PRIME, 3) as Seed;
        const answer = respond(bucket(value!, ...seed, g), g, p, coins);
        return joined(...seed.map((one) => little(one, 4)), little(answer, bytes));
      },
    };
  },
};

export const METHODS = { olh };
