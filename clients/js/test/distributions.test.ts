/** Every oracle draws its exact channel. The coins are seeded, and a channel that spends 5 % more is told apart; 10 to
 * 25 % where a report needs a hash, of which fewer are made.
 */
import { describe, expect, it } from "vitest";
import { readOracle } from "../src/oracles/read.js";
import { cohort, flips, userGroup } from "../src/permanent.js";
import { type Document, oracleOf } from "./asks.js";
import { channel, flipChances, flippedKey } from "./channels.js";
import { fits } from "./chi_square.js";
import { seeded, stream } from "./seeded.js";

/** Every document, the values, the number of reports, and by how much more epsilon the planted fault spends. */
const CASES: [Document, number[], reports: number, more: number][] = [
  [oracleOf("krr", 5), [3], 250_000, 0.05],
  [{ ...oracleOf("sue", 9), size: 4 }, [2], 400_000, 0.05],
  [{ ...oracleOf("oue", 9), size: 4 }, [1], 400_000, 0.05],
  [oracleOf("subset_selection", 9), [8], 400_000, 0.05],
  [oracleOf("hadamard", 5), [4], 400_000, 0.05],
  [oracleOf("olh", 6), [5], 400_000, 0.05],
  [oracleOf("loloha", 6), [3], 100_000, 0.1],
  [oracleOf("pgr", 9), [6], 400_000, 0.05],
  [oracleOf("disk_reports"), [7], 400_000, 0.05],
  [oracleOf("square_wave"), [6], 200_000, 0.1],
  [oracleOf("circular_wave"), [6], 200_000, 0.1],
  [oracleOf("one_bit"), [4], 100_000, 0.1],
  [oracleOf("pcep"), [2], 60_000, 0.2],
  [oracleOf("safe_regions"), [9], 60_000, 0.25],
  [{ ...oracleOf("rr_ldp"), sizes: [2, 2] }, [1, 0], 100_000, 0.1],
  [{ ...oracleOf("rappor"), bits: 4 }, [1], 80_000, 0.2],
];

/** Returns the probability whose odds are e^extra times those of a fraction. */
function moved(fraction: unknown, extra: number): string {
  const [top, bottom] = String(fraction).split("/").map(Number) as [number, number];
  const odds = (top / (bottom - top)) * Math.exp(extra);
  return `${(odds / (1 + odds)) * 2 ** 40}/${2 ** 40}`;
}

/** Returns a document whose reports cost so much more than they should. */
function overspent(own: Document, more: number): Document {
  if (own["f"]) return { ...own, f: `${1 - more}/2` }; // f is 1/2 in the vectors
  const [loss] = Array.isArray(own["levels"]) ? own["levels"] : [own["loss"]];
  const [top, bottom] = (loss as { epsilon: string }).epsilon.split("/").map(Number) as [number, number];
  const extra = (more * top) / bottom;
  switch (own.method) {
    case "sue":
      return { ...own, p: moved(own["p"], extra / 2), q: moved(own["q"], -extra / 2) };
    case "oue":
      return { ...own, q: moved(own["q"], -extra) };
    case "circular_wave":
    case "square_wave":
    case "piecewise":
    case "disk_reports":
      return { ...own, truth: moved(own["truth"], extra) };
    case "pcep":
    case "safe_regions":
      return { ...own, probabilities: (own["probabilities"] as string[]).map((p) => moved(p, extra)) };
  }
  return { ...own, p: moved(own["p"], extra) };
}

for (const [own, values, reports, more] of CASES)
  it(`${own.method} draws its exact channel, and none of ${more} more epsilon`, async () => {
    const [oracle, coins, exact] = [readOracle(own), seeded(own.method), await channel(own, values)];
    const counts = new Map<string, number>();
    for (let i = 0; i < reports; i++) {
      const key = await exact.key(await oracle.answer(values, coins));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(fits(counts, exact.chances)).toBe(true);
    expect(fits(counts, (await channel(overspent(own, more), values)).chances)).toBe(false);
  }, 1_200_000);

describe("permanent responses of many secrets", () => {
  const next = stream("secrets");
  const slots = Array.from({ length: 20_000 }, () => ({
    secret: new Uint8Array(next(32)),
    collection: new Uint8Array(16),
    number: 3,
  }));
  const counted = (keys: readonly string[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };

  it("flip every bit with probability f / 2, independently", async () => {
    const keys = await Promise.all(slots.map(async (slot) => flippedKey(await flips(slot, 2, 4, [1n, 2n]))));
    expect(fits(counted(keys), flipChances(4, 0.5))).toBe(true);
    expect(fits(counted(keys), flipChances(4, 0.54))).toBe(false);
  });

  it("make cohorts and user groups of one size", async () => {
    const even = new Map(["0", "1", "2", "3", "4"].map((key) => [key, 0.2]));
    const skewed = new Map([...even].map(([key], i) => [key, [0.22, 0.18, 0.2, 0.2, 0.2][i]!]));
    for (const draw of [cohort, userGroup]) {
      const keys = await Promise.all(slots.map(async (slot) => String(await draw(slot, 5))));
      expect(fits(counted(keys), even)).toBe(true);
      expect(fits(counted(keys), skewed)).toBe(false);
    }
  });
});
