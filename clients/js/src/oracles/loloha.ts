/** `loloha`: the cell of a hash that is kept for ever, flipped once for ever and once for every report. */
import { joined, little, width } from "../bytes.js";
import { threshold } from "../coins.js";
import { integer } from "../fields.js";
import { checkOdds, fraction, logarithm, product, quotient, rest, sum, whole } from "../fraction.js";
import { LARGEST, type Method } from "../oracle.js";
import { hashSeed, word } from "../permanent.js";
import { must } from "../refusal.js";
import { respond } from "./krr.js";
import { PRIME, type Seed, bucket } from "./olh.js";

const WHOLE = 2 ** 32;

const loloha: Method = {
  fields: "size loss g other p",
  make(own, loss) {
    const size = integer(own, "size", 1, LARGEST);
    const g = integer(own, "g", 2, 2 ** 16);
    const [u, p, bytes] = [fraction(own["other"]), fraction(own["p"]), width(g)];
    const step = Number(u[0] * BigInt(WHOLE)) / Number(u[1]);
    must(Number.isInteger(step) && step > 0 && step * g < WHOLE, "other");
    must(p[0] && p[0] < p[1], "p");
    const truth = threshold(p);
    const kept = rest(product(u, whole(g - 1)));
    const seen = sum(product(p, kept), product(rest(p), u));
    const wrong = quotient(rest(seen), whole(g - 1));
    checkOdds(quotient(seen, wrong), loss);
    return {
      sizes: [size],
      width: 12 + bytes,
      lifetime: () => logarithm(quotient(kept, u), 1),
      cell: async ([value], slot) => bucket(value!, ...(await hashSeed(slot, PRIME)), g),
      async answer([value], coins, slot) {
        const seed = slot ? await hashSeed(slot, PRIME) : ([0, 0, 0].map(() => coins.small(PRIME)[0]!) as Seed);
        const held = bucket(value!, ...seed, g);
        const place = Math.floor((slot ? await word(slot, held) : coins.halves(1)[0]!) / step);
        const permanent = place < g - 1 ? place + (place >= held ? 1 : 0) : held;
        const answer = respond(permanent, g, truth, coins);
        return joined(...seed.map((one) => little(one, 4)), little(answer, bytes));
      },
    };
  },
};

export const METHODS = { loloha };
