/** `rr_ldp`: all values of a report one-hot, side by side, through a permanent and an instantaneous response. */
import { integers } from "../fields.js";
import { LARGEST_BITS, type Method } from "../oracle.js";
import { flips } from "../permanent.js";
import { range } from "../range.js";
import { must } from "../refusal.js";
import { total } from "../total.js";
import { responses } from "./responses.js";

const rrLdp: Method = {
  fields: "sizes f p q",
  make(own) {
    const [sizes, made] = [integers(own, "sizes", 1, LARGEST_BITS), responses(own)];
    const size = total(sizes);
    must(size <= LARGEST_BITS, "sizes");
    return {
      sizes,
      width: (size + 7) >> 3,
      loss: () => made.loss(sizes.length),
      lifetime: () => made.lifetime(sizes.length),
      async answer(values, coins, slot) {
        const kept =
          slot && sizes.map((each, i) => flips({ ...slot, number: slot.number + i }, values[i]!, each, made.f));
        const turned = kept ? (await Promise.all(kept)).flat() : made.fresh(size, coins);
        const held = sizes.flatMap((each, i) => range(each, (code) => code === values[i]));
        return made.respond(
          held.map((one, place) => one !== turned[place]),
          coins,
        );
      },
    };
  },
};

export const METHODS = { rr_ldp: rrLdp };
