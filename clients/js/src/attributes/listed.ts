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

/** Returns the place of a value, MISSING where it is none of these kinds, OUTSIDE where it has no place. */
function placed(values: Values, given: unknown): number {
  const kind = typeof values[0];
  const value = typeof given === "string" && kind !== "string" ? meant(given, kind === "number") : given;
  if (value === null && given !== null) return OUTSIDE;
  if (typeof value !== "string" && !exact(value)) return MISSING;
  if (typeof value === "number" && Math.abs(value) >= 2 ** 53) return OUTSIDE; // it may stand for another integer
  const texts = kind === "string";
  const whole = texts && (typeof value === "string" || typeof value === "boolean");
  const wanted = whole ? String(value) : name(exact(value)!);
  const fits = (one: unknown): boolean =>
    wanted === (whole ? one : (!texts || NUMERAL.test(one as string)) && name(exact(one)!));
  let found = OUTSIDE;
  values.forEach((one, place) => {
    if (fits(one) && (found < 0 || String(one).length < String(values[found]).length)) found = place;
  });
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
