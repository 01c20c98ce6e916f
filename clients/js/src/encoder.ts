/** From the codes of some attributes to the values that an oracle is given. */
import { type Fields, fields, integer, integers, list, text } from "./fields.js";
import { cell } from "./grid.js";
import { refuse } from "./refusal.js";

export interface Encoder {
  /** How many cells each of its values has. */
  readonly sizes: readonly number[];
  /** Whether the values are codes as they are, so that a permanent response can be kept. */
  readonly plain: boolean;
  values(codes: readonly number[]): readonly number[];
}

const FIELDS: Readonly<Record<string, string>> = {
  code: "encoder",
  codes: "encoder",
  combination: "encoder sizes",
  node: "encoder side shift",
  leaf: "encoder side leaves",
};

/** Returns the number of the leaf whose path begins that of a cell. */
function leaf(own: Fields, side: number): [number, (cell: number) => number] {
  const height = Math.log2(side);
  const leaves = list(own, "leaves").map((path) => text({ path }, "path"));
  const widths = leaves.map((path) => (/^[0-3]+$/.test(path) ? 4 ** (height - path.length) : NaN));
  let end = 0;
  const ends = leaves.map((path, i) => (parseInt(path, 4) * widths[i]! === end ? (end += widths[i]!) : NaN));
  if (end !== side * side || ends.some((one) => !Number.isInteger(one))) refuse("leaves: expected every cell once");
  return [leaves.length, (found) => ends.findIndex((one) => found < one)];
}

/** Returns the encoder of a document, for attributes with so many cells. */
export function readEncoder(document: unknown, cells: readonly number[]): Encoder {
  const kind = String((document as { encoder?: unknown } | null)?.encoder);
  if (!Object.hasOwn(FIELDS, kind)) refuse("encoder: unknown to this client");
  const own = fields(document, FIELDS[kind]!);
  if (kind === "codes" || (kind === "code" && cells.length === 1))
    return { sizes: cells, plain: true, values: (codes) => codes };
  if (kind === "combination") {
    const sizes = integers(own, "sizes", 1, 2 ** 31);
    if (sizes.join() !== cells.join()) refuse("sizes: not those of the attributes");
    const values = (codes: readonly number[]) => [codes.reduce((sum, code, i) => sum * sizes[i]! + code, 0)];
    return { sizes: [sizes.reduce((a, b) => a * b)], plain: false, values };
  }
  const side = kind === "code" ? refuse("axes: expected one") : integer(own, "side", 1, 1024);
  const height = Math.log2(side);
  if (cells.join() !== `${side},${side}`) refuse("side: not that of the attributes");
  if (kind === "leaf") {
    const [size, find] = leaf(own, side);
    return { sizes: [size], plain: false, values: ([across, up]) => [find(cell(side, across!, up!))] };
  }
  const shift = integer(own, "shift", 0, Number.isInteger(height) ? 2 * height : 0);
  const values = ([across, up]: readonly number[]) => [cell(side, across!, up!) >> shift];
  return { sizes: [(side * side) / 2 ** shift], plain: false, values };
}
