/** `pcep`: one sign of a random projection of the value, kept or flipped. */
import { type Bytes, bit, joined, little, sha256, unhex, width } from "../bytes.js";
import { type Coins, type Threshold } from "../coins.js";
import { integer, integers, list } from "../fields.js";
import { type Fraction, above, whole } from "../fraction.js";
import { LARGEST, type Method, lossOf } from "../oracle.js";
import { must } from "../refusal.js";
import { total } from "../total.js";
import { truth } from "./krr.js";

const HASH = 256; // signs in a block
const LARGEST_MATRIX = 2 ** 28;

/** A public projection, and the coins that keep a sign at every level. */
export interface Projection {
  readonly rows: number;
  readonly seed: Bytes;
  readonly kept: readonly Threshold[];
  readonly widths: readonly number[];
}

/** Returns the projection of a document with these regions and losses of levels. */
export function projection(
  own: Readonly<Record<string, unknown>>,
  size: number,
  regions: number,
  losses: readonly Fraction[],
): Projection {
  const [rows, seed] = [integer(own, "rows", 1, LARGEST_MATRIX), unhex(own["seed"])];
  const kept = list(own, "probabilities");
  must(rows * size <= LARGEST_MATRIX && seed.length === 16, "rows, seed");
  must(kept.length === losses.length && kept.length <= 256, "probabilities");
  const choice = (number: number) => (number > 1 ? width(number) : 0);
  return {
    rows,
    seed,
    kept: kept.map((p, level) => truth(p, losses[level]!, whole(1))),
    widths: [width(2 * rows), choice(regions), choice(losses.length)],
  };
}

/** Says whether a row has a positive sign for a value. */
export async function positive(seed: Bytes, row: number, value: number): Promise<boolean> {
  const block = Math.floor(value / HASH);
  return bit(await sha256(joined("dpress pcep rows", seed, little(row, 4), little(block, 4))), value % HASH);
}

/** Returns the payload of a value in a region, at a level. */
export async function sign(
  own: Projection,
  value: number,
  region: number,
  level: number,
  coins: Coins,
): Promise<Bytes> {
  const row = coins.below(own.rows);
  const kept = coins.toss(own.kept[level]!);
  const negative = (await positive(own.seed, row, value)) !== kept;
  const numbers = [2 * row + (negative ? 1 : 0), region, level];
  return joined(...own.widths.map((bytes, place) => little(numbers[place]!, bytes)));
}

export const largest = (losses: readonly Fraction[]): Fraction => losses.reduce((a, b) => (above(b, a) ? b : a));

const pcep: Method = {
  fields: "size levels rows regions seed probabilities",
  make(own) {
    const size = integer(own, "size", 1, LARGEST);
    const losses = list(own, "levels").map(lossOf);
    const regions = list(own, "regions").map((region) => integers({ region }, "region", 0, size - 1));
    const made = projection(own, size, regions.length, losses);
    const sound = (region: readonly number[]) => new Set(region).size === region.length && region.length <= made.rows;
    must(regions.every(sound) && new Set(regions.flat()).size === size, "regions");
    const [home] = regions;
    return {
      sizes: [size],
      width: total(made.widths),
      loss: () => largest(losses), // what holds for who knows no better
      answer([value], coins) {
        must(home!.includes(value!), "region");
        return sign(made, value!, 0, 0, coins);
      },
    };
  },
};

export const METHODS = { pcep };
