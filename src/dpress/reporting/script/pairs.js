/** The exact variance of weighted sums of a pair's cells that devices reported; see `mechanisms/joint/pair_spread.py`. */
import { weighed } from "./weighed.js";
import { unpacked } from "./unpacked.js";

/** Returns from weights of every attribute's cells to the variance. */
export function pairs(form, tables) {
  const sums = new Map(form.tables.map((own) => [own.axes.join(), sumOf(own, tables.sizes, form.everybody)]));
  return (weights) => {
    const asked = weighed(weights);
    if (!asked.length) return 0;
    const { axes } = tables.all[tables.holding(asked)];
    return form.everybody ** 2 * sums.get(axes.join())(axes.map((axis) => weights[axis]));
  };
}

function sumOf(own, sizes, everybody) {
  if (own.each !== undefined) return ([one]) => own.each * one.reduce((sum, weight) => sum + weight * weight, 0);
  const [rows, columns] = own.axes.map((axis) => sizes[axis]);
  const shares = unpacked(own.shares);
  const parts = own.parts.map((part) => [part, kept(shares, rows, columns, part)]);
  return ([first, second]) => {
    const query = Float64Array.from(shares, (_, i) => first[Math.floor(i / columns)] * second[i % columns]);
    const drawn = parts.map(([part, held]) => partOf(part, held, kept(query, rows, columns, part)));
    const left = sampling(shares, query) / everybody;
    return Math.max(0, drawn.reduce((sum, one) => sum + one, 0) - left);
  };
}

/** Returns values of a pair's cells, added up over the attribute that a table does not hold, with how many columns. */
function kept(values, rows, columns, part) {
  const [high, wide] = [part.rows ? rows : 1, part.columns ? columns : 1];
  const sums = new Float64Array(high * wide);
  values.forEach((one, i) => {
    const [row, column] = [part.rows ? Math.floor(i / columns) : 0, part.columns ? i % columns : 0];
    sums[row * wide + column] += one;
  });
  return { sums, wide };
}

function partOf({ weights, slope, level, factor, users }, { sums: shares }, asked) {
  const own = applied(weights, asked);
  let oracle = 0;
  own.forEach((one, i) => (oracle += one * one * (level + slope * shares[i])));
  return (oracle * factor + sampling(shares, own)) / users;
}

/** Returns both x + row (sum of its row) + column (sum of its column) + rest (sum of all), for every cell. */
function applied({ both, row, column, rest }, { sums, wide }) {
  const rows = new Float64Array(sums.length / wide);
  const columns = new Float64Array(wide);
  let all = 0;
  sums.forEach((one, i) => {
    rows[Math.floor(i / wide)] += one;
    columns[i % wide] += one;
    all += one;
  });
  return sums.map((one, i) => both * one + row * rows[Math.floor(i / wide)] + column * columns[i % wide] + rest * all);
}

function sampling(shares, weights) {
  let [squares, sum] = [0, 0];
  weights.forEach((one, i) => ([squares, sum] = [squares + one * one * shares[i], sum + one * shares[i]]));
  return squares - sum * sum;
}
