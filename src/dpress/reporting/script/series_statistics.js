/** Queries on a series of statistics: what every period says of all rows, or of single groups, as the command says it. */
import { answersOf } from "./answers.js";
import { columnsOf } from "./attributes.js";
import { Elsewhere, TOTAL, Unread } from "./condition_grammar.js";
import { boxesOf } from "./conditions.js";
import { condition } from "./controls.js";
import { read } from "./grammar.js";
import { both, within } from "./statistics.js";
import { unpacked } from "./unpacked.js";
import { weighed } from "./weighed.js";

const MOST_GROUPS = 200; // that a page shows of a query
const BEYOND = "those of several groups together"; // what the command alone answers

/** Returns what answers queries about the statistics of every period: `attributes`, and `reply`, from a text to answers. */
export function statisticsOf(data) {
  const attributes = answersOf({ ...data, tables: [] }).attributes;
  const own = { ...data, attributes, dated: attributes[data.dated].name, names: columnsOf(attributes).map((one) => one.name) };
  own.parts = data.parts.map((part) => ({
    ...part,
    key: keyOf(own, read(own.names, part.text)),
    numbers: part.numbers.map(unpacked),
  }));
  return { attributes, reply: (text) => reply(own, text), examples: examplesOf(own), beyond: BEYOND };
}

/** Returns the answers of every published period, of every group. */
function reply(own, text) {
  const asked = read(own.names, text);
  const where = asked.of === "count" ? both(asked.first ?? TOTAL, asked.where) : (asked.where ?? TOTAL);
  const conditions = asked.of === "count" ? [where] : [where, asked.first];
  if (conditions.some((tree) => tree && names(tree, own.dated)))
    throw new Unread(`this is answered of every published period; leave out ${own.dated}, or ask one folder`);
  const key = keyOf(own, asked);
  if (!own.parts.some((part) => part.key === key))
    throw new Elsewhere("No statistic of this page is this; ask the command");
  const by = (asked.by ?? []).filter((name) => name !== own.dated);
  const columns = by.map((name) => columnsOf(own.attributes).find((one) => one.name === name));
  const rows = columns.reduce((all, one) => all.flatMap((row) => one.names.map((name) => [...row, name])), [[]]);
  if (rows.length * own.periods.length > MOST_GROUPS)
    throw new Elsewhere(`these are ${rows.length * own.periods.length} groups, more than this page shows; use this command`);
  const found = rows.map((row) => ({ row, ...placed(own, key, within(by, row, where)) }));
  return own.periods.flatMap((period, at) => found.map((one) => stated(own, asked.of, one, [period, at])));
}

const names = (tree, name) => tree.attribute === name || (tree.parts ?? []).some((part) => names(part, name));

/** Returns what two queries for one statistic have in common, whatever the rows. */
function keyOf({ attributes }, { of, attribute, level, first }) {
  const counted = of === "count" || !first ? null : boxesOf(attributes, first).map((box) => box.map((one) => [...one]));
  return JSON.stringify([of, attribute ?? null, level ?? null, counted]);
}

/** Returns the part that has a statistic of one group, or of all rows, and which of its groups that is. */
function placed(own, key, where) {
  const [weights, ...others] = boxesOf(own.attributes, where);
  const cells = weights.map((each) => [...each.keys()].filter((cell) => each[cell]));
  const axes = weighed(weights);
  const part = own.parts.find((one) => one.key === key && String(one.axes) === String(axes));
  if (others.length || !part || axes.some((axis) => cells[axis].length !== 1))
    throw new Elsewhere("The page answers of single groups and of all rows; for several together use this command");
  return { part, group: axes.reduce((place, axis) => place * own.attributes[axis].size + cells[axis][0], 0) };
}

function stated(own, of, { row, part, group }, [period, at]) {
  const [value, standardError, low, high] = part.numbers.map((each) => each[group * own.periods.length + at] / part.factor);
  if (Number.isNaN(low)) throw new Elsewhere("This was chosen, and has no interval; use this command");
  return { of, group: [period, ...row], value, standardError, interval: [low, high], note: own.notes[part.text]?.[at] ?? null };
}

/** Returns queries that this series answers. */
function examplesOf({ attributes, parts }) {
  const [chief] = parts;
  const grouped = parts.find((part) => part.key === chief.key && part.axes.length === 1);
  const [axis] = grouped?.axes ?? [];
  const group = grouped ? [`${chief.text} where ${condition(attributes[axis], [0, 0])}`, `${chief.text} by ${quoted(attributes[axis].name)}`] : [];
  const others = parts.filter((part) => !part.axes.length && part.key !== chief.key).map((part) => part.text);
  return [chief.text, ...group, ...others.slice(0, 2)];
}

const quoted = (name) => (/^\w+$/.test(name) ? name : `'${name}'`);
