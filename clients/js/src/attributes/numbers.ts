/** Integers and numbers between bounds: from a value to the bin that it lies in. */
import { type Kind, type Kinds, MISSING, OUTSIDE, beside, single } from "../attribute.js";
import { exact, floor } from "../decimal.js";
import { type Fields, integer, integers, list, text } from "../fields.js";
import { must } from "../refusal.js";

const LARGEST = 2 ** 53 - 1;
const FIELDS = "name bounds outside null ";

/** How many cells there are, what is read of a value (undefined where it is missing), its bounds, and its cell. */
export type Cut<T> = [
  cells: number,
  read: (value: unknown) => T | undefined,
  low: T,
  high: T,
  cell: (near: T) => number,
];

const clamped = <T>(value: T, low: T, high: T): T => (value < low ? low : value > high ? high : value);

/** Returns equal bins of integers. */
function whole(own: Fields): Cut<bigint> {
  const [low, high] = integers(own, "bounds", -LARGEST, LARGEST).map(BigInt) as [bigint, bigint];
  const span = high - low + 1n;
  const cells = integer({ bins: own["bins"] ?? Number(span) }, "bins", 1, Math.min(Number(span), LARGEST));
  const read = (value: unknown): bigint | undefined => {
    const found = exact(value);
    return found && floor(found);
  };
  return [cells, read, low, high, (near) => Number(((near - low) * BigInt(cells)) / span)];
}

/** Returns bins of numbers, the last of which is closed. */
function numbers(own: Fields): Cut<number> {
  const equal = own["edges"] === null;
  const given = list(own, equal ? "bounds" : "edges");
  const stated = given.map((one) => (typeof one === "string" ? Number(one) : NaN));
  const cells = equal ? integer(own, "bins", 1, LARGEST) : stated.length - 1;
  const [low, high] = [stated[0]!, stated.at(-1)!];
  const edge = (i: number): number => (equal ? (i === cells ? high : low + ((high - low) * i) / cells) : stated[i]!);
  must(
    stated.length > 1 && stated.every((one, i) => Number.isFinite(one) && !(one <= stated[i - 1]!)),
    "bounds, edges",
  );
  const cell = (near: number): number => {
    let bin = equal ? clamped(Math.floor(((near - low) / (high - low)) * cells), 0, cells - 1) : 0;
    while (bin > 0 && edge(bin) > near) bin--;
    while (bin < cells - 1 && edge(bin + 1) <= near) bin++;
    return bin;
  };
  return [cells, (value) => (exact(value) ? Number(value) : undefined), low, high, cell];
}

/** Returns the kind whose values are cut into cells in this way. */
export const bounded = <T>(fields: string, cut: (own: Fields) => Cut<T>): Kind => ({
  fields: FIELDS + fields,
  make(own, name) {
    const [cells, read, low, high, place] = cut(own);
    const [size, cell] = beside(name, cells, "reject", text(own, "null"));
    const clamp = text(own, "outside") === "clamp";
    return single(size, (value) => {
      const at = read(value);
      if (at === undefined) return cell(MISSING);
      const near = clamped(at, low, high);
      return cell(near === at || clamp ? place(near) : OUTSIDE);
    });
  },
});

export const KINDS: Kinds = { integer: bounded("bins", whole), numeric: bounded("bins edges", numbers) };
