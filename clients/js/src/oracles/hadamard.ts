/** `hadamard`: one random row of a Hadamard matrix and, flipped at times, the value's sign there. */
import { little, width } from "../bytes.js";
import { integer } from "../fields.js";
import { whole } from "../fraction.js";
import { type Method } from "../oracle.js";
import { must } from "../refusal.js";
import { truth } from "./krr.js";

const LARGEST = 2 ** 30;

/** Says whether a number has an odd number of ones. */
function odd(number: number): boolean {
  for (let shift = 16; shift; shift >>= 1) number ^= number >> shift;
  return (number & 1) === 1;
}

const hadamard: Method = {
  fields: "size loss rows p",
  make(own, loss) {
    const size = integer(own, "size", 1, LARGEST);
    const rows = integer(own, "rows", size, LARGEST);
    must(!(rows & (rows - 1)), "rows");
    const [p, bytes] = [truth(own["p"], loss, whole(1)), width(2 * rows)];
    return {
      sizes: [size],
      width: bytes,
      answer([value], coins) {
        const kept = coins.toss(p);
        const row = coins.halves(1)[0]! & (rows - 1);
        return little(2 * row + (odd(row & value!) === kept ? 1 : 0), bytes);
      },
    };
  },
};

export const METHODS = { hadamard };
