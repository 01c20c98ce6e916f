/** What a device has given away: charges in the order they were made, and what they add up to. */
import { asFraction, exact } from "./decimal.js";
import { type Fraction, above, fraction, number, sum } from "./fraction.js";
import { refuse } from "./refusal.js";
import type { Charge } from "./report.js";

/** A charge as it is kept; its name tells nothing of a value without the device's secret. */
export interface Line {
  readonly collection: string;
  readonly name: string;
  readonly loss: string;
  readonly permanent: boolean;
}

export interface Account {
  /** The sum of all charges, epsilon. */
  readonly spent: number;
  readonly limit: number | null;
  /** Every charge: once for a permanent response and its values, else for every report. */
  readonly charges: readonly { readonly collection: string; readonly epsilon: number; readonly permanent: boolean }[];
}

const total = (lines: readonly Line[]): Fraction =>
  lines.reduce<Fraction>((spent, line) => sum(spent, fraction(line.loss)), [0n, 1n]);

/** Returns a limit as the exact number that its shortest decimal names. */
export function limitOf(limit: number | undefined): Fraction | undefined {
  const found = limit === undefined ? undefined : exact(limit);
  if (limit !== undefined && !(limit >= 0 && limit < Infinity)) refuse("limit: expected a number >= 0");
  return found && asFraction(found);
}

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
export const shown = (lines: readonly Line[], limit: number | undefined): Account => ({
  spent: number(total(lines)),
  limit: limit ?? null,
  charges: lines.map(({ collection, loss, permanent }) => ({ collection, epsilon: number(fraction(loss)), permanent })),
});
