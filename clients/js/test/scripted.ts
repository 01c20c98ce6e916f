/** Coins that are the given 64-bit words, in their order, and no others. */
import { Coins } from "../src/coins.js";

export function scripted(words: readonly string[]): Coins & { left(): number } {
  const given = words.map((word) => BigInt(`0x${word}`));
  let used = 0;
  const refill = (out: Uint32Array): void => {
    if (used >= given.length) throw new Error("more words are drawn than there are");
    const word = given[used++]!;
    out[0] = Number(word & 0xffffffffn);
    out[1] = Number(word >> 32n);
  };
  return Object.assign(new Coins(refill, 1), { left: () => given.length - used });
}
