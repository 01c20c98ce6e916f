/**
 * Counts of regions along some attributes, others held to conditions or added up, with the exact variance of what least
 * squares gives; see `inference.regions.variances`.
 */
import { attribute } from "./attributes.js";
import { shownAs } from "./shown_as.js";
import { cutEnds, fieller, wholeCounts } from "./statistics.js";
import { unpacked } from "./unpacked.js";

/** Returns what answers questions about the regions of a page. */
export function countsOf(data) {
  const attributes = data.attributes.map(attribute);
  const levels = data.levels.map((level) => ({
    ...level,
    stored: level.stored.map(({ axes, counts }) => ({ axes, counts: unpacked(counts) })),
    spaces: level.spaces.map(({ axes, variances }) => ({ axes, variances: unpacked(variances) })),
  }));
  const answer = (estimate, variance) => {
    const half = wholeCounts(variance, data.critical);
    const value = variance ? estimate : Math.round(estimate); // a public total is a whole number
    return shownAs(data, { value, half, standardError: Math.sqrt(variance), interval: [value - half, value + half] });
  };
  const totals = levels.map((level) => viewOf(attributes, level, [], {}, {}));
  return {
    attributes,
    noun: data.noun,
    numbers: data.base > 1 ? "rounded" : "exact",
    /** The tables that a level has in the page, by their attributes, but for the total. */
    tables: (level) => levels[level].tables.filter((axes) => axes.length),
    total: ({ level, node }) => answer(totals[level].counts(node)[0], totals[level].variance(node)),
    /** Returns a view of a level; its shares are those of what `among` holds. */
    view(level, axes, conditions, among) {
      const view = viewOf(attributes, levels[level], axes, conditions, among);
      return {
        size: view.size,
        answers: (node) => {
          const variance = view.variance(node);
          return Array.from(view.counts(node), (value) => answer(value, variance));
        },
        values: (node) => {
          const [whole, variance] = [view.whole(node), view.variance(node)];
          const value = (count) => (whole > 0 ? Math.min(Math.max(count / whole, 0), 1) : NaN);
          return Array.from(view.counts(node), (count) =>
            answer(count, variance).value === null ? null : value(count),
          );
        },
        shares: (node, most = 1) => {
          const [pair, variance] = [view.pair(node), view.variance(node)];
          return Array.from(view.counts(node).slice(0, most), (count) =>
            shownAs(data, share(pair(count), data.critical), { count: answer(count, variance).value, rounded: false }),
          );
        },
      };
    },
  };
}

/** Returns a share with its interval by Fieller, both from 0 to 1; not a number where the whole may be 0. */
function share(pair, critical) {
  const ratio = fieller(pair, critical);
  return { ...ratio, ...cutEnds(ratio, 1) };
}

/** Returns the counts of a level's regions along axes where conditions hold, and the variances that belong to them. */
function viewOf(attributes, level, axes, conditions, among) {
  const [cells, whole] = [summed(attributes, level, axes, conditions), summed(attributes, level, [], among)];
  const cell = attributes.map(({ size }, axis) => (axes.includes(axis) ? first(size) : conditions[axis]));
  const all = attributes.map((_, axis) => among[axis]);
  const variance = form(attributes, level, cell, cell);
  const [wholeVariance, covariance] = [form(attributes, level, all, all), form(attributes, level, cell, all)];
  const sum = (node) => whole(node)[0];
  return {
    size: axes.reduce((product, axis) => product * attributes[axis].size, 1),
    counts: cells,
    variance,
    whole: sum,
    pair: (node) => {
      const common = {
        second: sum(node),
        variances: [variance(node), wholeVariance(node)],
        covariance: covariance(node),
      };
      return (value) => ({ first: value, ...common });
    },
  };
}

const first = (size) => Float64Array.from({ length: size }, (_, i) => (i ? 0 : 1)); // all cells have the same error

/** Returns from a node to its sums along axes, of the cells where conditions hold. */
function summed(attributes, level, axes, conditions) {
  const needed = [...axes, ...Object.keys(conditions).map(Number)];
  const [table] = level.stored
    .filter((table) => needed.every((axis) => table.axes.includes(axis)))
    .sort((first, second) => first.counts.length - second.counts.length);
  const cells = table.axes.reduce((product, axis) => product * attributes[axis].size, 1);
  const size = axes.reduce((product, axis) => product * attributes[axis].size, 1);
  const rows = Int32Array.from({ length: cells }, (_, cell) => rowOf(attributes, table.axes, cell, axes, conditions));
  return (node) => {
    const sums = new Float64Array(size);
    for (let cell = 0; cell < cells; cell++) if (rows[cell] >= 0) sums[rows[cell]] += table.counts[node * cells + cell];
    return sums;
  };
}

/** Returns the row of a table's cell, or -1 where a condition leaves it out. */
function rowOf(attributes, stored, cell, axes, conditions) {
  const place = {};
  for (let rest = cell, i = stored.length - 1; i >= 0; i--) {
    const { size } = attributes[stored[i]];
    place[stored[i]] = rest % size;
    rest = Math.floor(rest / size);
  }
  if (stored.some((axis) => conditions[axis] && !conditions[axis][place[axis]])) return -1;
  return axes.reduce((row, axis) => row * attributes[axis].size + place[axis], 0);
}

/**
 * Returns from a node to the covariance of two products of weights (none: all ones): over the spaces, their variance
 * times, along the space's axes, sum of products - product of sums / n, and beside them the product of the means.
 */
function form(attributes, { spaces }, first, second) {
  const parts = attributes.map(({ size }, axis) => partOf(size, first[axis], second[axis]));
  const factors = spaces.map(({ axes }) =>
    parts.reduce((product, [inside, beside], axis) => product * (axes.includes(axis) ? inside : beside), 1),
  );
  return (node) => factors.reduce((sum, factor, i) => (factor ? sum + factor * spaces[i].variances[node] : sum), 0);
}

function partOf(size, first, second) {
  if (!first && !second) return [0, 1];
  let [sum, secondSum, both] = [0, 0, 0];
  for (let i = 0; i < size; i++) {
    const [weight, secondWeight] = [first?.[i] ?? 1, second?.[i] ?? 1];
    [sum, secondSum, both] = [sum + weight, secondSum + secondWeight, both + weight * secondWeight];
  }
  return [both - (sum * secondSum) / size, (sum * secondSum) / size ** 2];
}
