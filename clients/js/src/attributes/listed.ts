/** Listed values, with or without an order: the place of a value in a list of texts, of integers or of truths. */
import { type Kind, type Kinds, MISSING, OUTSIDE, type Place, beside, single } from "../attribute.js";
import { decimal, exact, name } from "../decimal.js";
import { type Fields, list, text } from "../fields.js";

type Values = readonly (string | number | boolean)[];

const NUMERAL = /^-?(0|[1-9]\d*)(\.\d+)?$/;
export const BLANKS = /^[ \t\n\r\f]+|[ \t\n\r\f]+$/g;
const TRUTHS = ["false", "0", "true", "1"];

/** Returns what a text is in a list of integers or truths. */
function meant(text: string, integers: boolean): unknown {
  if (integers) return decimal(text) ? text : undefined;
  const place = TRUTHS.indexOf(text.replace(BLANKS, "").toLowerCase());
  return place < 0 ? null : place > 1;
}

/** Returns the text that a listed text must be, or the number that it must stand for. */
function wanted(value: unknown): (one: string) => boolean {
  if (typeof value === "string" || typeof value === "boolean") return (one) => one === String(value);
  const number = name(exact(value)!);
  return (one) => NUMERAL.test(one) && name(decimal(one)!) === number;
}

/** Returns the place of a value, MISSING where it is none of these kinds, OUTSIDE where it has no place. */
function placed(values: Values, given: unknown): number {
  const kind = typeof values[0];
  const value = typeof given === "string" && kind !== "string" ? meant(given, kind === "number") : given;
  if (value === null && given !== null) return OUTSIDE;
  if (typeof value !== "string" && !exact(value)) return MISSING;
  if (typeof value === "number" && Math.abs(value) >= 2 ** 53) return OUTSIDE; // it may stand for another integer
  let found = OUTSIDE;
  if (kind === "string") {
    const fits = wanted(value);
    values.forEach((one, place) => {
      if (fits(one as string) && (found < 0 || (one as string).length < (values[found] as string).length))
        found = place;
    });
    return found;
  }
  const number = name(exact(value)!);
  values.forEach((one, place) => (found = name(exact(one)!) === number ? place : found));
  return found;
}

export const FIELDS = "name values other null hierarchy";

/** Returns the place of a value in the list of a document, how many cells there are, and the cell of a place. */
export function listing(own: Fields, name: string): [place: Place, ...ReturnType<typeof beside>] {
  const values = list(own, "values") as Values;
  const other = text(own, "other");
  const missing = own["null"] === null ? other : text(own, "null");
  return [(value) => placed(values, value), ...beside(name, values.length, other, missing)];
}

const listed: Kind = {
  fields: FIELDS,
  make(own, name) {
    const [place, size, cell] = listing(own, name);
    return single(size, (value) => cell(place(value)));
  },
};

export const KINDS: Kinds = { categorical: listed, ordinal: listed };
