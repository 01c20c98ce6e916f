/** The two responses of a string of bits: flipped for ever or afresh, then drawn anew for every report. */
import { type Bytes, bits } from "../bytes.js";
import { type Coins, type Threshold, threshold } from "../coins.js";
import type { Fields } from "../fields.js";
import {
  type Fraction,
  above,
  fraction,
  logarithm,
  odds,
  product,
  quotient,
  reduced,
  rest,
  sum,
  whole,
} from "../fraction.js";
import { range } from "../range.js";
import { must } from "../refusal.js";

export interface Responses {
  readonly f: Fraction;
  /** The loss of one report where so many pairs of bits differ, and of any number of them. */
  loss(pairs: number): Fraction;
  lifetime(pairs: number): Fraction;
  /** Returns flips that are drawn afresh, by bits. */
  fresh(size: number, coins: Coins): readonly boolean[];
  /** Returns one instantaneous response to a permanent one, given bit by bit. */
  respond(permanent: readonly boolean[], coins: Coins): Bytes;
}

const tosses = (size: number, limit: Threshold, coins: Coins): boolean[] =>
  range(((size + 7) >> 3) * 8, () => coins.toss(limit));

/** Returns the responses of a document with the fields f, p and q. */
export function responses(own: Fields): Responses {
  const [f, p, q] = [fraction(own["f"]), fraction(own["p"]), fraction(own["q"])];
  must(f[0] && f[0] < f[1] && (1n << 31n) % f[1] === 0n && above(q, p), "f, p, q");
  const [one, zero] = [threshold(q), threshold(p)];
  const flip = reduced(f[0], 2n * f[1]);
  const mixed = (own: Fraction, other: Fraction) => sum(product(rest(flip), own), product(flip, other));
  const ratio = quotient(odds(mixed(q, p)), odds(mixed(p, q)));
  const ever = quotient(whole(1), odds(flip));
  return {
    f,
    loss: (pairs) => logarithm(ratio, pairs),
    lifetime: (pairs) => logarithm(product(ever, ever), pairs),
    fresh: (size, coins) => tosses(size, threshold(flip), coins),
    respond(permanent, coins) {
      const [ones, zeros] = [one, zero].map((limit) => tosses(permanent.length, limit, coins));
      return bits(permanent.length, (place) => (permanent[place] ? ones : zeros)![place]!);
    },
  };
}
