/** A plain sentence of what a report reveals. */
import type { Attribute } from "./attribute.js";
import { type Fraction, number, sum } from "./fraction.js";
import type { Report } from "./report.js";

export interface Preview {
  /** A report as it would be sent; the next one draws other coins. */
  readonly bytes: Uint8Array;
  readonly sentence: string;
}

const ratio = (losses: readonly Fraction[]): string => {
  const epsilon = number(losses.reduce(sum));
  return `${Math.exp(epsilon).toPrecision(3)} times (epsilon ${epsilon.toPrecision(3)})`;
};

/** Returns the bytes of a report, and what they reveal. */
export function previewOf({ packed, type }: Report, attributes: readonly Attribute[]): Preview {
  const names = attributes.flatMap((one) => one.sizes.map(() => one.name));
  const about = [...new Set(type.parts.flatMap((part) => part.axes.map((axis) => names[axis]!)))].join(", ");
  const losses = type.parts.map((part) => part.oracle.loss());
  const clear = type.parts.flatMap(({ oracle }) => oracle.clear ?? []);
  const lifetimes = type.parts.flatMap(({ encoder, oracle }) =>
    encoder.plain && oracle.lifetime ? [oracle.lifetime()] : [],
  );
  const kept = lifetimes.length === type.parts.length;
  const sentences = [
    `These ${packed.length} bytes are a random answer about ${about};`,
    `other values give them at most ${ratio(losses)} less often.`,
    ...(kept ? [`All reports of the same values together: at most ${ratio(lifetimes)}.`] : []),
    ...clear.map((what) => `They name in clear ${what}; that holds only within.`),
  ];
  return { bytes: packed, sentence: sentences.join(" ") };
}
