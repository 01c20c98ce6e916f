/** `hadamard`: one random row of a Hadamard matrix and, flipped at times, the value's sign there. */
import { little, width } from "../bytes.js";
import { integer } from "../fields.js";
import { whole } from "../fraction.js";
import { type Method, stated } from "../oracle.js";
import { refuse } from "../refusal.js";
import { truth } from "./krr.js";

const LARGEST = 2 ** 30;

/** Says whether a number has an odd number of ones. */
function odd(number: number): boolean {
  for (let shift = 16; shift; shift >>= 1) number ^= number >> shift;
  return (number & 1) === 1;
}

export const hadamard: Method = {
  fields: "size loss rows p",
  make(own) {
    const [size, loss] = [integer(own, "size", 1, LARGEST), stated(own)];
    const rows = integer(own, "rows", size, LARGEST);
    if (rows & (rows - 1)) refuse("rows: expected a power of two");
    const [p, bytes] = [truth(own["p"], loss(), whole(1)), width(2 * rows)];
    return {
      sizes: [size],
      width: bytes,
      loss,
      answer([value], coins) {
        const kept = coins.toss(p);
        const row = coins.halves(1)[0]! & (rows - 1);
        return little(2 * row + (odd(row & value!) === kept ? 1 : 0), bytes);
      },
    };
  },
};
