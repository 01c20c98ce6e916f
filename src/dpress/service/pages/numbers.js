/** Numbers for people. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Returns a count, rounded to whole people; a number that is not known is a dash. */
export const count = (value) => (value === null ? "–" : whole.format(value).replace(/^-0$/, "0").replace("-", "−"));

/** Returns a share as percent, with one digit after the point, or two where it is small. */
export const percent = (share) => (share === null ? "–" : `${digits(100 * share)} %`.replace("-", "−"));

/** Returns half of an interval of shares, in percentage points. */
export const points = (share) => (share === null ? "–" : `± ${digits(100 * share)}`);

function digits(value) {
  const found = value.toFixed(Math.abs(value) < 1 ? 2 : Math.abs(value) < 100 ? 1 : 0);
  return Number(found) === 0 ? found.replace("-", "") : found;
}

/** Returns an edge of a cell, without the digits that only a computer needs. */
export const edge = (value) => String(Number(value.toPrecision(7)));

const ENDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1];

/** Returns where an axis of shares ends: a round number above the largest estimate, whatever the noise. */
export function axisEnd(shares) {
  const largest = Math.max(0, ...shares.map((one) => one ?? 0));
  return ENDS.find((end) => end >= 1.2 * largest) ?? 1;
}

/** Returns, below and above an axis from 0, the end of an interval that lies beyond it; null where it does not. */
export const beyond = (low, high, end) => [low !== null && low < 0 ? low : null, high !== null && high > end ? high : null];

/** Returns count, ends and half width of every cell as shares of all. */
export function shares(table, users) {
  const of = (values) => values.map((one) => (one === null ? null : one / users));
  const [low, high] = [of(table.low), of(table.high)];
  return { share: of(table.count), low, high, half: high.map((one, i) => (one === null ? null : (one - low[i]) / 2)) };
}

/** Returns the places of the largest values, largest first. */
export function largest(values, most) {
  return values
    .map((value, place) => [value, place])
    .filter(([value]) => value !== null && value > 0)
    .sort((one, two) => two[0] - one[0])
    .slice(0, most)
    .map(([, place]) => place);
}
