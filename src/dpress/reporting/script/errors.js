/** The exact variance of a weighted sum of cells, from the linear form of the noise that the page has. */
import { grids } from "./grids.js";
import { pairs } from "./pairs.js";
import { reported } from "./reports.js";
import { dot, unpacked } from "./unpacked.js";
import { weighed } from "./weighed.js";

/** Returns from weights of every attribute's cells to the variance; see `reporting/error_form.py` for the forms. */
export function varianceOf(form, tables) {
  if (form.form === "product") {
    const along = form.axes.map((own, axis) => quadratic(own, tables.sizes[axis]));
    return (weights) => along.reduce((product, own, axis) => product * own(weights[axis]), form.variance);
  }
  if (form.form === "components")
    return components(new Map(form.of.map(([axes, variance]) => [axes.join(), variance])));
  if (form.form === "grids") return grids(form, tables);
  if (form.form === "pairs") return pairs(form, tables);
  return form.form === "reports" ? reported(form) : separate(form, tables);
}

/** Returns w -> w C w of one axis. */
function quadratic(own, cells) {
  const squares = new WeakMap();
  const of = squared(own, cells);
  return (weights) => {
    if (!squares.has(weights)) squares.set(weights, of(weights));
    return squares.get(weights);
  };
}

function squared(own, cells) {
  if (own.linear === "equal") return (weights) => dot(weights, weights);
  if (own.linear === "tree") return tree(own, cells);
  if (own.linear === "haar") return haar;
  if (own.linear === "sums") return sums(own);
  const rows = unpacked(own.values);
  return (weights) => {
    let sum = 0;
    for (let i = 0; i < weights.length; i++) {
      if (weights[i]) sum += weights[i] * dot(weights, rows.subarray(i * weights.length, (i + 1) * weights.length));
    }
    return sum;
  };
}

/**
 * Returns w -> w (A^T V^-1 A)^-1 w of a tree whose levels have these variances, from the leaves up. With s = 1 M 1,
 * t = 1 M w and q = w M w of a subtree, a node of variance v above takes t^2 / (v + s) from q (Sherman and Morrison).
 */
function tree({ branching, variances }, cells) {
  const leaf = variances.at(-1);
  const above = variances
    .slice(0, -1)
    .reverse()
    .map((one) => one ?? Infinity);
  const sums = []; // s of every inner node, level by level
  let sizes = new Float64Array(cells).fill(leaf);
  for (const variance of above) {
    const own = new Float64Array(Math.ceil(sizes.length / branching));
    sizes.forEach((one, i) => (own[Math.floor(i / branching)] += one));
    sums.push(own);
    sizes = own.map((one) => one / (1 + one / variance));
  }
  return (weights) => {
    let level = new Map(); // t and q of the nodes above cells that are weighed
    weights.forEach((one, i) => one && level.set(i, [leaf * one, leaf * one * one]));
    above.forEach((variance, height) => {
      const next = new Map();
      for (const [i, [t, q]] of level) {
        const [other, more] = next.get(Math.floor(i / branching)) ?? [0, 0];
        next.set(Math.floor(i / branching), [t + other, q + more]);
      }
      for (const [i, [t, q]] of next)
        next.set(i, [t / (1 + sums[height][i] / variance), q - (t * t) / (variance + sums[height][i])]);
      level = next;
    });
    return [...level.values()].reduce((sum, [, q]) => sum + q, 0);
  };
}

/**
 * Returns w -> w G w - (S w) M (S w): cells that were measured, each alone, beside weighted sums S of them (Woodbury).
 * Of M, which is symmetric, the page has the rows from the diagonal on.
 */
function sums({ alone, inverse, starts, lengths, values }) {
  const [own, between, rows] = [alone, inverse, values].map(unpacked);
  const firsts = lengths.map((_, place) => lengths.slice(0, place).reduce((sum, one) => sum + one, 0));
  const diagonal = (place) => place * lengths.length - (place * (place - 1)) / 2;
  return (weights) => {
    const all = Float64Array.from(weights);
    const summed = Float64Array.from(starts, (start, place) =>
      dot(rows.subarray(firsts[place], firsts[place] + lengths[place]), all.subarray(start)),
    );
    let total = 0;
    all.forEach((one, cell) => (total += own[cell] * one * one));
    summed.forEach((one, place) => {
      if (!one) return;
      const row = between.subarray(diagonal(place), diagonal(place + 1));
      total -= one * (2 * dot(row, summed.subarray(place)) - row[0] * one);
    });
    return total;
  };
}

/** Returns the sum over the Haar wavelets of (w h / |h|^2)^2. */
function haar(weights) {
  const height = Math.ceil(Math.log2(weights.length));
  let sums = new Float64Array(2 ** height);
  sums.set(weights);
  let total = 0;
  for (let support = 2; sums.length > 1; support *= 2) {
    const next = new Float64Array(sums.length / 2);
    for (let i = 0; i < next.length; i++) {
      total += ((sums[2 * i] - sums[2 * i + 1]) / support) ** 2;
      next[i] = sums[2 * i] + sums[2 * i + 1];
    }
    sums = next;
  }
  return total + (sums[0] / 2 ** height) ** 2;
}

/** Returns mean and squared norm around it of weights, once for each array. */
const moments = new WeakMap();
function momentsOf(weights) {
  if (!moments.has(weights)) {
    const mean = weights.reduce((sum, one) => sum + one, 0) / weights.length;
    moments.set(weights, [mean, weights.reduce((sum, one) => sum + (one - mean) ** 2, 0)]);
  }
  return moments.get(weights);
}

/** Returns the sum over T of (product of the other axes' mean weights)^2 sigma_T^2 times the centred weights' norms. */
function components(variances) {
  return (weights) => {
    const axes = weighed(weights);
    const own = axes.map((axis) => momentsOf(weights[axis]));
    let total = 0;
    for (let set = 0; set < 2 ** axes.length; set++) {
      const held = axes.map((_, i) => (set >> i) & 1);
      const product = held.reduce((value, one, i) => value * (one ? own[i][1] : own[i][0] ** 2), 1);
      if (product) total += product * variances.get(axes.filter((_, i) => held[i]).join());
    }
    return total;
  };
}

/** Returns the sum of weight^2 times the cells' variances, for weights of one sign. */
function separate({ variances, inflation }, tables) {
  const spreads = variances.map(unpacked);
  return (weights) => {
    const asked = weighed(weights);
    if (!asked.length) return 0;
    const place = tables.holding(asked);
    let [total, cells] = [0, 0];
    tables.each(place, weights, (weight, cell) => {
      if (weight) [total, cells] = [total + weight ** 2 * spreads[place][cell], cells + 1];
    });
    return total * (cells > 1 && inflation.length ? inflation[place] : 1);
  };
}
