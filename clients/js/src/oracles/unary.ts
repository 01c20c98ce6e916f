/** `sue` and `oue`: one bit for every value, each through a coin of its own. */
import { bits } from "../bytes.js";
import { coin } from "../coins.js";
import { integer } from "../fields.js";
import { type Fraction, checkOdds, fraction, odds, quotient, rest } from "../fraction.js";
import { LARGEST_BITS, type Method, stated } from "../oracle.js";
import { refuse } from "../refusal.js";

function unary(fits: (p: Fraction, q: Fraction) => boolean): Method {
  return {
    fields: "size loss p q",
    make(own) {
      const [size, loss] = [integer(own, "size", 1, LARGEST_BITS), stated(own)];
      const [p, q] = [fraction(own["p"]), fraction(own["q"])];
      const [one, zero] = [coin(p), coin(q)];
      if (!fits(p, q)) refuse("p, q: not those of the method");
      checkOdds(quotient(odds(p), odds(q)), loss());
      return {
        sizes: [size],
        width: (size + 7) >> 3,
        loss,
        answer: ([value], coins) => bits(size, (place) => coins.toss(place === value ? one : zero)),
      };
    },
  };
}

export const sue = unary((p, q) => String(rest(p)) === String(q));
export const oue = unary((p) => String(p) === "1,2");
