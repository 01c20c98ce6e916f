/** Queries on a series: counts of any published periods, exact in their error, and what every period says by itself. */
import { answersOf } from "./answers.js";
import { columnsOf } from "./attributes.js";
import { Elsewhere, TOTAL, Unread } from "./condition_grammar.js";
import { boxesOf } from "./conditions.js";
import { condition } from "./controls.js";
import { both, everyGroup, held, readable, wholeCounts, within } from "./statistics.js";

const MOST_GROUPS = 200; // that a page shows of a query

/** Returns what answers queries about all spans together: `attributes`, and `reply`, from a text to its answers. */
export function seriesOf(data) {
  const spans = data.spans.map(answersOf);
  const attributes = answersOf({ ...data, tables: [] }).attributes;
  const own = { ...data, attributes, spans, name: attributes[data.dated].name };
  return { attributes, reply: (text) => reply(own, text), examples: examplesOf(own) };
}

function reply(own, text) {
  const asked = readable({ attributes: own.attributes, error: true }, text);
  const counted = asked.of === "count" || (asked.of === "difference" && dates(own, asked));
  return counted ? counts(own, asked) : byPeriod(own, asked);
}

/** Returns whether the conditions of a query name periods. */
const dates = ({ name, attributes }, { first, second, where }) => {
  const names = columnsOf([attributes.find((one) => one.name === name)]).map((one) => one.name);
  const inside = (tree) => tree && (names.includes(tree.attribute) || (tree.parts ?? []).some(inside));
  return [first, second, where].some(inside);
};

/** Returns a count or a difference of counts, of every group and of the published ones of every period. */
function counts(own, { by = [], ...asked }) {
  const columns = by.map((name) => columnsOf(own.attributes).find((one) => one.name === name));
  const rows = columns.reduce(
    (all, one) => all.flatMap((row) => one.names.map((name) => [...row, name])),
    [[]],
  );
  const place = dates(own, asked) ? -1 : by.indexOf(own.name);
  const published = own.periods.map((at) => own.attributes[own.dated].names[at]);
  const shown = rows.filter((row) => place < 0 || published.includes(row[place]));
  if (shown.length > MOST_GROUPS)
    throw new Elsewhere(`these are ${shown.length} groups, more than this page shows; use this command`);
  return shown.map((row) => ({ group: row, ...counted(own, { ...asked, where: within(by, row, asked.where) }) }));
}

function counted(own, { of, first, second, where }) {
  const [value, variance] =
    of === "count"
      ? sum(own, weightsOf(own, first, where))
      : compared(own, weightsOf(own, first, where), weightsOf(own, second, where));
  const half = wholeCounts(variance, own.spans[0].critical);
  return { of, value, standardError: Math.sqrt(variance), interval: [value - half, value + half], note: null };
}

/** Returns the weight of every published period, and of every attribute's cells within a span. */
function weightsOf(own, tree, where) {
  const boxes = boxesOf(own.attributes, both(tree ?? TOTAL, where));
  if (boxes.length > 1)
    throw new Unread(`this is a union of ${boxes.length} boxes, and here one is answered at a time`);
  const along = boxes[0][own.dated];
  const local = boxes[0].map((weights, axis) => (axis === own.dated ? Float64Array.of(1) : weights));
  if (along.every((one) => one === 1)) return [own.periods.map(() => 1), local];
  const named = [...along.slice(0, own.named).keys()].filter((at) => along[at]);
  const missing = named.find((at) => !own.periods.includes(at));
  if (missing !== undefined) throw new Unread(`${own.attributes[own.dated].names[missing]} is not published`);
  if (!named.length) throw new Unread("this names no period");
  return [own.periods.map((at) => along[at]), local];
}

/** Returns the count of some periods, and its variance: that of every span, as often as it counts. */
function sum({ spans, shares }, [wanted, local]) {
  const times = spans.map((_, span) => wanted.reduce((all, one, at) => all + one * shares[at][span], 0));
  return spans.reduce(
    ([value, variance], one, span) => {
      if (Math.abs(times[span]) < 1e-9) return [value, variance];
      const [count, spread] = one.form(held(one, local));
      return [value + times[span] * count, variance + times[span] ** 2 * spread];
    },
    [0, 0],
  );
}

/** Returns the difference of two counts: of the same groups, or of others in separate periods. */
function compared(own, [wanted, local], [other, beside]) {
  const same = local.every((weights, axis) => weights.every((one, cell) => one === beside[axis][cell]));
  if (same) return sum(own, [wanted.map((one, at) => one - other[at]), local]);
  if (own.running || wanted.some((one, at) => one * other[at]))
    throw new Unread("these are counts of different groups in the same periods; ask a period's own folder");
  const [[value, variance], [less, added]] = [sum(own, [wanted, local]), sum(own, [other, beside])];
  return [value - less, variance + added];
}

/** Returns the answers of every published period by itself. */
function byPeriod(own, asked) {
  if (own.running) throw new Unread("this is known of separate periods, and these are measured in spans of several");
  if (dates(own, asked))
    throw new Unread(`this is answered of every published period; leave out ${own.name}, or ask one folder`);
  const by = asked.by?.filter((name) => name !== own.name);
  const names = own.attributes[own.dated].names;
  return own.spans.flatMap((one, span) =>
    everyGroup(one, { ...asked, by }).map((found) => ({ ...found, group: [names[own.periods[span]], ...found.group] })),
  );
}

/** Returns queries that this series answers. */
function examplesOf({ attributes, dated, periods, name, running }) {
  const at = (place) => condition(attributes[dated], [place, place]);
  const [before, latest] = [periods.at(-2), periods.at(-1)];
  const other = attributes.find((_, axis) => axis !== dated);
  const group = other && condition(other, [0, 0]);
  return [
    `count by ${/^\w+$/.test(name) ? name : `'${name}'`}`,
    ...(before === undefined ? [] : [`count ${at(latest)} - count ${at(before)}${group ? ` where ${group}` : ""}`]),
    ...(group ? [`${group} and ${at(latest)}`] : []),
    ...(group && !running ? [`share ${group}`] : []),
  ];
}
