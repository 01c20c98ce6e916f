/** Counts, shares, ratios and differences with standard error and interval, as `dpress query` gives them. */
import { columnsOf } from "./attributes.js";
import { Elsewhere, TOTAL, Unread } from "./condition_grammar.js";
import { boxesOf } from "./conditions.js";
import { read } from "./grammar.js";
import { cutTiles, leftOpen } from "./tiles.js";
import { weighed } from "./weighed.js";

const ROUNDING = 1e-12; // of a variance that is the difference of others, in shares of these
const OFFLINE = "The page does not know the error of this answer; use this command";
const UNION = "How the errors of the parts of this union depend on each other is not known: standard error and interval are the largest that they can be."; // prettier-ignore
const DEPENDENCE = "How the errors of the two counts depend on each other is not known: standard error and interval are the largest that they can be."; // prettier-ignore

const UNBIASED = "From the unbiased counts.";
const MOST_GROUPS = 200; // that a page shows of a query

/** Returns { of, value, standardError, interval, note } of a query; throws `Unread` where it cannot be answered here. */
export function answer(answers, text) {
  const [first, ...others] = answersTo(answers, text);
  if (others.length) throw new Unread("a query with “by” has an answer for every group");
  return first;
}

/** Returns the answers to a query: of every group of a query with `by`, each with its `group`, else one. */
export const answersTo = (answers, text) => answers.reply?.(text) ?? everyGroup(answers, readable(answers, text));

/** Returns the same of a query that is read. */
export function everyGroup(answers, { by = [], ...asked }) {
  const columns = by.map((name) => columnsOf(answers.attributes).find((one) => one.name === name));
  const groups = columns.reduce((count, one) => count * one.size, 1);
  if (groups > MOST_GROUPS) throw new Elsewhere(`these are ${groups} groups, more than this page shows; use this command`);
  const labels = columns.reduce((rows, one) => rows.flatMap((row) => one.names.map((name) => [...row, name])), [[]]);
  return labels.map((row) => ({ group: row, ...answered(answers, { ...asked, where: within(by, row, asked.where) }) }));
}

/** Returns the rows of one group. */
export const within = (by, row, where) =>
  row.reduce((all, value, i) => both({ word: "=", attribute: by[i], values: [value] }, all), where);

/** Returns a query as a tree, where this page answers such queries. */
export function readable({ attributes, error }, text) {
  if (!error) throw new Elsewhere(OFFLINE);
  const asked = read(
    columnsOf(attributes).map((one) => one.name),
    text,
  );
  if (!["count", "share", "ratio", "difference"].includes(asked.of))
    throw new Elsewhere(`The page answers counts, shares, ratios and differences; for the ${asked.of} use this command`);
  return asked;
}

function answered(answers, asked) {
  const boxes = (tree) => boxesOf(answers.attributes, both(tree ?? TOTAL, asked.where));
  if (asked.of === "count") return count(answers, boxes(asked.first));
  if (!answers.signed) throw new Elsewhere(OFFLINE);
  const counts = [boxes(asked.first), boxes(asked.of === "share" ? TOTAL : asked.second)];
  const { pair, note } = compared(answers, ...counts);
  const cut = counts.flat().some((weights) => cutTiles(answers, weights));
  return {
    of: asked.of,
    note: joined(cut && answers.tiles.note, note, answers.note, answers.most !== null && UNBIASED),
    ...(asked.of === "difference" ? difference(answers, pair) : ratio(answers, asked.of, pair)),
  };
}

/** Returns the rows of which two conditions hold. */
export function both(first, second) {
  if (!second || second.word === "total") return first;
  if (first.word === "total") return second;
  return {
    word: "and",
    parts: [second, first].flatMap((one) => (one.word === "and" ? one.parts : [one])),
  };
}

export function held(answers, weights) {
  if (answers.tables.holding(weighed(weights)) >= 0) return weights;
  if (answers.missing) throw new Elsewhere("No table in this page answers this; this command knows the larger ones, too");
  if (answers.fitted)
    throw new Elsewhere("No table has these attributes together; this command answers from the fitted joint distribution");
  const names = answers.tables.all.map((one) => one.axes.map((axis) => answers.attributes[axis].name).join(" × "));
  const some = `${names.slice(0, 12).join(", ")}${names.length > 12 ? ", ..." : ""}`;
  throw new Unread(`no table of this release answers this; the tables are ${some}`);
}

function count(answers, boxes) {
  if (boxes.length > 1) return union(answers, boxes);
  const weights = held(answers, boxes[0]);
  const open = leftOpen(answers, weights);
  const found = {
    ...ofWeights(answers, weights),
    note: joined(open?.note, answers.note),
  };
  return open ? { ...found, interval: intervalOf(open, found.value) } : found;
}

/** Returns the count of disjoint boxes; see `query.table_forms`. */
function union(answers, boxes) {
  if (!answers.signed) throw new Elsewhere(OFFLINE);
  if (boxes.some((weights) => cutTiles(answers, weights)))
    throw new Unread("this is a union that cuts tiles, of which single ranges are answered; ask its parts");
  held(answers, together(boxes));
  const [value, variance] = sum(answers, boxes);
  const half = wholeCounts(variance, answers.critical);
  const note = joined(answers.note, !answers.symmetric && UNION);
  return {
    of: "count",
    standardError: Math.sqrt(variance),
    ...adjusted(answers, boxes, { value, interval: [value - half, value + half] }),
    note,
  };
}

/** Returns a count by the adjusted counts where these answer, with the interval cut to what is possible. */
function adjusted({ most, tables }, boxes, unbiased) {
  if (most === null) return unbiased;
  const value = boxes.reduce((sum, weights) => sum + tables.adjustedSum(weights), 0);
  const [low, high] = unbiased.interval;
  const interval = [Math.min(Math.max(low, 0), value), Math.max(Math.min(high, most), value)];
  return { value, interval, unbiased: unbiased.value };
}

/** Returns the sum of product queries and its variance: exact where that is known, else its bound. */
function sum(answers, boxes) {
  const forms = boxes.map((weights) => answers.signed(weights));
  const [value, variance] = [0, 1].map((place) => forms.reduce((all, one) => all + one[place], 0));
  if (!answers.symmetric) return [value, forms.reduce((all, one) => all + Math.sqrt(one[1]), 0) ** 2];
  const pairs = boxes.flatMap((one, i) => boxes.slice(0, i).map((other) => 2 * productCovariance(answers, one, other)));
  return [
    value,
    Math.max(
      0,
      pairs.reduce((all, one) => all + one, variance),
    ),
  ];
}

/** Returns weights that are all one along the axes that no box weighs. */
const together = (boxes) =>
  boxes[0].map((own, axis) => (boxes.every((one) => one[axis].every((cell) => cell === 1)) ? own : own.map(() => 0)));

/** Returns the ends of an interval that holds a count wherever people are in the tiles that it cuts. */
function intervalOf({ least, most, critical }, value) {
  const low = least.map(([count, variance]) => count - wholeCounts(variance, critical));
  const high = most.map(([count, variance]) => count + wholeCounts(variance, critical));
  return [Math.min(Math.max(...low), value), Math.max(Math.min(...high), value)];
}

const joined = (...notes) => [...new Set(notes.filter(Boolean))].join(" ") || null;

/** Returns how many a count from weights is, without its error. */
export const countOf = ({ most, tables, users }, weights) =>
  most === null ? tables.sum(weights, users) : tables.adjustedSum(weights);

/** Returns a count from weights. */
export function ofWeights(answers, weights) {
  const [value, variance] = answers.form(weights);
  const half = wholeCounts(variance, answers.critical);
  return {
    of: "count",
    standardError: Math.sqrt(variance),
    ...adjusted(answers, [weights], { value, interval: [value - half, value + half] }),
  };
}

/** Returns how far from the truth a count with this variance may be: rounded up to whole counts, 0 for a variance of 0. */
export const wholeCounts = (variance, critical) => Math.ceil(margin(variance, critical, 0.5));

const margin = (variance, critical, step) => (variance === 0 ? 0 : critical * Math.sqrt(variance) + step);

function difference({ critical }, pair) {
  const variance = spread(pair, 1);
  const half = wholeCounts(variance, critical);
  const value = pair.first - pair.second;
  return {
    value,
    standardError: Math.sqrt(variance),
    interval: [value - half, value + half],
  };
}

function ratio({ critical }, of, pair) {
  const most = of === "share" ? 1 : Infinity;
  const found = fieller(pair, critical);
  return { ...found, ...cutEnds(found, most) };
}

/** Returns a value and its interval between 0 and the most, all of that where the interval lies outside. */
export function cutEnds({ value, interval }, most) {
  const clipped = (end) => Math.min(Math.max(end, 0), most);
  const [low, high] = interval;
  const outside = low < high && (high <= 0 || low >= most);
  return { value: clipped(value), interval: outside ? [0, most] : interval.map(clipped) };
}

/** Returns two counts with variances and covariance; see `release.table_forms.compared`. */
function compared(answers, first, second) {
  const [[own], [other]] = [first, second];
  const axes = differing(own, other);
  if (first.length + second.length > 2) return unions(answers, first, second);
  if (axes.length > 1) return several(answers, own, other, axes);
  const axis = axes[0] ?? 0;
  const along = (weights) => own.map((one, i) => (i === axis ? weights : one));
  held(answers, along(new Float64Array(own[axis].length)));
  return {
    pair: pairOf((r) => answers.signed(along(own[axis].map((one, i) => one - r * other[axis][i])))),
  };
}

/** Returns two counts of which one is of several boxes. */
function unions(answers, first, second) {
  const known = answers.symmetric && answers.tables.holding(weighed(together([...first, ...second]))) >= 0;
  if (known)
    return {
      pair: pairOf((r) => sum(answers, [...first, ...second.map((weights) => times(weights, -r))])),
    };
  const [[value, variance], [other, another]] = [first, second].map((boxes) => {
    held(answers, together(boxes));
    return sum(answers, boxes);
  });
  const covariance = -Math.sqrt(variance * another);
  return {
    pair: {
      first: value,
      second: other,
      variances: [variance, another],
      covariance,
    },
    note: DEPENDENCE,
  };
}

/** Returns a product query times a number, along an axis that it weighs. */
function times(weights, factor) {
  const axis = weighed(weights)[0] ?? 0;
  return weights.map((own, i) => (i === axis ? own.map((one) => factor * one) : own));
}

const differing = (own, other) =>
  own.flatMap((weights, axis) => (weights.every((one, i) => one === other[axis][i]) ? [] : [axis]));

function several(answers, own, other, axes) {
  const [[first, variance], [second, another]] = [own, other].map((weights) => answers.signed(held(answers, weights)));
  const shared = own.map((weights, axis) => (axes.includes(axis) ? new Float64Array(weights.length) : weights));
  const known = answers.symmetric && answers.tables.holding(weighed(shared)) >= 0;
  const covariance = known ? productCovariance(answers, own, other) : -Math.sqrt(variance * another);
  return {
    pair: { first, second, variances: [variance, another], covariance },
    note: known ? undefined : DEPENDENCE,
  };
}

/** Returns 4^-d times the sum over signs of their product times the variance of own + sign other; d axes differ. */
function productCovariance({ signed }, own, other) {
  const axes = differing(own, other);
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
export function fieller(pair, critical) {
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
