/** `rr_ldp`: all values of a report one-hot, side by side, through a permanent and an instantaneous response. */
import { type Bytes, bit, bits } from "../bytes.js";
import { integers } from "../fields.js";
import { LARGEST_BITS, type Method } from "../oracle.js";
import { flips } from "../permanent.js";
import { refuse } from "../refusal.js";
import { flipped, responses } from "./responses.js";

export const rrLdp: Method = {
  fields: "sizes f p q",
  make(own) {
    const [sizes, made] = [integers(own, "sizes", 1, LARGEST_BITS), responses(own)];
    const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((a, b) => a + b, 0));
    const size = sizes.reduce((a, b) => a + b);
    if (size > LARGEST_BITS) refuse(`sizes: expected at most ${LARGEST_BITS} bits`);
    const turned = async (values: readonly number[], slot: Parameters<typeof flips>[0]): Promise<Bytes> => {
      const each = values.map((value, i) => flips({ ...slot, number: slot.number + i }, value, sizes[i]!, made.f));
      const places = (await Promise.all(each)).flatMap((own, i) => Array.from({ length: sizes[i]! }, (_, b) => bit(own, b)));
      return bits(size, (place) => places[place]!);
    };
    return {
      sizes,
      width: (size + 7) >> 3,
      loss: () => made.loss(sizes.length),
      lifetime: () => made.lifetime(sizes.length),
      async answer(values, coins, slot) {
        const held = new Set(values.map((value, i) => starts[i]! + value));
        const turn = slot ? await turned(values, slot) : made.fresh(size, coins);
        return made.respond(size, flipped((place) => held.has(place), turn), coins);
      },
    };
  },
};
