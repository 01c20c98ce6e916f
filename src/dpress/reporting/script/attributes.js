/** Attributes: which cells an axis has, what they are called, and which a text of a query names. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Returns an attribute with its edges, labels, and the names behind its cells. */
export function attribute(own) {
  const edges =
    own.kind === "listed" ? null : (own.edges ?? Array.from({ length: own.ordered + 1 }, (_, i) => edge(own, i)));
  const names = own.names ?? Array.from({ length: own.size }, (_, i) => named(own, edges, i));
  return { ...own, edges, names, labels: own.labels ?? names, whole: own.kind !== "numeric", groups: own.groups ?? {} };
}

/** Returns an edge of cells as equal as their kind of number allows. */
function edge({ kind, bounds: [low, high], ordered }, place) {
  if (kind === "numeric") return place === ordered ? high : low + ((high - low) * place) / ordered;
  const span = high - low + 1;
  return low + Math.ceil((place * span) / ordered);
}

/** Returns the name of a cell of numbers of an axis so long that the page has none. */
function named(own, edges, cell) {
  if (cell >= own.ordered) return own.missing;
  const [low, high] = [edges[cell], edges[cell + 1]];
  if (own.kind === "integer") return high === low + 1 ? String(low) : `${low}..${high - 1}`;
  const last = cell + 1 === own.ordered ? "]" : ")";
  return `[${digits(low)}, ${digits(high)}${last}`;
}

const digits = (value) => String(Number(value.toPrecision(10)));

/** Returns the cell of this name or label, or -1; codes of `digits` may be without their leading zeros. */
export function code(own, text) {
  const written = own.digits && /^\d+$/.test(text) ? text.padStart(own.digits, "0") : text;
  const found = own.names.indexOf(written);
  return found < 0 ? own.labels.indexOf(text) : found;
}

/** Returns the attributes as conditions name them: each by its name and by the levels of its tree, with their cells. */
export const columnsOf = (attributes) =>
  attributes.flatMap((own, axis) => [
    { ...own, axis },
    ...(own.levels ?? []).map((level) => ({ ...attribute({ ...own, levels: [], ...level }), axis })),
  ]);

/** Returns the levels of an attribute's hierarchy, each with its title and its nodes, which have a label and cells. */
export function levelsOf(own) {
  const above = (own.levels ?? [])
    .filter((one) => one.size < own.size)
    .map(({ name, names, labels = names, starts }) => ({
      title: name,
      nodes: labels.map((label, i) => ({ label, cells: span(starts[i], starts[i + 1]) })),
    }));
  const listed = (own.ladder ?? []).map((names, i) => {
    const held = new Set(names.flatMap((name) => own.groups[name]));
    const beside = span(0, own.size).filter((cell) => !held.has(cell));
    const nodes = names.map((label) => ({ label, cells: own.groups[label] }));
    const others = beside.map((cell) => ({ label: own.labels[cell], cells: [cell] }));
    return { title: `level ${i + 1}`, nodes: [...nodes, ...others] };
  });
  return [...above, ...listed];
}

const span = (start, stop) => Array.from({ length: stop - start }, (_, i) => start + i);

/** Returns the first number that a text stands for and the end of what it stands for; null where it stands for none. */
export function stretch(own, text) {
  if (own.kind === "dated") return own.cyclic ? turn(own, text) : period(text);
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) return null;
  const value = Number(text);
  return [value, value + (own.whole ? 1 : 0)];
}

function turn(own, text) {
  const cell = own.names.slice(0, own.ordered).indexOf(text);
  return cell < 0 ? null : [cell, cell + 1];
}

/** Returns the first hour since 1970 of a date or period, and the one after its last. */
function period(text) {
  const found = /^(\d{4})(?:-Q([1-4])|-W(\d\d)|-(\d\d)(?:-(\d\d)(?:[T ](\d\d))?)?)?$/.exec(text);
  if (!found) return null;
  const [, year, quarter, week, month, day, hour] = found.map((one) => (one === undefined ? undefined : Number(one)));
  const at = (...parts) => new Date(0).setUTCFullYear(...parts);
  if (week !== undefined) return isoWeek(at, year, week);
  if (quarter) return [at(year, 3 * quarter - 3, 1) / HOUR, at(year, 3 * quarter, 1) / HOUR];
  if (day === undefined)
    return month === undefined ? [at(year, 0, 1) / HOUR, at(year + 1, 0, 1) / HOUR] : months(at, year, month);
  const first = at(year, month - 1, day);
  const real = new Date(first);
  if (real.getUTCMonth() !== month - 1 || real.getUTCDate() !== day || hour > 23) return null;
  return hour === undefined ? [first / HOUR, first / HOUR + 24] : [first / HOUR + hour, first / HOUR + hour + 1];
}

const months = (at, year, month) =>
  month >= 1 && month <= 12 ? [at(year, month - 1, 1) / HOUR, at(year, month, 1) / HOUR] : null;

/** Returns the hours of a week of ISO 8601, which begins on Monday and has its Thursday in its year. */
function isoWeek(at, year, week) {
  const begin = (of) => at(of, 0, 4) - ((new Date(at(of, 0, 4)).getUTCDay() + 6) % 7) * DAY;
  const first = begin(year) + (week - 1) * 7 * DAY;
  return week >= 1 && first < begin(year + 1) ? [first / HOUR, first / HOUR + 7 * 24] : null;
}
