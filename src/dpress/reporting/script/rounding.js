/** Numbers for people, in no more digits than the error warrants: as `dpress.reporting.rounding` writes them. */

const FINEST = 1e-6; // of a person, to which a count is rounded however small its error
const MINUS = "\u2212";
const MARK = ".."; // stands in the place of a hidden number, which is null
const HIDDEN = `hidden (${MARK})`;

/** Returns the power of ten to which a number with this standard error is rounded: at most a third of the error. */
export const unitFor = (error) =>
  error > 0 && error < Infinity ? Math.max(10 ** Math.floor(Math.log10(error / 3)), FINEST) : 1;

/** Returns a number as a multiple of a power of ten, with thousands separators; `towards` is Math.floor or Math.ceil. */
export function number(value, unit = 1, towards = null) {
  if (value === null) return MARK;
  if (!Number.isFinite(value)) return value < 0 ? `${MINUS}∞` : "∞";
  const places = Math.max(0, Math.round(-Math.log10(unit)));
  const step = unit > 1 ? Math.round(unit) : 1;
  let text = places ? value.toFixed(places) : String((towards ?? Math.round)(value / step) * step);
  if (places && towards === Math.floor && Number(text) > value) text = (Number(text) - unit).toFixed(places);
  if (places && towards === Math.ceil && Number(text) < value) text = (Number(text) + unit).toFixed(places);
  const [whole, rest] = text.replace("-", "").split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? `.${rest}` : "");
  return Number(text) < 0 ? MINUS + grouped : grouped;
}

/** Returns an interval with its ends rounded outward. */
export const interval = (low, high, unit = 1) =>
  low === null ? MARK : `${number(low, unit, Math.floor)} to ${number(high, unit, Math.ceil)}`;

/** Returns an error with two significant digits, or three before the point. */
export function error(value) {
  if (value === null) return MARK;
  if (!Number.isFinite(value)) return "not known";
  return value > 0 ? number(value, 10 ** Math.min(0, Math.floor(Math.log10(value)) - 1)) : "0";
}

/** Returns an answer with its interval and standard error, in the words of the page. */
export function answered({ value, standardError, interval: ends, base = 1 }, of = "count") {
  if (value === null) return HIDDEN;
  if (Number.isNaN(value))
    return `not known: the count that it is divided by may be zero. 95 % interval ${interval(...ends)}`;
  const finest = unitFor(standardError);
  const unit =
    base > 1
      ? base
      : of === "count" && value % 1 === 0
        ? Math.max(1, finest)
        : standardError > 0 || of === "count"
          ? finest
          : 1e-4;
  return `${number(value, unit)}, 95 % interval ${interval(...ends, unit)}, standard error ${error(standardError)}`;
}
