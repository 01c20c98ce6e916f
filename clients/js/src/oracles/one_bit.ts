/** `one_bit`: one bit, 1 with a probability that rises by the same step from level to level. */
import { little } from "../bytes.js";
import { threshold } from "../coins.js";
import { integer } from "../fields.js";
import { checkOdds, fraction, odds, reduced } from "../fraction.js";
import { type Method } from "../oracle.js";

const LARGEST_LEVELS = 2 ** 12;

const oneBit: Method = {
  fields: "loss p size",
  make(own, loss) {
    const size = integer(own, "size", 2, LARGEST_LEVELS);
    const p = fraction(own["p"]);
    checkOdds(odds(p), loss);
    const [top, bottom] = p;
    const steps = BigInt(size - 1);
    const ones = (level: number) =>
      // 1 - p + level (2 p - 1) / steps
      threshold(reduced((bottom - top) * steps + BigInt(level) * (2n * top - bottom), bottom * steps));
    ones(1); // refuses a step that is no multiple of 2^-64
    return {
      sizes: [size],
      width: 1,
      answer: ([level], coins) => little(coins.toss(ones(level!)) ? 1 : 0, 1),
    };
  },
};

export const METHODS = { one_bit: oneBit };
