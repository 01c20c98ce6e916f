/** What is looked at: counts with intervals over the cells of some attributes of a table, others held to conditions. */
import { countOf, ofWeights } from "./statistics.js";
import { startsOf } from "./tiles.js";

export const FEW = 30; // values without an order, or rows, that stand as they are listed and need no search

/**
 * Returns a view. An axis of more than `most` ordered cells is taken in groups of neighbouring ones, of one of more than
 * 30 without an order the `top` largest, and the others are its edge's `rest`; `levels` says which level of its hierarchy
 * an axis shows. Where people are known by whole tiles only, a tile is a cell.
 */
export function viewOf(answers, axes, conditions, { most = Infinity, top = Infinity, levels = {} } = {}) {
  const { attributes, tiles } = answers;
  const several = axes.length + Object.keys(conditions).length;
  const all = attributes.map((own, axis) => conditions[axis] ?? new Float64Array(own.size).fill(1));
  const edges = axes.map((axis) => {
    const parts = levels[axis] && partsOf(levels[axis], conditions[axis]);
    const starts = parts ? null : tiles && startsOf(tiles, axis, several);
    const edge = edgeOf(attributes[axis], axis, conditions[axis], most, { parts, starts });
    return edge.ordered || tiles ? edge : ranked(answers, edge, all, top);
  });
  const everything = all.map((own, axis) => (axes.includes(axis) ? null : own));
  const size = edges.reduce((product, own) => product * own.cells.length, 1);
  const [value, low, high, error] = [0, 0, 0, 0].map(() => new Float64Array(size));
  const weights = [...everything];
  for (let cell = 0; cell < size; cell++) {
    placesOf(edges, cell).forEach((place, i) => (weights[axes[i]] = edges[i].cells[place].weights));
    const found = ofWeights(answers, weights);
    [value[cell], error[cell]] = [found.value, found.standardError];
    [low[cell], high[cell]] = found.interval;
  }
  return { edges, size, value, low, high, error, noun: answers.noun };
}

/** Returns which cell of every edge a cell of a view is. */
export function placesOf(edges, cell) {
  const places = [];
  for (let rest = cell, i = edges.length - 1; i >= 0; i--) {
    places.unshift(rest % edges[i].cells.length);
    rest = Math.floor(rest / edges[i].cells.length);
  }
  return places;
}

/** Returns the cells below every node of a level, of those that a condition holds. */
const partsOf = (level, condition) =>
  level
    .map(({ label, cells }) => ({ label, cells: cells.filter((i) => !condition || condition[i]) }))
    .filter(({ cells }) => cells.length);

/** Returns an edge of more than 30 cells with the largest first, and how many those beyond the `top` are together. */
function ranked(answers, edge, all, top) {
  if (edge.cells.length <= FEW) return edge;
  const counts = new Map(edge.cells.map((one) => [one, countOf(answers, all.with(edge.axis, one.weights))]));
  const alphabet = edge.cells.toSorted((one, other) => one.label.localeCompare(other.label));
  const keys = new Map(alphabet.map((one, key) => [one, key]));
  const order = edge.cells.toSorted((one, other) => counts.get(other) - counts.get(one));
  const cells = order.slice(0, top).map((one) => ({ ...one, key: keys.get(one) }));
  const others = order.slice(top);
  const rest = others.length ? { of: order.length, answer: together(answers, all, edge.axis, others) } : null;
  return { ...edge, cells, ranked: true, rest };
}

/** Returns how many some cells of an axis are together. */
function together(answers, all, axis, cells) {
  const weights = new Float64Array(all[axis].length);
  for (const one of cells) one.weights.forEach((weight, i) => (weights[i] += weight));
  return ofWeights(answers, all.with(axis, weights));
}

function edgeOf(own, axis, condition, most, { parts: groups, starts: tiles }) {
  const all = Array.from({ length: own.size }, (_, i) => i).filter((i) => !condition || condition[i]);
  const ordered = all.filter((i) => i < own.ordered).length;
  const group = !tiles && ordered > most ? 2 ** Math.ceil(Math.log2(ordered / most)) : 1;
  const starts = tiles ?? Array.from({ length: Math.ceil(ordered / group) }, (_, i) => i * group);
  const ends = [...starts.slice(1), tiles ? own.size : ordered];
  const parts = [...starts.map((first, i) => all.slice(first, ends[i])), ...all.slice(ends.at(-1)).map((one) => [one])];
  const named = groups ?? parts.map((inside) => ({ cells: inside, label: labelOf(own, inside) }));
  const cells = named.map(({ label, cells: inside }, key) => {
    const weights = new Float64Array(own.size);
    for (const one of inside) weights[one] = 1;
    const tick = groups ? label : tickOf(own, inside[0]);
    return { label, tick, ordered: inside[0] < own.ordered, weights, key };
  });
  return {
    axis,
    name: own.name,
    caption: own.caption,
    ordered: ordered > 0,
    timed: own.kind === "dated" && !own.cyclic,
    group: groups ? 1 : group,
    cells,
    rest: null,
  };
}

function labelOf(own, cells) {
  const [first, last] = [own.labels[cells[0]], own.labels[cells.at(-1)]];
  return first === last ? first : `${first} to ${last}`;
}

const tickOf = (own, cell) =>
  own.edges && own.kind !== "dated" && cell < own.ordered
    ? String(Number(own.edges[cell].toPrecision(7)))
    : own.labels[cell];
