/** `rappor`: the Bloom filter of a value's text, in a cohort, through a permanent and an instantaneous response. */
import { joined, little, modulo, sha256 } from "../bytes.js";
import { integer, list, text } from "../fields.js";
import { LARGEST_BITS, type Method } from "../oracle.js";
import { cohort, flips } from "../permanent.js";
import { range } from "../range.js";
import { must } from "../refusal.js";
import { responses } from "./responses.js";

/** Returns the bits that a candidate sets in a cohort. */
export async function bloom(candidate: string, cohort: number, size: number, hashes: number): Promise<Set<number>> {
  const one = (i: number) => sha256(joined("dpress bloom bit", little(cohort, 2), little(i, 2), candidate));
  const digests = await Promise.all(range(hashes, (i) => one(i)));
  return new Set(digests.map((digest) => modulo(digest, size)));
}

const rappor: Method = {
  fields: "candidates f p q bits hashes cohorts",
  make(own) {
    const candidates = list(own, "candidates").map((candidate) => text({ candidate }, "candidate"));
    must(new Set(candidates).size === candidates.length, "candidates");
    const [size, hashes] = [integer(own, "bits", 1, LARGEST_BITS), integer(own, "hashes", 1, 2 ** 16)];
    const [cohorts, made] = [integer(own, "cohorts", 1, 2 ** 16), responses(own)];
    return {
      sizes: [candidates.length],
      width: 2 + ((size + 7) >> 3),
      loss: () => made.loss(hashes),
      lifetime: () => made.lifetime(hashes),
      async answer([value], coins, slot) {
        const group = slot ? await cohort(slot, cohorts) : coins.below(cohorts);
        const turned = slot ? await flips(slot, value!, size, made.f) : made.fresh(size, coins);
        const held = await bloom(candidates[value!]!, group, size, hashes);
        const kept = range(size, (place) => held.has(place) !== turned[place]);
        return joined(little(group, 2), made.respond(kept, coins));
      },
    };
  },
};

export const METHODS = { rappor };
