/** Exact fractions, and what an epsilon allows: odds up to e^epsilon, decided without a floating-point number. */
import { must } from "./refusal.js";

export type Fraction = readonly [top: bigint, bottom: bigint];

const ONE: Fraction = [1n, 1n];
const BITS = 256n; // after the point, of e^epsilon
const STEPS = 10n ** 24n; // in which a logarithm is rounded up
const SHOWN = 10n ** 15n; // in which a number is shown
const found = new Map<string, Fraction>();

const gcd = (a: bigint, b: bigint): bigint => (b ? gcd(b, a % b) : a);

/** Returns the fraction in lowest terms. */
export function reduced(top: bigint, bottom: bigint): Fraction {
  const common = gcd(top, bottom);
  return [top / common, bottom / common];
}

/** Returns the fraction that a text "num/den" in lowest terms says. */
export function fraction(value: unknown): Fraction {
  const match = typeof value === "string" && /^(0|[1-9]\d*)\/([1-9]\d*)$/.exec(value);
  const [top, bottom] = match ? [BigInt(match[1]!), BigInt(match[2]!)] : [0n, 0n];
  must(bottom && gcd(top, bottom) === 1n, "a fraction");
  return [top, bottom];
}

export const sum = (a: Fraction, b: Fraction): Fraction => reduced(a[0] * b[1] + b[0] * a[1], a[1] * b[1]);
export const product = (a: Fraction, b: Fraction): Fraction => reduced(a[0] * b[0], a[1] * b[1]);
export const quotient = (a: Fraction, b: Fraction): Fraction => [a[0] * b[1], a[1] * b[0]];
export const rest = (p: Fraction): Fraction => [p[1] - p[0], p[1]];
export const above = (a: Fraction, b: Fraction): boolean => a[0] * b[1] > b[0] * a[1];
export const odds = (p: Fraction): Fraction => [p[0], p[1] - p[0]];
export const whole = (number: number): Fraction => [BigInt(number), 1n];
export const number = ([top, bottom]: Fraction): number => Number((top * SHOWN) / bottom) / Number(SHOWN);

/** Returns the epsilon of `{"epsilon": "num/den"}`, between 1e-9 and 1000. */
export function epsilon(value: unknown): Fraction {
  const own = fraction(value);
  must(!above([1n, 10n ** 9n], own) && !above(own, whole(1000)), "epsilon");
  return own;
}

/** Says whether a ratio is at most e^epsilon. The series is cut off and rounded down: never true where it is not. */
export function allows(epsilon: Fraction, ratio: Fraction): boolean {
  let [term, total] = [1n << BITS, 0n];
  for (let n = 1n; term; n++) {
    total += term;
    term = (term * epsilon[0]) / (epsilon[1] * n);
  }
  return ratio[0] << BITS <= total * ratio[1];
}

/** Refuses odds of the true value against another that are not above 1, or above e^epsilon. */
export function checkOdds(ratio: Fraction, epsilon: Fraction): void {
  must(above(ratio, ONE) && allows(epsilon, ratio), "the odds");
}

/** Returns the smallest multiple of 1e-24 that is at least `times` ln(ratio), for a ratio above 1. */
export function logarithm(ratio: Fraction, times: number): Fraction {
  const name = `${ratio} ${times}`;
  let known = found.get(name);
  if (!known) {
    const [n, bottom] = [Math.log(number(ratio)) * times, STEPS * BigInt(times)];
    let low = BigInt(Math.floor(n * 1e9 - 1)) * 10n ** 15n; // allows less
    let high = low + 4n * 10n ** 15n;
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (allows([middle, bottom], ratio)) high = middle;
      else low = middle;
    }
    found.set(name, (known = reduced(high, STEPS)));
  }
  return known;
}
