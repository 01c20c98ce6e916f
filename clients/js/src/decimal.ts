/** Exact decimals: what a text, a number or a truth is, without rounding. */

/** 0.d1d2d3... times 10^point, without zeros at either end of the digits; zero has none. */
export interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly point: number;
}

const READABLE = /^[ \t\n\r\f]*([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?[ \t\n\r\f]*$/;
const FAR = 20; // digits before the point: beyond all bounds

/** Returns the number that a text reads as, or undefined. */
export function decimal(text: string): Decimal | undefined {
  const match = READABLE.exec(text);
  if (!match) return undefined;
  const [, sign, before = "", after = "", power = "0"] = match;
  const all = before + after;
  const digits = all.replace(/^0+/, "");
  const point = digits ? before.length - (all.length - digits.length) + Number(power) : 0;
  return { negative: sign === "-" && digits !== "", digits: digits.replace(/0+$/, ""), point };
}

/** Returns the number of a value: a float is the shortest decimal that reads back as it, true is 1. */
export function exact(value: unknown): Decimal | undefined {
  if (typeof value === "boolean") return exact(Number(value));
  if (value === Infinity || value === -Infinity) return { negative: value < 0, digits: "1", point: Infinity };
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? decimal(String(value))
    : undefined;
}

/** Returns the number rounded down, or one far away of the same sign. */
export function floor({ negative, digits, point }: Decimal): bigint {
  const size = point > FAR ? 10n ** BigInt(FAR) : BigInt(digits.slice(0, Math.max(point, 0)).padEnd(point, "0") || "0");
  const cut = point <= FAR && digits.length > Math.max(point, 0);
  return negative ? -size - (cut ? 1n : 0n) : size;
}

/** Returns one text for every number, whatever way it was written. */
export const name = (own: Decimal): string => `${own.negative} ${own.digits} ${own.point}`;
