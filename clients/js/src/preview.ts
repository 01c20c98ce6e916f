/** A plain sentence of what a report reveals. */
import type { Attribute } from "./attribute.js";
import { number } from "./fraction.js";
import type { Options } from "./options.js";
import type { Report } from "./report.js";
import { total } from "./total.js";

export interface Preview {
  /** A report as it would be sent; the next one draws other coins. */
  readonly bytes: Uint8Array;
  readonly sentence: string;
}

const ratio = (epsilons: readonly number[]): string => {
  const epsilon = total(epsilons);
  return `at most ${Math.exp(epsilon).toPrecision(3)} times (epsilon ${epsilon.toPrecision(3)})`;
};

/**
 * Returns the bytes of a report, and what they reveal: alone, one in each of so many rounds together, and what a round
 * would add that nobody has spoken of yet. No rounds: this device answers one, whatever is added.
 */
export function previewOf(
  { packed, type, charges }: Report,
  attributes: readonly Attribute[],
  rounds: number | null,
  { limit, titles = {} }: Pick<Options, "limit" | "titles">,
): Preview {
  const called = (name: string): string => (Object.hasOwn(titles, name) ? titles[name]! : name);
  const names = attributes.flatMap((one) => one.sizes.map(() => called(one.name)));
  const about = [...new Set(type.parts.flatMap((part) => part.axes.map((axis) => names[axis]!)))].join(", ");
  const clear = type.parts.flatMap(({ oracle }) => oracle.clear ?? []);
  const kept = charges.every((one) => one.permanent);
  const together = ratio(charges.map((one) => number(one.loss) * (one.permanent ? 1 : (rounds ?? 1))));
  const added = total(charges.map((one) => (one.permanent ? 0 : number(one.loss)))).toPrecision(3);
  const sentences = [
    `These ${packed.length} bytes are a random answer about ${about};`,
    `other values give them ${ratio(type.parts.map((part) => number(part.oracle.loss())))} less often.`,
    ...(kept || (rounds ?? 1) > 1
      ? [`All reports of the same values${kept ? "" : ` in ${rounds} rounds`} together: ${together}.`]
      : []),
    ...(kept || !rounds
      ? []
      : [
          `A round that is added later and answered adds epsilon ${added},`,
          limit === undefined ? "without a limit." : `up to ${limit} in all collections.`,
        ]),
    ...clear.map((what) => `They name in clear ${what}; that holds only within.`),
  ];
  return { bytes: packed, sentence: sentences.join(" ") };
}
