/** `krr`: the value itself, or any other one, all others alike. */
import { little, width } from "../bytes.js";
import { type Coins, type Threshold, coin } from "../coins.js";
import { integer } from "../fields.js";
import { type Fraction, checkOdds, fraction, odds, product, whole } from "../fraction.js";
import { LARGEST, type Method, stated } from "../oracle.js";
import { refuse } from "../refusal.js";

/** Returns a value with a probability, else one of the `size` - 1 others, uniformly. */
export function respond(value: number, size: number, truth: Threshold, coins: Coins): number {
  if (size === 1) return value;
  const honest = coins.toss(truth);
  const [other] = coins.small(size - 1);
  return honest ? value : other! + (other! >= value ? 1 : 0);
}

/** Returns the coin of P(truth) = p among so many answers, once it is checked. */
export function truth(value: unknown, epsilon: Fraction, others: Fraction): Threshold {
  const p = fraction(value);
  const found = coin(p);
  checkOdds(product(odds(p), others), epsilon);
  return found;
}

export const krr: Method = {
  fields: "size loss p",
  make(own) {
    const [size, loss] = [integer(own, "size", 1, LARGEST), stated(own)];
    if (size === 1 && own["p"] !== "1/1") refuse("p: expected 1/1 where there is one answer only");
    const p: Threshold = size === 1 ? [2 ** 32, 0] : truth(own["p"], loss(), whole(size - 1));
    const bytes = width(size);
    const answer = ([value]: readonly number[], coins: Coins) => little(respond(value!, size, p, coins), bytes);
    return { sizes: [size], width: bytes, loss, answer };
  },
};
