/** A table of a region beside its parent's and its siblings': counts with intervals, and shares, which compare. */
import { held, select } from "./controls.js";
import { drawn, element } from "./elements.js";
import { percent, percentBetween, titleOf, unitOfCount, weightsOf, wordsOf } from "./region_words.js";
import { interval, number } from "./rounding.js";

const MOST_ROWS = 400;
const MOST_TICKS = 60; // of siblings, in a drawing
const WIDTH = 112; // of the drawing of shares

/** Returns the explorer of tables. */
export function regionTable(tree, counts) {
  const { attributes } = counts;
  const [which, choices, box] = [0, 1, 2].map(() => element("div", { class: "controls" }));
  let [region, table, axes, conditions] = [tree.root, null, [], {}];
  box.className = "";

  const choose = (picked) => {
    table = picked;
    [axes, conditions] = [[...table].sort(bySize).slice(0, 1), {}];
    offer();
    draw();
  };
  const bySize = (first, second) => attributes[second].size - attributes[first].size;
  const named = (axis) => [attributes[axis].caption, String(axis)];
  const along = (i) => (value) => {
    const picked = value === "" ? [] : [Number(value)];
    const rest = axes.filter((axis, place) => place !== i && axis !== picked[0]);
    axes = i ? [...rest.slice(0, 1), ...picked] : [...picked, ...rest];
    conditions = {};
    offer();
    draw();
  };
  const hold = (axis, cells) => {
    delete conditions[axis];
    if (cells) conditions[axis] = weightsOf(attributes[axis].size, cells);
    draw();
  };
  function offer() {
    const [first, second] = axes;
    const others = [["nothing else", ""], ...table.filter((axis) => axis !== first).map(named)];
    choices.replaceChildren(
      select("by", table.map(named), along(0), String(first)),
      ...(table.length > 1 ? [select("and by", others, along(1), String(second ?? ""))] : []),
      ...table
        .filter((axis) => !axes.includes(axis))
        .map((axis) => held(attributes[axis], (cells) => hold(axis, cells))),
    );
  }
  const draw = () => box.replaceChildren(...drawing(tree, counts, region, axes, conditions));

  return {
    node: element("div", {}, which, choices, box),
    show(to) {
      region = to;
      const tables = counts.tables(region.level);
      const place = tables.findIndex((other) => String(other) === String(table));
      if (!tables.length) return choices.replaceChildren("This page has only its total.");
      const list = tables.map((axes, i) => [titleOf(attributes, axes), String(i)]);
      const pick = (value) => choose(tables[value]);
      which.replaceChildren(...(tables.length > 1 ? [select("Table", list, pick, String(Math.max(place, 0)))] : []));
      if (place < 0) return choose(tables[0]);
      draw();
    },
  };
}

function drawing(tree, counts, region, axes, conditions) {
  const { attributes } = counts;
  const [parent, siblings] = [tree.parent(region), tree.siblings(region)];
  const view = counts.view(region.level, axes, conditions, conditions);
  const above = parent && counts.view(parent.level, axes, conditions, conditions).values(parent.node);
  const beside = siblings.map(({ node }) => view.values(node));
  const rows = rowsOf(view, region, above, beside);
  const most = Math.max(...rows.flatMap((row) => [row.share.interval[1], row.above, ...row.beside].filter(Number.isFinite)), 0.01); // prettier-ignore
  const heads = [
    ...axes.map((axis) => attributes[axis].caption),
    "count", "95 % interval", "share", "95 % interval", "from 0 %",
    ...(parent ? [`in ${tree.name(parent)}`] : []),
    ...(siblings.length ? [`in the ${number(siblings.length)} beside it`] : []),
  ]; // prettier-ignore
  const title = `${tree.title(region)}: ${titleOf(attributes, axes)}`;
  const table = element(
    "table",
    {},
    element("caption", {}, title),
    element("thead", {}, element("tr", {}, ...heads.map((text, i) => element("th", { scope: "col", class: i < axes.length ? "label" : "" }, text)))),
    element("tbody", {}, ...rows.map((row) => line(attributes, axes, row, most, parent, siblings))),
  ); // prettier-ignore
  const more = view.size > rows.length ? ` These are the first ${rows.length} of ${number(view.size)} cells; the files have all.` : ""; // prettier-ignore
  const among = Object.keys(conditions).length ? ` Shares are of those with ${wordsOf(attributes, conditions)}.` : "";
  return [
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table),
    element("p", { class: "note" }, `${legend(parent, siblings)}${among}${more}`),
  ];
}

function rowsOf(view, region, above, beside) {
  const shares = view.shares(region.node, MOST_ROWS);
  const answers = view.answers(region.node).slice(0, MOST_ROWS);
  return answers.map((answer, row) => ({
    row,
    answer,
    share: shares[row],
    above: above?.[row],
    beside: beside.map((values) => values[row]).filter(Number.isFinite),
  }));
}

function line(attributes, axes, { row, answer, share, above, beside }, most, parent, siblings) {
  const places = [];
  for (let rest = row, i = axes.length - 1; i >= 0; i--) {
    places.unshift(rest % attributes[axes[i]].size);
    rest = Math.floor(rest / attributes[axes[i]].size);
  }
  const unit = unitOfCount(answer);
  const spread = share.standardError;
  const texts = [
    number(answer.value, unit),
    interval(...answer.interval, unit),
    percent(share.value, spread),
    percentBetween(share.interval, spread),
  ];
  const range = percentBetween(beside.length ? [Math.min(...beside), Math.max(...beside)] : [NaN, NaN], spread);
  return element(
    "tr",
    {},
    ...places.map((place, i) => element("td", { class: "label" }, attributes[axes[i]].labels[place])),
    ...texts.map((text) => element("td", { class: "number" }, text)),
    element("td", {}, strip(share, above, beside, most)),
    ...(parent ? [element("td", { class: "number" }, percent(above, spread))] : []),
    ...(siblings.length ? [element("td", { class: "number" }, range)] : []),
  );
}

/** Returns a drawing of shares: the siblings' as ticks, the parent's as a longer one, the region's with its interval. */
function strip(share, above, beside, most) {
  const x = (value) => (4 + ((WIDTH - 8) * value) / most).toFixed(1);
  const tick = (value, low, high, attributes) =>
    drawn("line", { x1: x(value), x2: x(value), y1: low, y2: high, ...attributes });
  const svg = drawn("svg", { class: "strip", viewBox: `0 0 ${WIDTH} 18`, "aria-hidden": "true" });
  svg.append(drawn("line", { x1: x(0), x2: x(most), y1: 9, y2: 9, stroke: "var(--grid)" }));
  svg.append(...thinned(beside).map((value) => tick(value, 5, 13, { stroke: "var(--soft)" })));
  if (Number.isFinite(above)) svg.append(tick(above, 1, 17, { stroke: "var(--less)", "stroke-width": 2 }));
  if (!Number.isFinite(share.value)) return svg;
  const [low, high] = share.interval.map(x);
  svg.append(drawn("line", { x1: low, x2: high, y1: 9, y2: 9, stroke: "var(--mark)", "stroke-width": 2 }));
  svg.append(drawn("circle", { cx: x(share.value), cy: 9, r: 3.5, fill: "var(--mark)" }));
  return svg;
}

/** Returns some of many values, from the lowest to the highest. */
function thinned(values) {
  const step = Math.ceil(values.length / MOST_TICKS);
  return values.toSorted((first, second) => first - second).filter((_, i) => i % step === 0 || i === values.length - 1);
}

function legend(parent, siblings) {
  const parts = [
    "the dot is this region, with its interval",
    ...(parent ? ["the long tick the region that it is in"] : []),
    ...(siblings.length ? [`short ticks ${siblings.length > MOST_TICKS ? "some of " : ""}the regions beside it, of which the last column has the lowest and highest`] : []),
  ]; // prettier-ignore
  return `In the drawing ${parts.join(", ")}.`;
}
