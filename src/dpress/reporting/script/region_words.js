/** Words about tables of regions: what a table is called, what conditions say, a share in percent. */
import { interval, number, unitFor } from "./rounding.js";

const FINEST = 0.01; // of a percent

/** Returns what a table of these attributes is called. */
export const titleOf = (attributes, axes) => axes.map((axis) => attributes[axis].caption).join(" × ");

/** Returns 1 for the cells of a run, else 0. */
export const weightsOf = (size, [first, last]) =>
  Float64Array.from({ length: size }, (_, i) => (i >= first && i <= last ? 1 : 0));

/** Returns conditions in words. */
export function wordsOf(attributes, conditions) {
  const words = Object.entries(conditions).map(([axis, weights]) => {
    const [first, last] = [weights.indexOf(1), weights.lastIndexOf(1)];
    const { caption, labels } = attributes[axis];
    return `${caption} ${first === last ? labels[first] : `${labels[first]} to ${labels[last]}`}`;
  });
  return words.join(", ") || "everybody";
}

/** Returns a share in percent, in no more digits than its error warrants. */
export const percent = (value, spread) =>
  value === null ? number(null) : Number.isNaN(value) ? "not known" : `${number(100 * value, unitOf(spread))} %`;

/** Returns the interval of a share in percent, its ends rounded outward. */
export const percentBetween = ([low, high], spread) =>
  low === null
    ? number(null)
    : Number.isNaN(low)
      ? "not known"
      : `${interval(100 * low, 100 * high, unitOf(spread))} %`;

const unitOf = (spread) => Math.max(spread > 0 ? unitFor(100 * spread) : FINEST, FINEST);

/** Returns the digits of a count: those that its error warrants, whole where it is whole. */
export const unitOfCount = ({ value, standardError, base = 1 }) =>
  base > 1 ? base : value % 1 ? unitFor(standardError) : Math.max(1, unitFor(standardError));
