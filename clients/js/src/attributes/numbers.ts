/** Integers and numbers between bounds: from a value to the bin that it lies in. */
import { type Kind, type Kinds, MISSING, OUTSIDE, type Place, beside, single } from "../attribute.js";
import { exact, floor } from "../decimal.js";
import { type Fields, integer, integers, list, text } from "../fields.js";
import { must } from "../refusal.js";

const LARGEST = 2 ** 53 - 1;
const FIELDS = "name bounds bins outside null";

const clamped = <T extends number | bigint>(value: T, low: T, high: T): T =>
  value < low ? low : value > high ? high : value;

/** Returns where an integer lies among equal bins. */
function whole(own: Fields, clamp: boolean): [cells: number, place: Place] {
  const [low, high] = integers(own, "bounds", -LARGEST, LARGEST).map(BigInt) as [bigint, bigint];
  const span = high - low + 1n;
  const cells = integer({ bins: own["bins"] ?? Number(span) }, "bins", 1, Math.min(Number(span), LARGEST));
  const place = (value: unknown): number => {
    const found = exact(value);
    if (!found) return MISSING;
    const at = floor(found);
    const near = clamped(at, low, high);
    return near === at || clamp ? Number(((near - low) * BigInt(cells)) / span) : OUTSIDE;
  };
  return [cells, place];
}

/** Returns where a number lies among bins, the last of which is closed. */
function numbers(own: Fields, clamp: boolean): [cells: number, place: Place] {
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
  const place = (value: unknown): number => {
    if (!exact(value)) return MISSING;
    const at = Number(value);
    const near = clamped(at, low, high);
    if (near !== at && !clamp) return OUTSIDE;
    let bin = equal ? clamped(Math.floor(((near - low) / (high - low)) * cells), 0, cells - 1) : 0;
    while (bin > 0 && edge(bin) > near) bin--;
    while (bin < cells - 1 && edge(bin + 1) <= near) bin++;
    return bin;
  };
  return [cells, place];
}

/** Returns the kind whose values are cut into cells in this way. */
const bounded = (fields: string, cut: typeof whole): Kind => ({
  fields,
  make(own, name) {
    const [cells, place] = cut(own, text(own, "outside") === "clamp");
    const [size, cell] = beside(name, cells, "reject", text(own, "null"));
    return single(size, (value) => cell(place(value)));
  },
});

export const KINDS: Kinds = { integer: bounded(FIELDS, whole), numeric: bounded(`${FIELDS} edges`, numbers) };
