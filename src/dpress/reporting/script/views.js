/** What is looked at: counts with intervals over the cells of some attributes of a table, others held to conditions. */
import { ofWeights } from "./statistics.js";
import { startsOf } from "./tiles.js";

/**
 * Returns a view; an axis of more than `most` ordered cells is taken in groups of neighbouring ones. Where people are
 * known by whole tiles only, a tile is a cell.
 */
export function viewOf(answers, axes, conditions, most = Infinity) {
  const { attributes, tiles } = answers;
  const several = axes.length + Object.keys(conditions).length;
  const edges = axes.map((axis) =>
    edgeOf(attributes[axis], axis, conditions[axis], most, tiles && startsOf(tiles, axis, several)),
  );
  const everything = answers.attributes.map((own, axis) =>
    axes.includes(axis) ? null : (conditions[axis] ?? new Float64Array(own.size).fill(1)),
  );
  const size = edges.reduce((product, own) => product * own.cells.length, 1);
  const [value, half, error] = [0, 0, 0].map(() => new Float64Array(size));
  const weights = [...everything];
  for (let cell = 0; cell < size; cell++) {
    placesOf(edges, cell).forEach((place, i) => (weights[axes[i]] = edges[i].cells[place].weights));
    const found = ofWeights(answers, weights);
    [value[cell], half[cell], error[cell]] = [found.value, answers.half?.[cell] ?? found.half, found.standardError];
  }
  return { edges, size, value, half, error, noun: answers.noun };
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

function edgeOf(own, axis, condition, most, tiles) {
  const all = Array.from({ length: own.size }, (_, i) => i).filter((i) => !condition || condition[i]);
  const ordered = all.filter((i) => i < own.ordered).length;
  const group = !tiles && ordered > most ? 2 ** Math.ceil(Math.log2(ordered / most)) : 1;
  const starts = tiles ?? Array.from({ length: Math.ceil(ordered / group) }, (_, i) => i * group);
  const ends = [...starts.slice(1), tiles ? own.size : ordered];
  const parts = [...starts.map((first, i) => all.slice(first, ends[i])), ...all.slice(ends.at(-1)).map((one) => [one])];
  const cells = parts.map((inside) => {
    const weights = new Float64Array(own.size);
    for (const one of inside) weights[one] = 1;
    return { label: labelOf(own, inside), tick: tickOf(own, inside[0]), ordered: inside[0] < own.ordered, weights };
  });
  return {
    axis,
    name: own.name,
    caption: own.caption,
    ordered: ordered > 0,
    timed: own.kind === "dated" && !own.cyclic,
    group,
    cells,
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
