/** The exact variance of counts by grids of tiles; see `mechanisms/ranges/grid_counts.py`, `GridCounts.weights`. */
import { means, sumOf } from "./reports.js";
import { unpacked } from "./unpacked.js";
import { weighed } from "./weighed.js";

/** Returns from weights of every attribute's cells to the variance. */
export function grids(form) {
  const sums = form.sums.map(sumOf);
  const axes = form.axes.map((own) => ({ ...own, shares: unpacked(own.shares), coarse: own.starts.length / own.each }));
  const tables = form.tables.map((own) => ({ ...own, tiles: own.tiles && unpacked(own.tiles) }));
  return (weights) => {
    let total = 0;
    weightsIn(axes, tables, weights).forEach((own, place) => (total += own ? sums[place](own) : 0));
    return total;
  };
}

/** Returns what a query of one or two attributes weighs in the tiles of every grid. */
function weightsIn(axes, tables, weights) {
  const found = tables.map((own) => new Float64Array(sizeOf(axes, own)));
  const asked = weighed(weights);
  const fine = asked.map((axis) => means(weights[axis], axes[axis].starts));
  const taken = asked.map((axis, i) =>
    families(
      axes[axis],
      fine[i].map((one, tile) => one * axes[axis].shares[tile]),
    ),
  );
  asked.forEach((axis, i) => {
    const { each, coarse } = axes[axis];
    const other = others(axes, tables, asked, i, taken);
    const mean = asked.length === 2 ? meanOf(taken[1 - i]) : 1;
    const middle = families(axes[axis], fine[i]).map((one) => one / each);
    fine[i].forEach((one, tile) => {
      const family = Math.floor(tile / each);
      found[axis][tile] += other[family] * (one - middle[family]);
    });
    const differ = Float64Array.from({ length: coarse }, (_, tile) => {
      return mean * taken[i][tile] + other[tile] * (middle[tile] - taken[i][tile]);
    });
    addCoarse(axes, tables, found, axis, centred(differ));
  });
  if (asked.length === 2) {
    const place = placeOf(tables, asked);
    const [first, second] = taken.map(centred);
    found[place].forEach((_, i) => {
      found[place][i] += first[Math.floor(i / second.length)] * second[i % second.length];
    });
  }
  return found.map((own) => (own.some((one) => one) ? own : null));
}

const sizeOf = (axes, { axes: [first, second] }) =>
  second === undefined ? axes[first].starts.length : axes[first].coarse * axes[second].coarse;

const placeOf = (tables, asked) => tables.findIndex((own) => own.axes.join() === asked.join());
const meanOf = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
const centred = (values) => {
  const mean = meanOf(values);
  return values.map((one) => one - mean);
};

/** Returns the sums over the fine tiles of every coarse one. */
function families({ each, coarse }, values) {
  const sums = new Float64Array(coarse);
  values.forEach((one, tile) => (sums[Math.floor(tile / each)] += one));
  return sums;
}

/** Returns the mean of what is taken of the other attribute, over the people of every coarse tile of this one. */
function others(axes, tables, asked, place, taken) {
  if (asked.length === 1) return new Float64Array(taken[0].length).fill(1);
  const { tiles } = tables[placeOf(tables, asked)];
  const wide = axes[asked[1]].coarse;
  const own = taken[1 - place];
  return taken[place].map((_, tile) => {
    let [sum, all] = [0, 0];
    own.forEach((one, other) => {
      const held = Math.max(0, place ? tiles[other * wide + tile] : tiles[tile * wide + other]);
      [sum, all] = [sum + held * one, all + held];
    });
    return all > 0 ? sum / all : meanOf(own);
  });
}

/** Adds what a query weighs in the coarse tiles of an attribute to all grids that hold it. */
function addCoarse(axes, tables, found, axis, differ) {
  for (const [place, trust] of axes[axis].trusts) {
    const [first, second] = tables[place].axes;
    const wide = second === undefined ? axes[axis].each : axes[second].coarse;
    found[place].forEach((_, i) => {
      found[place][i] += trust * differ[axis === first ? Math.floor(i / wide) : i % wide];
    });
  }
}
