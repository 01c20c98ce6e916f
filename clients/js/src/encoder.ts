/** From the codes of some attributes to the values that an oracle is given. */
import { type Fields, fields, integer, integers, list, text } from "./fields.js";
import { cell } from "./grid.js";
import { must } from "./refusal.js";

export interface Encoder {
  /** How many cells each of its values has. */
  readonly sizes: readonly number[];
  /** Whether the values are codes as they are, so that a permanent response can be kept. */
  readonly plain: boolean;
  values(codes: readonly number[]): readonly number[];
}

/** Returns the number of the leaf whose path begins that of a cell. */
function leaf(own: Fields, side: number): [number, (cell: number) => number] {
  const height = Math.log2(side);
  const leaves = list(own, "leaves").map((path) => text({ path }, "path"));
  const widths = leaves.map((path) => (/^[0-3]+$/.test(path) ? 4 ** (height - path.length) : NaN));
  let end = 0;
  const ends = leaves.map((path, i) => (parseInt(path, 4) * widths[i]! === end ? (end += widths[i]!) : NaN));
  must(end === side * side && ends.every(Number.isInteger), "leaves");
  return [leaves.length, (found) => ends.findIndex((one) => found < one)];
}

/** Returns an encoder to one value of so many cells. */
const single = (size: number, value: (codes: readonly number[]) => number): Encoder => ({
  sizes: [size],
  plain: false,
  values: (codes) => [value(codes)],
});

/** Returns one number for the numbers of some cells, the last of which counts fastest. */
const combined = (numbers: readonly number[], sizes: readonly number[]): number =>
  numbers.reduce((sum, number, i) => sum * sizes[i]! + number, 0);

const cellsOf = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b);

/** Returns the encoder of a document, for attributes with so many cells. */
export function readEncoder(document: unknown, cells: readonly number[]): Encoder {
  const { encoder: kind } = Object(document) as { encoder: unknown };
  if (kind === "code" || kind === "codes") {
    fields(document, "encoder");
    must(kind === "codes" || cells.length === 1, "axes");
    return { sizes: cells, plain: true, values: (codes) => codes };
  }
  if (kind === "combination") {
    const sizes = integers(fields(document, "encoder sizes"), "sizes", 1, 2 ** 31);
    must(sizes.join() === cells.join(), "sizes");
    return single(cellsOf(sizes), (codes) => combined(codes, sizes));
  }
  if (kind === "run") {
    const width = integer(fields(document, "encoder cells"), "cells", 1, 2 ** 31);
    must(cells.length === 1, "axes");
    return single(Math.ceil(cells[0]! / width), ([code]) => Math.floor(code! / width));
  }
  if (kind === "interval") {
    const own = fields(document, "encoder cells starts");
    const size = integer(own, "cells", 1, 2 ** 31);
    const starts = integers(own, "starts", 0, size - 1);
    must(cells.join() === `${size}`, "cells");
    must(!starts[0] && starts.every((start, i) => !i || start > starts[i - 1]!), "starts");
    return single(starts.length, ([code]) => starts.filter((start) => start <= code!).length - 1);
  }
  if (kind === "tile") {
    const own = fields(document, "encoder sizes tiles");
    const sizes = integers(own, "sizes", 1, 2 ** 20);
    const tiles = integers(own, "tiles", 1, 2 ** 20);
    must(sizes.join() === cells.join(), "sizes");
    must(tiles.length === sizes.length && tiles.every((tile, i) => tile <= sizes[i]!), "tiles");
    const tile = (code: number, i: number): number => Math.floor((code * tiles[i]!) / sizes[i]!);
    return single(cellsOf(tiles), (codes) => combined(codes.map(tile), tiles));
  }
  must(kind === "node" || kind === "leaf", "encoder");
  const own = fields(document, `encoder side ${kind === "leaf" ? "leaves" : "shift"}`);
  const side = integer(own, "side", 1, 1024);
  const height = Math.log2(side);
  must(cells.join() === `${side},${side}`, "side");
  if (kind === "leaf") {
    const [size, find] = leaf(own, side);
    return single(size, ([across, up]) => find(cell(side, across!, up!)));
  }
  const shift = integer(own, "shift", 0, Number.isInteger(height) ? 2 * height : 0);
  return single((side * side) / 2 ** shift, ([across, up]) => cell(side, across!, up!) >> shift);
}
