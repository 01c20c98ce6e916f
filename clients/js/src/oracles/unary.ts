/** `sue` and `oue`: one bit for every value, each through a coin of its own. */
import { bits } from "../bytes.js";
import { threshold } from "../coins.js";
import { integer } from "../fields.js";
import { type Fraction, checkOdds, fraction, odds, quotient, rest } from "../fraction.js";
import { LARGEST_BITS, type Method } from "../oracle.js";
import { must } from "../refusal.js";

function unary(fits: (p: Fraction, q: Fraction) => boolean): Method {
  return {
    fields: "size loss p q",
    make(own, loss) {
      const size = integer(own, "size", 1, LARGEST_BITS);
      const [p, q] = [fraction(own["p"]), fraction(own["q"])];
      const [one, zero] = [threshold(p), threshold(q)];
      must(fits(p, q), "p, q");
      checkOdds(quotient(odds(p), odds(q)), loss);
      return {
        sizes: [size],
        width: (size + 7) >> 3,
        answer: ([value], coins) => bits(size, (place) => coins.toss(place === value ? one : zero)),
      };
    },
  };
}

const sue = unary((p, q) => String(rest(p)) === String(q));
const oue = unary((p) => String(p) === "1,2");

export const METHODS = { sue, oue };
