/** Queries on the published tables: values, and the exact variance of their noise. */
import { attribute } from "./attributes.js";
import { varianceOf } from "./errors.js";
import { unpacked } from "./unpacked.js";
import { weighed } from "./weighed.js";

/** Returns what answers queries: `attributes`, `tables`, and `form`, from weights to [value, variance]. */
export function answersOf(data) {
  const attributes = data.attributes.map(attribute);
  const tables = new Tables(attributes, data.tables);
  const variance = data.error && varianceOf(data.error, tables);
  const everybody = (weights) => data.users !== null && !weighed(weights).length; // how many took part is known
  const form = (weights) => [tables.sum(weights, data.users), everybody(weights) ? 0 : variance(weights)];
  return {
    ...data,
    attributes,
    tables,
    form,
    most: data.most ?? null, // where adjusted counts answer: what no count is above
    signed: data.signed && signedForm(data, tables, variance),
  };
}

/** Returns from weights of any sign to [value, variance]; see `query.table_answers`. */
function signedForm({ signed, users }, tables, variance) {
  const spread =
    signed === "doubled" ? (weights) => 2 * variance(weights) : signed.form ? varianceOf(signed, tables) : variance;
  return (weights) => {
    const axes = weighed(weights);
    if (users !== null && !axes.length) return [users, 0];
    if (users === null || axes.length !== 1) return [tables.sum(weights, users), spread(weights)];
    const level = weights[axes[0]].reduce((sum, one) => sum + one, 0) / weights[axes[0]].length; // counts everybody
    const own = weights.map((one, axis) => (axis === axes[0] ? one.map((weight) => weight - level) : one));
    return [tables.sum(own, users) + level * users, spread(own)];
  };
}

class Tables {
  constructor(attributes, tables) {
    this.sizes = attributes.map((one) => one.size);
    this.all = tables.map((one) => ({
      ...one,
      counts: unpacked(one.counts),
      adjusted: one.adjusted && unpacked(one.adjusted),
    }));
  }

  /** Returns the place of the smallest table with these axes, or -1. */
  holding(axes) {
    let best = -1;
    this.all.forEach((one, place) => {
      const smaller = best < 0 || one.counts.length < this.all[best].counts.length;
      if (smaller && axes.every((axis) => one.axes.includes(axis))) best = place;
    });
    return best;
  }

  /** Calls `act(weight, cell)` for every cell of a table. */
  each(place, weights, act) {
    const own = this.all[place].axes.map((axis) => weights[axis]);
    const walk = (depth, weight, start) => {
      if (depth === own.length) return act(weight, start);
      const size = own[depth].length;
      for (let i = 0; i < size; i++) if (own[depth][i]) walk(depth + 1, weight * own[depth][i], start * size + i);
    };
    walk(0, 1, 0);
  }

  /** Returns the weighted sum of the smallest table that holds what is weighed; how many took part is known. */
  sum(weights, users) {
    const axes = weighed(weights);
    if (!axes.length && users !== null) return users;
    const place = this.holding(axes);
    return this.summed(place, weights, this.all[place].counts);
  }

  /** Returns the same of the adjusted counts. */
  adjustedSum(weights) {
    const place = this.holding(weighed(weights));
    return this.summed(place, weights, this.all[place].adjusted);
  }

  summed(place, weights, counts) {
    let sum = 0;
    this.each(place, weights, (weight, cell) => (sum += weight * counts[cell]));
    return sum;
  }
}
