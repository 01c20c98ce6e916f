/** Conditions as weights of every attribute's cells, as `dpress.query.boxes` makes them: disjoint boxes, which add up. */
import { code, columnsOf, stretch } from "./attributes.js";
import { Unread, meant } from "./condition_grammar.js";
import { hintFor } from "./query_hints.js";

const MOST_BOXES = 256;

/** Returns 0/1 weights of disjoint boxes, each one array for every attribute; tests joined by `and` are one box. */
export function boxesOf(attributes, tree) {
  const tests = joined(tree);
  if (tests)
    return [
      weightsOf(
        attributes,
        tests.map((test) => [axisOf(attributes, test), cellsOf(attributes, test)]),
      ),
    ];
  const found = apart(boxes(attributes, tree, false));
  const nothing = Math.min(...axesOf(attributes, tree), attributes.length - 1);
  const held = found.length ? found : [[[nothing, new Uint8Array(attributes[nothing].size)]]];
  return held.map((box) => weightsOf(attributes, box));
}

const axesOf = (attributes, tree) =>
  tree.attribute === undefined
    ? (tree.parts ?? []).flatMap((part) => axesOf(attributes, part))
    : [axisOf(attributes, tree)];

/** Returns the tests that `and` alone joins; null where a condition has other words. */
function joined(tree) {
  if (tree.word === "total") return [];
  const parts = tree.word === "and" ? tree.parts : [tree];
  return parts.every((part) => part.attribute !== undefined) ? parts : null;
}

function weightsOf(attributes, box) {
  const weights = attributes.map((one) => new Float64Array(one.size).fill(1));
  for (const [axis, cells] of box) cells.forEach((one, i) => (weights[axis][i] *= one));
  return weights;
}

const columnOf = (attributes, name) => columnsOf(attributes).find((one) => one.name === name);

const axisOf = (attributes, { attribute }) => columnOf(attributes, attribute).axis;

/** Returns boxes, lists of [axis, cells] with rising axes, in one of which every row lies that fulfils a condition. */
function boxes(attributes, tree, negated) {
  if (tree.word === "not") return boxes(attributes, tree.parts[0], !negated);
  if (tree.word === "total") return negated ? [] : [[]];
  if (tree.attribute !== undefined) {
    const cells = cellsOf(attributes, tree).map((one) => (negated ? 1 - one : one));
    return few(cells.every(Boolean) ? [[]] : [[[axisOf(attributes, tree), cells]]]);
  }
  const parts = tree.parts.map((part) => boxes(attributes, part, negated));
  if ((tree.word === "or") !== negated) return few(parts.flat());
  return parts.reduce((left, right) => few(left.flatMap((one) => right.map((other) => both(one, other)))));
}

function both(one, other) {
  const found = new Map(one);
  for (const [axis, cells] of other)
    found.set(axis, found.has(axis) ? cells.map((cell, i) => cell * found.get(axis)[i]) : cells);
  return [...found].sort(([first], [second]) => first - second);
}

/** Returns the boxes that are not empty, each once. */
function few(all) {
  const found = [...new Map(all.map((box) => [keyOf(box), box])).values()];
  const left = found.filter((box) => box.every(([, cells]) => cells.some(Boolean)));
  if (left.length > MOST_BOXES)
    throw new Unread(`a query of more than ${MOST_BOXES} alternatives is too long; use \`in (a, b)\`, or several`);
  return left;
}

const keyOf = (box) => box.map(([axis, cells]) => `${axis}:${cells.join("")}`).join(" ");

/** Returns a union as disjoint boxes: by the cells of its first axis that have the same boxes of the others. */
function apart(all) {
  if (!all.length || all.some((box) => !box.length)) return all.length ? [[]] : [];
  const axis = Math.min(...all.map(([[first]]) => first));
  const [of, others] = [all.filter(([[first]]) => first === axis), all.filter(([[first]]) => first !== axis)];
  const alike = grouped(of[0][0][1].length, (cell) => of.map(([[, cells]]) => cells[cell]).join(""));
  const same = new Map();
  for (const cells of alike.values()) {
    const rest = apart(few([...others, ...of.filter(([[, own]]) => own[cells[0]]).map((box) => box.slice(1))]));
    const key = rest.map(keyOf).join(";") + (rest.length ? "." : "");
    same.set(key, { rest, cells: [...(same.get(key)?.cells ?? []), ...cells] });
  }
  return few(
    [...same.values()].flatMap(({ rest, cells }) => {
      const own = new Uint8Array(of[0][0][1].length);
      for (const cell of cells) own[cell] = 1;
      return rest.map((box) => [[axis, own], ...box]);
    }),
  );
}

/** Returns the places below a size by what they have in common. */
function grouped(size, keyOfPlace) {
  const found = new Map();
  for (let place = 0; place < size; place++) {
    const key = keyOfPlace(place);
    if (found.has(key)) found.get(key).push(place);
    else found.set(key, [place]);
  }
  return found;
}

/** Returns which cells of its attribute a test names, 1 or 0 each. */
function cellsOf(attributes, { word, attribute, values }) {
  const own = columnOf(attributes, attribute);
  const chosen = new Uint8Array(own.size);
  if (word === "missing") chosen[missing(own)] = 1;
  else if (word === "=" || word === "!=" || word === "in")
    for (const cell of values.flatMap((value) => cells(own, value))) chosen[cell] = 1;
  else {
    const [first, last] = range(own, word, values);
    chosen.fill(1, first, last + 1);
  }
  return below(own, word === "!=" ? chosen.map((one) => 1 - one) : chosen);
}

/** Returns the cells below chosen nodes of a level; those of an attribute as they are. */
function below({ starts }, chosen) {
  if (!starts) return chosen;
  const cells = new Uint8Array(starts.at(-1));
  chosen.forEach((one, node) => cells.fill(one, starts[node], starts[node + 1]));
  return cells;
}

/** Returns the cell of missing values. */
function missing(own) {
  const cell = own.kind === "listed" ? own.names.indexOf(own.missing) : own.ordered;
  if (cell < 0 || cell === own.size) throw new Unread(`${own.name} has no cell for missing values`);
  return cell;
}

/** Returns the cells that one value names. */
function cells(own, value) {
  if (Object.hasOwn(own.groups, value)) return own.groups[value];
  const found = code(own, value);
  if (found >= 0) return [found];
  const some = `${own.names.slice(0, 8).join(", ")}${own.size > 8 ? `, ... (${own.size} in all)` : ""}`;
  const hint = own.kind === "listed" ? meant(value, [...own.names, ...own.labels]) || hintFor(value || "missing") : "";
  if (own.kind === "listed" || !own.whole) throw new Unread(`${own.name} has no value “${value}”; it has ${some}${hint}`);
  const [first, last] = span(own, value, value);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Returns the first and the last cell of a range. */
function range(own, operator, values) {
  if (operator === "between") return span(own, ...values);
  const [text] = values;
  const up = operator[0] === ">";
  const strict = operator.length === 1;
  if (own.kind === "listed") {
    if (strict) throw new Unread(`${own.name} is a list of values; use <=, >= or in a..b`);
    return up ? span(own, text, null) : span(own, null, text);
  }
  const [first, end] = place(own, text);
  return up ? between(own, strict ? end : first, null) : between(own, null, strict ? first : end);
}

/** Returns the cells from `low` to `high`, which must lie on the borders of cells; null is the end of the axis. */
function span(own, low, high) {
  if (own.kind !== "listed") {
    const [bottom, top] = [low === null ? null : place(own, low), high === null ? null : place(own, high)];
    if (bottom && top && bottom[0] > top[0]) throw new Unread(`${own.name}: the ends of ${low}..${high} are reversed`);
    return between(own, bottom && bottom[0], top && top[1]);
  }
  if (!own.ordered) throw new Unread(`${own.name} has no order; use = or in (a, b)`);
  const first = low === null ? 0 : cells(own, low)[0];
  const last = high === null ? own.ordered - 1 : cells(own, high).at(-1);
  if (!(first <= last && last < own.ordered))
    throw new Unread(`${own.name}: ${low}..${high} is no range of its ordered values`);
  return [first, last];
}

function between(own, bottom, top) {
  const [least, most] = [own.edges[0], own.edges.at(-1)];
  const low = bottom === null ? least : Math.max(bottom, least);
  const high = top === null ? most : Math.min(top, most);
  if (low >= high)
    throw new Unread(`${own.name}: nothing lies there; it runs from ${own.names[0]} to ${own.names[own.ordered - 1]}`);
  const [first, last] = [own.edges.indexOf(low), own.edges.indexOf(high)];
  if (first < 0 || last < 0)
    throw new Unread(
      `${own.name}: the condition cuts through a cell; the cells begin at ${own.edges.slice(0, 8).join(", ")}, ...`,
    );
  return [first, last - 1];
}

function place(own, text) {
  const found = stretch(own, text);
  if (!found)
    throw new Unread(
      `${own.name}: expected ${own.kind === "dated" ? "a date or a period" : "a number"}, got “${text}”`,
    );
  return found;
}
