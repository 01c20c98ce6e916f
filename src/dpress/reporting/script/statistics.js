/** Counts, shares, ratios and differences with standard error and interval, as `dpress query` gives them. */
import { QUOTED, Unread, isCondition, weightsOf } from "./conditions.js";
import { cutTiles, leftOpen } from "./tiles.js";
import { weighed } from "./weighed.js";

const ROUNDING = 1e-12; // of a variance that is the difference of others, in shares of these
const OFFLINE = "The page does not know the error of this answer; the command gives it.";

/** Returns { of, value, standardError, interval, note } of a query; throws `Unread` where it cannot be answered here. */
export function answer(answers, text) {
  if (!answers.error) throw new Unread(OFFLINE);
  const asked = read(answers.attributes, text.trim());
  if (asked.of === "count") return count(answers, asked.first);
  if (!answers.signed) throw new Unread(OFFLINE);
  const counts = twoCounts(asked);
  const { pair, note } = compared(answers, ...counts);
  const cut = counts.some((text) => cutTiles(answers, weightsOf(answers.attributes, text)));
  return {
    of: asked.of,
    note: joined(cut && answers.tiles.note, note, answers.note),
    ...(asked.of === "difference" ? difference(answers, pair) : ratio(answers, asked.of, pair)),
  };
}

function read(attributes, text) {
  const word = text.split(/\s/)[0].toLowerCase();
  if (isCondition(attributes, text) || !["mean", "sum", "median", "quantile", "share", "ratio", "count"].includes(word))
    return { of: "count", first: text };
  const rest = text.slice(word.length).trim();
  if (word === "share") {
    const [first, where, ...more] = parts(rest, "(?:^|(?<=\\s))where(?=\\s|$)");
    if (first && where !== "" && !more.length) return { of: "share", first, where };
    throw new Unread("write share CONDITIONS, or share CONDITIONS where CONDITIONS");
  }
  if (word === "ratio") return two("ratio", parts(rest, "\\s/\\s"), "ratio CONDITIONS / CONDITIONS");
  if (word === "count")
    return two("difference", parts(rest, "\\s-\\s+count(?=\\s|$)"), "count CONDITIONS - count CONDITIONS");
  throw new Unread(`The page answers counts, shares, ratios and differences; for ${word} use the command.`);
}

function two(of, [first, second, ...more], form) {
  if (!first || !second || more.length) throw new Unread(`write ${form}`);
  return { of, first, second };
}

/** Returns the parts of a text around a separator, a pattern, that stands outside quotes. */
function parts(text, separator) {
  const found = [];
  let begin = 0;
  for (const match of text.matchAll(new RegExp(`${QUOTED}|${separator}`, "g"))) {
    if (/^['"]/.test(match[0])) continue;
    found.push(text.slice(begin, match.index).trim());
    begin = match.index + match[0].length;
  }
  return [...found, text.slice(begin).trim()];
}

function twoCounts({ of, first, second, where }) {
  if (of !== "share") return [first, second];
  return where === undefined || where.toLowerCase() === "total" ? [first, "total"] : [`${where} and ${first}`, where];
}

function held(answers, weights) {
  if (answers.tables.holding(weighed(weights)) >= 0) return weights;
  if (answers.missing) throw new Unread("no table in this page answers this; the command knows the larger ones, too");
  const names = answers.tables.all.map((one) => one.axes.map((axis) => answers.attributes[axis].name).join(" × "));
  const some = `${names.slice(0, 12).join(", ")}${names.length > 12 ? ", ..." : ""}`;
  throw new Unread(`no table in this page answers this, try the command; the tables are ${some}`);
}

function count(answers, text) {
  const weights = held(answers, weightsOf(answers.attributes, text));
  const open = leftOpen(answers, weights);
  const found = { ...ofWeights(answers, weights), note: joined(open?.note, answers.note) };
  return open ? { ...found, interval: intervalOf(open, found.value) } : found;
}

/** Returns the ends of an interval that holds a count wherever people are in the tiles that it cuts. */
function intervalOf({ least, most, critical }, value) {
  const low = least.map(([count, variance]) => count - wholeCounts(variance, critical));
  const high = most.map(([count, variance]) => count + wholeCounts(variance, critical));
  return [Math.min(Math.max(...low), value), Math.max(Math.min(...high), value)];
}

const joined = (...notes) => [...new Set(notes.filter(Boolean))].join(" ") || null;

/** Returns a count from weights, with half its interval. */
export function ofWeights(answers, weights) {
  const [value, variance] = answers.form(weights);
  const half = wholeCounts(variance, answers.critical);
  return { of: "count", value, standardError: Math.sqrt(variance), half, interval: [value - half, value + half] };
}

/** Returns how far from the truth a count with this variance may be: rounded up to whole counts, 0 for a variance of 0. */
export const wholeCounts = (variance, critical) => Math.ceil(margin(variance, critical, 0.5));

const margin = (variance, critical, step) => (variance === 0 ? 0 : critical * Math.sqrt(variance) + step);

function difference({ critical }, pair) {
  const variance = spread(pair, 1);
  const half = wholeCounts(variance, critical);
  const value = pair.first - pair.second;
  return { value, standardError: Math.sqrt(variance), interval: [value - half, value + half] };
}

function ratio({ critical }, of, pair) {
  const most = of === "share" ? 1 : Infinity;
  const clipped = (value) => Math.min(Math.max(value, 0), most);
  const found = fieller(pair, critical);
  return { value: clipped(found.value), standardError: found.standardError, interval: found.interval.map(clipped) };
}

/** Returns two counts with variances and covariance; see `release.table_forms.compared`. */
function compared(answers, first, second) {
  const [own, other] = [first, second].map((text) => weightsOf(answers.attributes, text));
  const axes = own.flatMap((weights, axis) => (weights.every((one, i) => one === other[axis][i]) ? [] : [axis]));
  if (axes.length > 1) return several(answers, own, other, axes);
  const axis = axes[0] ?? 0;
  const along = (weights) => own.map((one, i) => (i === axis ? weights : one));
  held(answers, along(new Float64Array(own[axis].length)));
  return { pair: pairOf((r) => answers.signed(along(own[axis].map((one, i) => one - r * other[axis][i])))) };
}

function several(answers, own, other, axes) {
  const [[first, variance], [second, another]] = [own, other].map((weights) => answers.signed(held(answers, weights)));
  const both = own.map((weights, axis) => (axes.includes(axis) ? new Float64Array(weights.length) : weights));
  const known = answers.symmetric && answers.tables.holding(weighed(both)) >= 0;
  const covariance = known ? productCovariance(answers, own, other, axes) : -Math.sqrt(variance * another);
  const note = known
    ? undefined
    : "How the errors of the two counts depend on each other is not known: standard error and interval are the largest that they can be.";
  return { pair: { first, second, variances: [variance, another], covariance }, note };
}

/** Returns 4^-d times the sum over signs of their product times the variance of own + sign other; d axes differ. */
function productCovariance({ signed }, own, other, axes) {
  let sum = 0;
  for (let set = 0; set < 2 ** axes.length; set++) {
    const signs = axes.map((_, i) => ((set >> i) & 1 ? -1 : 1));
    const asked = own.map((weights, axis) => {
      const i = axes.indexOf(axis);
      return i < 0 ? weights : weights.map((one, cell) => one + signs[i] * other[axis][cell]);
    });
    sum += signs.reduce((product, one) => product * one, 1) * signed(asked)[1];
  }
  return sum * 0.25 ** axes.length;
}

/** Returns two sums and their covariance from three linear forms first - r second, at r = -2, 2 and 3. */
function pairOf(form) {
  const [[low, lowVariance], [high, highVariance], [, last]] = [-2, 2, 3].map(form);
  const covariance = (lowVariance - highVariance) / 8;
  const mean = (lowVariance + highVariance) / 2;
  const second = (last + 6 * covariance - mean) / 5;
  const variances = [mean - 4 * second, second].map((one) => (one <= ROUNDING * mean ? 0 : one));
  const most = Math.sqrt(variances[0] * variances[1]);
  return {
    first: (low + high) / 2,
    second: (low - high) / 4,
    variances,
    covariance: Math.min(most, Math.max(-most, covariance)),
  };
}

const spread = ({ variances: [own, other], covariance }, r) => Math.max(0, own - 2 * r * covariance + r * r * other);

/** Returns the ratio of two sums, the denominator positive in truth; see `inference.ratio.fieller`. */
function fieller(pair, critical) {
  const [own, other] = pair.variances;
  if (pair.second <= margin(other, critical, 1))
    return { value: NaN, standardError: NaN, interval: [-Infinity, Infinity] };
  const value = pair.first / pair.second;
  const noise = spread(pair, value);
  const noisy = noise > ROUNDING * (own + value * value * other) ? 1 : 0;
  const steps = [noisy, noisy && other > 0 ? 1 : 0];
  const shifts = [[-steps[0], 0], [steps[0], 0], [0, -steps[1]], [0, steps[1]]]; // prettier-ignore
  const roots = shifts.flatMap((shift) => rootsOf(pair, critical ** 2, shift));
  return {
    value,
    standardError: Math.sqrt(noise) / pair.second,
    interval: [Math.min(...roots, value), Math.max(...roots, value)],
  };
}

function rootsOf(pair, square, shift) {
  const [first, second] = [pair.first + shift[0], pair.second + shift[1]];
  const value = first / second;
  const other = pair.variances[1];
  const lead = second ** 2 - square * other;
  const middle = (first * second - square * pair.covariance) / lead;
  const turned = square * (pair.covariance - value * other);
  const half = Math.sqrt(lead * square * spread(pair, value) + turned ** 2) / lead;
  return [middle - half, middle + half];
}
