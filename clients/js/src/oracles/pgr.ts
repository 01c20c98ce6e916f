/** `pgr`: a point of a projective space, on the value's hyperplane more often than chance. */
import { little, width } from "../bytes.js";
import { integer } from "../fields.js";
import type { Fraction } from "../fraction.js";
import { type Method } from "../oracle.js";
import { range } from "../range.js";
import { must } from "../refusal.js";
import { truth } from "./krr.js";

const LARGEST = 2 ** 26 - 1;
const LARGEST_ORDER = 1021;
const LARGEST_WORK = 2 ** 27; // points times their order
const MODULI: Readonly<Record<number, number>> = { 4: 0b111, 8: 0b1011 };

/** Says whether there is a field of so many elements that is known here. */
function known(order: number): boolean {
  return order in MODULI || range(order, (d) => d).every((d) => d < 2 || order % d);
}

/** Returns a product of field elements: modulo a prime, or of polynomials over bits. */
export function times(one: number, other: number, order: number): number {
  const modulus = MODULI[order];
  if (!modulus) return (one * other) % order;
  let product = 0;
  for (let bit = order >> 1; bit; bit >>= 1) {
    product = (product << 1) ^ (other & bit ? one : 0);
    if (product & order) product ^= modulus;
  }
  return product;
}

/** Returns one field element less another. */
export const minus = (one: number, other: number, order: number): number =>
  order in MODULI ? one ^ other : (one - other + order) % order;

/** Returns the number of points with so many coordinates. */
export const points = (order: number, size: number): number => (order ** size - 1) / (order - 1);

const digits = (number: number, order: number, size: number): number[] =>
  range(size, (i) => Math.floor(number / order ** (size - 1 - i)) % order);

/** Returns the coordinates of a point: zeros, a 1 and the digits of what is left. */
export function coordinates(number: number, order: number, size: number): number[] {
  let tail = 0;
  while (points(order, tail + 1) <= number) tail++;
  return digits(order ** tail + number - points(order, tail), order, size);
}

/** Returns the number of the point that a vector spans. */
function numbered(vector: readonly number[], order: number): number {
  const lead = vector.findIndex((one) => one);
  let scale = 1;
  while (times(scale, vector[lead]!, order) !== 1) scale++;
  const tail = vector.slice(lead + 1);
  return tail.reduce((sum, one) => sum * order + times(one, scale, order), 0) + points(order, tail.length);
}

const pgr: Method = {
  fields: "size loss order p",
  make(own, loss) {
    const k = integer(own, "size", 1, LARGEST);
    const order = integer(own, "order", 2, LARGEST_ORDER);
    must(known(order), "order");
    let size = 1;
    while (points(order, size) < k) size++;
    must(points(order, size) * order <= LARGEST_WORK, "order");
    const [vectors, on, bytes] = [order ** (size - 1), points(order, size - 1), width(points(order, size))];
    const odds: Fraction = on ? [BigInt(vectors), BigInt(on)] : [0n, 1n];
    const p = truth(own["p"], loss, odds);
    return {
      sizes: [k],
      width: bytes,
      answer([code], coins) {
        if (k === 1) return little(0, bytes);
        const near = coins.toss(p);
        const [first, second] = [coins.small(vectors - 1)[0]! + 1, coins.small(vectors)[0]!];
        const value = coordinates(code!, order, size);
        const lead = value.indexOf(1);
        const x = digits(near ? first : second, order, size - 1);
        x.splice(lead, 0, 0);
        x[lead] = x.reduce((sum, one, i) => minus(sum, times(one, value[i]!, order), order), near ? 0 : 1);
        return little(numbered(x, order), bytes);
      },
    };
  },
};

export const METHODS = { pgr };
