/** The exact variance of weighted sums of counts that devices reported; see `reporting/report_form.py`. */
import { dot, unpacked } from "./unpacked.js";

/** Returns from weights of every attribute's cells to the variance. */
export function reported(form) {
  const sums = form.sums.map(sumOf);
  if (!form.nested)
    return (weights) =>
      weights.reduce((total, own, axis) => total + (own.every((one) => one === 1) ? 0 : sums[axis](own)), 0);
  const nested = partitions(form.nested);
  const drawn = form.drawing ? drawing(form.drawing, nested) : () => 0;
  return ([weights]) => {
    const forms = nested.forms(form.drawing ? weights.map((one) => one - weights[0]) : weights); // of rounds
    return forms.reduce((total, own, i) => total + sums[i](own), drawn(forms));
  };
}

/** Returns w -> sum of squares_i w_i^2 + z between z with z = rows w, at least 0. */
export function sumOf({ squares, rows, between }) {
  const [own, along] = [unpacked(squares), rows.map(unpacked)];
  return (weights) => {
    const sums = along.map((row) => dot(row, weights));
    let total = 0;
    weights.forEach((one, i) => (total += own[i] * one * one));
    between.forEach((row, i) => row.forEach((one, j) => (total += sums[i] * one * sums[j])));
    return Math.max(0, total);
  };
}

/** Returns least squares over partitions of which each refines the one before, and a known sum. */
function partitions({ starts, variances, known }) {
  const firsts = starts.map(unpacked);
  const spreads = variances.map(unpacked);
  const finest = firsts.at(-1);
  const above = firsts.slice(1).map((own, i) => parents(own, firsts[i])); // of the intervals of all but the coarsest
  const levels = [{ up: new Int32Array(firsts[0].length), spread: Float64Array.of(known) }];
  above.forEach((up, i) => levels.push({ up, spread: spreads[i] }));
  let size = spreads.at(-1); // 1 M^-1 1 below every interval
  for (const level of [...levels].reverse()) {
    level.wide = summed(size, level.up, level.spread.length);
    size = level.wide.map((one, i) => (one * level.spread[i]) / (level.spread[i] + one));
  }
  const last = spreads.at(-1);

  /** Returns M^-1 w: up by sums, down by shifts (Sherman and Morrison). */
  function covariance(weights) {
    let sums = weights.map((one, i) => one * last[i]);
    const stored = [...levels].reverse().map(({ up, spread, wide }) => {
      const own = summed(sums, up, spread.length);
      sums = own.map((one, i) => (one * spread[i]) / (spread[i] + wide[i]));
      return own;
    });
    let shift = new Float64Array(1);
    levels.forEach(({ up, spread, wide }, i) => {
      const own = stored[levels.length - 1 - i];
      const each = own.map((one, j) => shift[j] + (one - shift[j] * wide[j]) / (spread[j] + wide[j]));
      shift = Float64Array.from(up, (j) => each[j]);
    });
    return weights.map((one, i) => (one - shift[i]) * last[i]);
  }

  return {
    above,
    /** Returns what the counts of every partition weigh in a sum of the cells. */
    forms(weights) {
      let found = covariance(means(weights, finest));
      const forms = [];
      for (let i = firsts.length - 1; i >= 0; i--) {
        forms.unshift(found.map((one, j) => one / spreads[i][j]));
        if (i) found = summed(found, above[i - 1], firsts[i - 1].length);
      }
      return forms;
    },
  };
}

/** Returns for every interval the one of a coarser partition that holds it. */
function parents(own, coarser) {
  let place = 0;
  return Int32Array.from(own, (first) => {
    while (place + 1 < coarser.length && coarser[place + 1] <= first) place++;
    return place;
  });
}

function summed(values, up, size) {
  const found = new Float64Array(size);
  values.forEach((one, i) => (found[up[i]] += one));
  return found;
}

/** Returns the mean weight of the cells of every interval. */
export function means(weights, firsts) {
  return Float64Array.from(firsts, (first, i) => {
    const end = i + 1 < firsts.length ? firsts[i + 1] : weights.length;
    let sum = 0;
    for (let cell = first; cell < end; cell++) sum += weights[cell];
    return sum / (end - first);
  });
}

/** Returns the variance of drawing who answers which round; see `mechanisms/ranges/ahead_tree.py`. */
function drawing({ shares, asked }, { above }) {
  const own = unpacked(shares);
  const everybody = asked.reduce((sum, one) => sum + one, 0);
  const part = asked.map((one) => one / everybody);
  return (forms) => {
    const each = forms.map((form, round) => {
      let spread = form;
      for (const up of above.slice(round)) spread = Float64Array.from(up, (place) => spread[place]);
      return spread.map((one) => one / part[round]);
    });
    const between = (values) =>
      values.reduce((sum, one, i) => sum + part[i] * one * one, 0) -
      values.reduce((sum, one, i) => sum + part[i] * one, 0) ** 2;
    let within = 0;
    own.forEach((share, i) => (within += share * between(each.map((round) => round[i]))));
    const explained = between(each.map((round) => dot(own, round)));
    return (Math.max(0, within - explained) * everybody ** 2) / Math.max(everybody - 1, 1);
  };
}
