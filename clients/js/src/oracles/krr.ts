/** `krr`: the value itself, or any other one, all others alike. */
import { little, width } from "../bytes.js";
import { type Coins, type Threshold, threshold } from "../coins.js";
import { integer } from "../fields.js";
import { type Fraction, checkOdds, fraction, odds, product, whole } from "../fraction.js";
import { LARGEST, type Method } from "../oracle.js";
import { must } from "../refusal.js";

/** Returns a value with a probability, else one of the `size` - 1 others, uniformly. */
export function respond(value: number, size: number, truth: Threshold, coins: Coins): number {
  if (size === 1) return value;
  const honest = coins.toss(truth);
  const [other] = coins.small(size - 1);
  return honest ? value : other! + (other! >= value ? 1 : 0);
}

/** Returns the coin of P(truth) = p with odds of p / (1 - p) times `others`; there may be no other answer. */
export function truth(value: unknown, epsilon: Fraction, others: Fraction): Threshold {
  const p = fraction(value);
  if (others[0]) checkOdds(product(odds(p), others), epsilon);
  else must(value === "1/1", "p");
  return threshold(p);
}

const krr: Method = {
  fields: "size loss p",
  make(own, loss) {
    const size = integer(own, "size", 1, LARGEST);
    const p = truth(own["p"], loss, whole(size - 1));
    const bytes = width(size);
    const answer = ([value]: readonly number[], coins: Coins) => little(respond(value!, size, p, coins), bytes);
    return { sizes: [size], width: bytes, answer };
  },
};

export const METHODS = { krr };
