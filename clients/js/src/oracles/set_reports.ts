/** `set_reports`: w of the asked values and of dummies, more often such that some of one's own are among them. */
import { bits } from "../bytes.js";
import type { Coins } from "../coins.js";
import { integer } from "../fields.js";
import type { Method } from "../oracle.js";
import { wordSizes } from "../attributes/sets.js";
import { range } from "../range.js";
import { truth } from "./krr.js";

const MOST = 1024;

/** Returns in how many ways so many of n are chosen. */
function ways(n: number, chosen: number): bigint {
  let found = 1n;
  for (let i = 0; i < chosen; i++) found = (found * BigInt(n - i)) / BigInt(i + 1);
  return found;
}

/** Returns a place with a probability in proportion to its weight, exactly. */
function byWeight(weights: readonly bigint[], coins: Coins): number {
  const sum = weights.reduce((a, b) => a + b);
  let end = 0n;
  let ends = weights.slice(0, -1).map((one) => (end += one));
  let found = 0;
  do {
    const word = coins.word();
    const heads = ends.map((end) => (end << 64n) / sum);
    found += heads.filter((head) => head < word).length;
    ends = ends.filter((_, i) => heads[i] === word).map((end) => (end << 64n) % sum);
  } while (ends.length);
  return found;
}

/** Returns some of the places, all sets of so many alike likely; drawn again where a tie leaves it open. */
function some(places: readonly number[], amount: number, size: number, coins: Coins): readonly number[] {
  for (;;) {
    if (!amount) return [];
    const halves = coins.halves(size);
    const last = places.map((place) => halves[place]!).sort((a, b) => a - b)[amount - 1]!;
    const found = places.filter((place) => halves[place]! <= last);
    if (found.length === amount) return found;
  }
}

const setReports: Method = {
  fields: "values first size cap loss weight meets",
  make(own, loss) {
    const values = integer(own, "values", 1, MOST);
    const first = integer(own, "first", 0, values - 1);
    const size = integer(own, "size", 1, values - first);
    const cap = integer(own, "cap", 1, values);
    const weight = integer(own, "weight", 1, size);
    const held = Math.min(cap, size);
    const all = size + held;
    const missing = ways(size, weight);
    const meets = truth(own["meets"], loss, [missing, ways(all, weight) - missing]);
    const shared = range(Math.min(held, weight), (i) => ways(held, i + 1) * ways(size, weight - i - 1));
    const every = range(Math.max(values, all), (place) => place);
    return {
      sizes: wordSizes(values),
      width: (all + 7) >> 3,
      answer(words, coins) {
        let mine = every.filter((place) => place < values && (words[place >> 4]! >> (place & 15)) & 1);
        if (mine.length > cap) mine = [...some(mine, cap, values, coins)];
        mine = mine.map((place) => place - first).filter((place) => place >= 0 && place < size);
        const padded = new Set([...mine, ...every.slice(size, all - mine.length)]);
        const rest = every.filter((place) => place < all && !padded.has(place));
        const amount = coins.toss(meets) ? 1 + byWeight(shared, coins) : 0;
        const own = some([...padded], amount, all, coins);
        const chosen = new Set([...own, ...some(rest, weight - amount, all, coins)]);
        return bits(all, (place) => chosen.has(place));
      },
    };
  },
};

export const METHODS = { set_reports: setReports };
