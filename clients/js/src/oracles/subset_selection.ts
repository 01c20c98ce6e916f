/** `subset_selection`: w of the k values, one's own among them more often than chance. */
import { bits } from "../bytes.js";
import type { Coins } from "../coins.js";
import { integer } from "../fields.js";
import { type Fraction, fraction, reduced } from "../fraction.js";
import { LARGEST_BITS, type Method } from "../oracle.js";
import { must } from "../refusal.js";
import { truth } from "./krr.js";

const LAST = 2 ** 32 - 1;

/** Returns the values with the smallest halves, one's own first or last; drawn again where a tie leaves it open. */
function subset(value: number, first: boolean, size: number, weight: number, coins: Coins): (place: number) => boolean {
  for (;;) {
    const halves = coins.halves(size);
    halves[value] = first ? 0 : LAST;
    const limit = halves.slice().sort()[weight]!;
    if (halves.filter((half) => half < limit).length === weight) return (place) => halves[place]! < limit;
  }
}

/** Returns (w - p) / (k - 1), as it must stand in the document. */
function q(size: number, weight: number, p: Fraction): string {
  const [top, bottom] = size === 1 ? [0n, 1n] : reduced(BigInt(weight) * p[1] - p[0], p[1] * BigInt(size - 1));
  return `${top}/${bottom}`;
}

const subsetSelection: Method = {
  fields: "size loss weight p q",
  make(own, loss) {
    const size = integer(own, "size", 1, LARGEST_BITS);
    const weight = integer(own, "weight", 1, Math.max(1, size - 1));
    const others: Fraction = [BigInt(size - weight), BigInt(weight)];
    const p = truth(own["p"], loss, others);
    must(own["q"] === q(size, weight, fraction(own["p"])), "q");
    return {
      sizes: [size],
      width: (size + 7) >> 3,
      answer([value], coins) {
        const held = coins.toss(p);
        return bits(size, size === 1 ? () => held : subset(value!, held, size, weight, coins));
      },
    };
  },
};

export const METHODS = { subset_selection: subsetSelection };
