/** Strings that nobody listed: from a text to the candidate of a round that it begins with, or is. */
import { type Kinds, single } from "../attribute.js";
import { hex, joined } from "../bytes.js";
import { integer, text } from "../fields.js";
import { must, refuse } from "../refusal.js";
import { FIELDS } from "./listed.js";

const MOST = 2 ** 24;

/** Returns the bits of hexadecimal digits. */
const binary = (digits: string): string =>
  digits.replace(/./g, (digit) => parseInt(digit, 16).toString(2).padStart(4, "0"));

/** Returns the places of the entries of a list, which may be empty, all different. */
function places(value: unknown, named: (one: string) => string): Map<string, number> {
  must(Array.isArray(value), "a list");
  const found = new Map(value.map((one: unknown, place) => [named(text({ one }, "one")), place]));
  must(found.size === value.length, "different texts");
  return found;
}

/** Strings as a round asks for them: a round's candidates have a cell each, and last, all others have one. */
export const KINDS: Kinds = {
  strings: {
    fields: `${FIELDS} longest known bits prefixes strings`,
    make(own, name) {
      const longest = integer(own, "longest", 1, 32);
      const known = integer(own, "known", 0, 8 * longest);
      const bits = integer(own, "bits", 0, Math.min(24, 8 * longest - known));
      const prefixes = places(own["prefixes"], (digits) => binary(digits).slice(0, known));
      const strings = places(own["strings"], (string) => string);
      const whole = prefixes.size * 2 ** bits;
      const other = whole + strings.size;
      must(own["values"] === "discover" && other < MOST, "values");
      return single(other + 1, (value) => {
        const given = typeof value === "string" || typeof value === "boolean" || typeof value === "bigint";
        if (!given && !Number.isSafeInteger(value))
          return own["null"] === "reject" ? refuse(`${name}: a value is missing`) : other;
        const written = String(value);
        const bytes = joined(written);
        if (!bytes.length || bytes.length > longest || bytes.includes(0) || /\p{Surrogate}/u.test(written))
          return other;
        const digits = binary(hex(bytes).padEnd(2 * longest, "0"));
        const place = prefixes.get(digits.slice(0, known));
        const next = parseInt(`0${digits.slice(known, known + bits)}`, 2);
        return place === undefined ? whole + (strings.get(written) ?? strings.size) : place * 2 ** bits + next;
      });
    },
  },
};
