/** From the codes of some attributes to the values that an oracle is given. */
import { type Fields, fields, integer, integers, list, maker, text } from "./fields.js";
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

/** Returns one number for the numbers of some cells, the last of which counts fastest. */
const combined = (numbers: readonly number[], sizes: readonly number[]): number =>
  numbers.reduce((sum, number, i) => sum * sizes[i]! + number, 0);

const cellsOf = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b);

/** What an encoder needs, and makes: how many cells its attributes have, how many its values, and the value of codes. */
interface Made {
  readonly fields: string;
  make(
    own: Fields,
    cells: readonly number[],
  ): [needs: readonly number[], size: number, value: (codes: readonly number[]) => number];
}

const side = (own: Fields): number => integer(own, "side", 1, 1024);

const ENCODERS: Readonly<Record<string, Made>> = {
  combination: {
    fields: "sizes",
    make(own) {
      const sizes = integers(own, "sizes", 1, 2 ** 31);
      return [sizes, cellsOf(sizes), (codes) => combined(codes, sizes)];
    },
  },
  run: {
    fields: "cells",
    make(own, cells) {
      const width = integer(own, "cells", 1, 2 ** 31);
      return [[cells[0]!], Math.ceil(cells[0]! / width), ([code]) => Math.floor(code! / width)];
    },
  },
  interval: {
    fields: "cells starts",
    make(own) {
      const size = integer(own, "cells", 1, 2 ** 31);
      const starts = integers(own, "starts", 0, size - 1);
      must(!starts[0] && starts.every((start, i) => !i || start > starts[i - 1]!), "starts");
      return [[size], starts.length, ([code]) => starts.filter((start) => start <= code!).length - 1];
    },
  },
  tile: {
    fields: "sizes tiles",
    make(own) {
      const sizes = integers(own, "sizes", 1, 2 ** 20);
      const tiles = integers(own, "tiles", 1, 2 ** 20);
      must(tiles.length === sizes.length && tiles.every((tile, i) => tile <= sizes[i]!), "tiles");
      const tile = (code: number, i: number): number => Math.floor((code * tiles[i]!) / sizes[i]!);
      return [sizes, cellsOf(tiles), (codes) => combined(codes.map(tile), tiles)];
    },
  },
  node: {
    fields: "side shift",
    make(own) {
      const size = side(own);
      const height = Math.log2(size);
      const shift = integer(own, "shift", 0, Number.isInteger(height) ? 2 * height : 0);
      return [[size, size], (size * size) / 2 ** shift, ([across, up]) => cell(size, across!, up!) >> shift];
    },
  },
  leaf: {
    fields: "side leaves",
    make(own) {
      const size = side(own);
      const [leaves, find] = leaf(own, size);
      return [[size, size], leaves, ([across, up]) => find(cell(size, across!, up!))];
    },
  },
};

/** Returns the encoder of a document, for attributes with so many cells. */
export function readEncoder(document: unknown, cells: readonly number[]): Encoder {
  const kind: unknown = Object(document)["encoder"];
  if (kind === "code" || kind === "codes") {
    fields(document, "encoder");
    must(kind === "codes" || cells.length === 1, "axes");
    return { sizes: cells, plain: true, values: (codes) => codes };
  }
  const [made, own] = maker(document, ENCODERS, "encoder");
  const [needs, size, value] = made.make(own, cells);
  must(needs.join() === cells.join(), "sizes");
  return { sizes: [size], plain: false, values: (codes) => [value(codes)] };
}
