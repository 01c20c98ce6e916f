/** What a device has given away: charges in the order they were made, and what they add up to. */
import { type Fraction, above, fraction, number, sum } from "./fraction.js";
import { refuse } from "./refusal.js";
import type { Charge } from "./report.js";

/** A charge as it is kept: once for a permanent response and its values, else for every report. */
export interface Line {
  /** The first 16 bytes of the id, those of the first round, hexadecimal. */
  readonly collection: string;
  /** What is not charged twice; it tells nothing of a value without the device's secret. */
  readonly name: string;
  /** Epsilon, an exact "num/den". */
  readonly loss: string;
  readonly permanent: boolean;
}

export interface Account {
  /** The sum of all charges, epsilon. */
  readonly spent: number;
  readonly limit: number | null;
  readonly charges: readonly Line[];
}

const total = (lines: readonly Line[]): Fraction =>
  lines.reduce<Fraction>((spent, line) => sum(spent, fraction(line.loss)), [0n, 1n]);

/** Returns a limit as an exact number of nine decimals. */
export const limitOf = (limit: number | undefined): Fraction | undefined =>
  limit === undefined ? undefined : [BigInt(Math.round(limit * 1e9)), 10n ** 9n];

/** Returns the lines with those that are new; refuses all of them where the limit does not allow them. */
export function charged(
  lines: readonly Line[],
  collection: string,
  charges: readonly Charge[],
  limit: Fraction | undefined,
): readonly Line[] {
  const fresh = charges.filter((one) => !lines.some((line) => line.name === one.name));
  const made = fresh.map(({ name, loss, permanent }) => ({ collection, name, loss: loss.join("/"), permanent }));
  const all = [...lines, ...made];
  if (made.length && limit && above(total(all), limit))
    refuse(`budget exceeded: limit ${number(limit)}, spent ${number(total(lines))}, asked ${number(total(made))}`);
  return all;
}

/** Returns the account for people. */
export const shown = (charges: readonly Line[], limit: number | undefined): Account => ({
  spent: number(total(charges)),
  limit: limit ?? null,
  charges,
});
