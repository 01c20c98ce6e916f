/** A list of places: those in the chosen region or beside it, or all of a level; sorted by any column, saved as CSV or JSON. */
import { select } from "./controls.js";
import { element } from "./elements.js";
import { percent, unitOfCount } from "./region_words.js";
import { error, interval, number } from "./rounding.js";
import { table } from "./rows.js";
import { csvOf } from "./words.js";

const COLUMNS = ["count", "low", "high", "standard_error"];
const SHARES = ["share", "share_low", "share_high"];

/** Returns the list. */
export function regionList(tree, counts, shade) {
  const [choice, box] = [element("div", { class: "controls" }), element("div")];
  let [region, which] = [tree.root, "in"];

  const offer = () => {
    const parent = tree.parent(region);
    const options = [
      ...(tree.children(region).length ? [[`those in ${tree.name(region)}`, "in"]] : []),
      ...(parent ? [[`those in ${tree.name(parent)}`, "beside"]] : []),
      ...tree.levels
        .slice(1)
        .map(({ codes, name }, i) => [`all ${number(codes.length)} of the level ${name}`, String(i + 1)]),
    ];
    if (!options.some(([, value]) => value === which)) which = options[0]?.[1];
    const list = select("List", options, (value) => ((which = value), draw()), which);
    choice.replaceChildren(...(options.length ? [list] : []));
  };
  const draw = () => {
    const around = { in: region, beside: tree.parent(region) }[which];
    const rows = around ? tree.children(around) : tree.regions(Number(which));
    const { name, names } = tree.levels[rows[0].level];
    const title = around ? `${name} in ${tree.name(around)}` : `${name}, all`;
    const view = shade.at(rows[0].level);
    const lines = rows.map((row) => lineOf(tree, row, counts.total(row), view?.shares(row.node)[0]));
    const texts = [
      ["code", name],
      ...(names ? [["name", "name"]] : []),
      ...(around || rows[0].level < 2 ? [] : [["within", "in"]]),
    ];
    box.replaceChildren(listed(title, texts, lines, shade.words, counts.numbers));
  };
  return {
    node: element("div", {}, choice, box),
    show(to) {
      region = to;
      offer();
      if (which) draw();
      else box.replaceChildren();
    },
  };
}

const lineOf = (tree, region, total, share) => ({
  code: tree.code(region),
  name: tree.name(region),
  within: tree.within(region),
  total,
  share,
});

/** Returns the table of lines; `texts` are the keys and heads of their columns of words. */
function listed(title, texts, lines, words, numbers) {
  const shared = Boolean(lines[0].share);
  const columnsOfNumbers = [
    ["count", "count", ({ total }) => total.value, ({ total }) => number(total.value, unitOfCount(total))],
    ["low", "95 % interval", ({ total }) => total.interval[0], ({ total }) => interval(...total.interval, unitOfCount(total))],
    ["standard_error", "standard error", ({ total }) => total.standardError, ({ total }) => error(total.standardError)],
    ...(shared ? [["share", `share of ${words}`, ({ share }) => share.value, ({ share }) => percent(share.value, share.standardError)]] : []),
  ]; // prettier-ignore
  const columns = [...texts.map(([, head]) => head), ...COLUMNS, ...(shared ? SHARES : [])];
  const exact = ({ total, share, ...words }) => [
    ...texts.map(([key]) => words[key]),
    total.value,
    ...total.interval,
    total.standardError,
    ...(shared ? [share.value, ...share.interval] : []),
  ];
  return table({
    title,
    size: lines.length,
    noun: "regions",
    numbers,
    labels: texts.length,
    heads: [...texts.map(([, head]) => head), ...columnsOfNumbers.map(([, head]) => head)],
    sorters: [
      ...texts.map(([key]) => ranked(lines.map((line) => line[key]))),
      ...columnsOfNumbers.map(
        ([, , value]) =>
          (row) =>
            value(lines[row]),
      ),
    ],
    texts: (row) => [
      ...texts.map(([key]) => lines[row][key]),
      ...columnsOfNumbers.map(([, , , text]) => text(lines[row])),
    ],
    csv: (order) => csvOf([columns, ...Array.from(order, (row) => exact(lines[row]))]),
    json: (order) =>
      JSON.stringify(
        Array.from(order, (row) => Object.fromEntries(exact(lines[row]).map((value, i) => [columns[i], value]))),
        null,
        1,
      ),
  });
}

/** Returns the rank of every text in the order of the alphabet. */
function ranked(texts) {
  const order = texts
    .map((_, row) => row)
    .sort((first, second) => texts[first].localeCompare(texts[second], "en", { numeric: true }));
  const ranks = new Int32Array(texts.length);
  order.forEach(
    (row, rank) => (ranks[row] = rank && texts[row] === texts[order[rank - 1]] ? ranks[order[rank - 1]] : rank),
  );
  return (row) => ranks[row];
}
