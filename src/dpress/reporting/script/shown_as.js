/** Which numbers a release shows: too uncertain ones are hidden and counts rounded; see `dpress.inference.suppression`. */

const NORMAL = 1.959963984540054; // half the width of a 95 % interval, in standard errors
const NOTHING = { value: null, half: null, standardError: null, interval: [null, null] };

/** Returns an answer as it is shown: of null alone where its rules, or those of the count behind it, hide it. */
export function shownAs({ rules, base }, answer, { count = answer.value, rounded = true } = {}) {
  const { value, standardError, interval } = answer;
  const width = interval[1] - interval[0];
  const spreads = { cv: Number.isFinite(standardError) ? standardError : width / (2 * NORMAL), width };
  const hides = ({ measure, bound }) =>
    measure === "count" ? count < bound : spreads[measure] > bound * Math.abs(value);
  if (count === null || rules.some(hides)) return { ...answer, ...NOTHING };
  if (base === 1 || !rounded) return answer;
  const [low, high] = interval;
  const ends = [base * Math.floor(low / base), base * Math.ceil(high / base)];
  return { ...answer, value: base * Math.round(value / base), interval: ends, base };
}
