/** The script of a release's page answers queries as `dpress query` does, and refuses what that refuses. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { answersOf } from "../../../src/dpress/reporting/script/answers.js";
import { levelsOf } from "../../../src/dpress/reporting/script/attributes.js";
import { Unread } from "../../../src/dpress/reporting/script/condition_grammar.js";
import { answered, error, interval, number, unitFor } from "../../../src/dpress/reporting/script/rounding.js";
import { answer, answersTo } from "../../../src/dpress/reporting/script/statistics.js";
import { unpacked } from "../../../src/dpress/reporting/script/unpacked.js";
import { placesOf, viewOf } from "../../../src/dpress/reporting/script/views.js";
import { asCsv, asJson } from "../../../src/dpress/reporting/script/words.js";

const golden = JSON.parse(readFileSync(new URL("../../../tests/reporting/page_vectors.json", import.meta.url), "utf8"));
const named = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const numbers = ({ value, standardError, interval: ends }) => [value, standardError, ...ends];

function check(answers, { query, refused, of, numbers: expected, within }) {
  if (refused || (of !== "count" && !answers.signed)) {
    expect(() => answer(answers, query), query).toThrow(Unread);
    return;
  }
  const found = answer(answers, query);
  expect(found.of, query).toBe(of);
  const [low, high] = (within ?? []).map((one) => Math.round(one).toLocaleString("en"));
  if (within) expect(found.note, query).toContain(`They are ${low} and ${high}.`);
  numbers(found).forEach((one, i) => {
    const wanted = named[expected[i]] ?? expected[i];
    if (Number.isFinite(wanted))
      expect(Math.abs(one - wanted), `${query}: ${one}, ${wanted}`).toBeLessThan(1e-7 * (1 + Math.abs(wanted)));
    else expect(one, query).toBe(wanted);
  });
}

describe("a page", () => {
  for (const { name, data, queries } of golden)
    it(`${name}: ${queries.length} queries`, () => {
      const answers = answersOf(data);
      for (const one of queries) check(answers, one);
      expect(queries.filter((one) => !one.refused).length).toBeGreaterThan(6);
    });

  describe("is found out where a tenth is added to", () => {
    const more = (one) => 1.1 * one;
    const packed = (numbers) => btoa(String.fromCharCode(...new Uint8Array(unpacked(numbers).map(more).buffer)));
    const ofSums = ({ sums: [first, ...rest], ...form }) => {
      const between = first.between.map((row) => row.map(more));
      return { ...form, sums: [{ ...first, between, squares: packed(first.squares) }, ...rest] };
    };
    const faults = {
      product: ["the variance of a product", (form) => ({ ...form, variance: more(form.variance) })],
      components: ["the variance of a component", ({ of, ...form }) => ({ ...form, of: of.map(component) })],
      cells: ["variances of cells", ({ variances, ...form }) => ({ ...form, variances: variances.map(packed) })],
      reports: ["the variance of one report's sums", ofSums],
      grids: ["the variance of one grid", ofSums],
      pairs: ["the variance of a pair's part", ({ tables, ...form }) => ({ ...form, tables: tables.map(ofParts) })],
    };
    const component = ([axes, variance], i, all) => [axes, i === all.length - 1 ? more(variance) : variance];
    const ofParts = (own) => ({ ...own, parts: own.parts.map((one) => ({ ...one, level: more(one.level) })) });

    for (const [form, [what, fault]] of Object.entries(faults)) {
      it(what, () => {
        const places = golden.flatMap((one) =>
          ["error", "signed"].filter((place) => one.data[place]?.form === form).map((place) => [one, place]),
        );
        expect(places.length).toBeGreaterThan(form === "grids" ? 0 : 1);
        for (const [{ name, data, queries }, place] of places) {
          const wrong = answersOf({ ...data, [place]: fault(data[place]) });
          expect(() => queries.forEach((one) => check(wrong, one)), `${name}, ${place}`).toThrow();
        }
      });
    }

    it("one level of a tree", () => {
      const trees = golden.filter(({ data }) => data.error.axes?.some((axis) => axis.linear === "tree"));
      expect(trees.length).toBeGreaterThan(2);
      for (const { data, queries } of trees) {
        const axes = data.error.axes.map((own) => ({
          ...own,
          variances: own.variances.with(-1, more(own.variances.at(-1))),
        }));
        const wrong = answersOf({ ...data, error: { ...data.error, axes } });
        expect(() => queries.forEach((one) => check(wrong, one))).toThrow();
      }
    });
  });

  it("says of a range that cuts an interval what whole ones count", () => {
    const answers = answersOf(golden.find((one) => one.name === "ranges_ahead_0").data);
    const [starts] = answers.tiles.alone;
    const own = answers.attributes[0];
    const [whole, cut] = [starts[1], starts[1] - 1].map((end) => answer(answers, `${own.name} < ${own.edges[end]}`));
    expect(whole.note).toBeNull();
    const view = viewOf(answers, [0], {}, { most: 2 });
    expect(view.size).toBe(starts.length);
    expect(view.error[0]).toBeCloseTo(answer(answers, `${own.name} < ${own.edges[starts[1]]}`).standardError, 9);
    expect(cut.note).toMatch(/not divided further.* They are -?[\d,]+ and -?[\d,]+\.$/);
  });

  it("shows cells that are the answers to queries, also in groups", () => {
    const { data } = golden.find((one) => one.name === "ranges_two");
    const answers = answersOf(data);
    const view = viewOf(answers, [1, 0], {}, { most: 4 });
    const [first, second] = placesOf(view.edges, 5).map((place, i) => view.edges[i].cells[place].weights);
    expect(view.value[5]).toBeCloseTo(answers.form([second, first])[0], 6);
    expect(view.error[5] ** 2).toBeCloseTo(answers.form([second, first])[1], 6);
    const total = view.value.reduce((sum, one) => sum + one);
    expect(total).toBeCloseTo(answer(answers, "total").value, 6);
  });

  it("shows the largest of many values, and the exact count of the rest", () => {
    const names = Array.from({ length: 40 }, (_, i) => `v${i}`);
    const groups = { even: names.flatMap((_, i) => (i % 2 ? [] : [i])) };
    const data = {
      attributes: [
        { name: "a", caption: "a", kind: "listed", size: 40, ordered: 0, names, groups, ladder: [["even"]] },
      ],
      tables: [{ axes: [0], counts: names.map((_, i) => (7 * i) % 40) }],
      error: { form: "product", variance: 2, axes: [{ linear: "equal" }] },
      signed: true,
      symmetric: true,
      critical: 2,
      users: null,
      tiles: null,
      note: null,
    };
    const answers = answersOf(data);
    const { edges, value } = viewOf(answers, [0], {}, { top: 20 });
    expect([...value]).toEqual(Array.from({ length: 20 }, (_, i) => 39 - i));
    const rest = names.filter((name) => !edges[0].cells.some((one) => one.label === name));
    expect(edges[0].rest.of).toBe(40);
    expect(answer(answers, `a in (${rest.join(", ")})`)).toMatchObject(edges[0].rest.answer);
    expect(edges[0].rest.answer.standardError ** 2).toBeCloseTo(2 * 20, 9);
    const [level] = levelsOf(answers.attributes[0]);
    expect(level.nodes.length).toBe(21); // one group, and the values beside it
    const view = viewOf(answers, [0], {}, { levels: { 0: level.nodes } });
    expect(view.value[0]).toBe(answer(answers, "a = even").value);
  });

  it("saves exact numbers, and no formula", () => {
    const edges = [{ name: "a", caption: "a", cells: [{ label: '=1+"1"' }] }];
    const view = { edges, value: [0.1], low: [-1.9], high: [2.1], error: [1], size: 1 };
    expect(asCsv(view, [0])).toBe(`"a","count","standard_error","low","high"\r\n"'=1+""1""",0.1,1,-1.9,2.1\r\n`);
    expect(JSON.parse(asJson(view, [0]))).toEqual([
      { a: '=1+"1"', count: 0.1, standard_error: 1, low: -1.9, high: 2.1 },
    ]);
  });
});

describe("a query by attributes", () => {
  it("has the answer of every group by itself", () => {
    const { data } = golden.find((one) => one.name === "histogram");
    const answers = answersOf(data);
    const [age, sex] = answers.attributes;
    const found = answersTo(answers, `count ${age.name} = "${age.names[0]}" by ${sex.name}`);
    expect(found.map((one) => one.group)).toEqual(sex.names.map((name) => [name]));
    for (const { group, ...one } of found)
      expect(one.value).toBe(answer(answers, `${age.name} = "${age.names[0]}" and sex = ${group}`).value);
    expect(() => answer(answers, `count by ${sex.name}`)).toThrow(Unread);
  });
});

describe("a union that is counted twice", () => {
  it("is found out", () => {
    const faults = golden.flatMap(({ data, queries }) => {
      const answers = answersOf(data);
      const unions = queries.filter(
        ({ query, of, refused }) => of === "count" && !refused && /^[^()]* or [^()]*$/.test(query),
      );
      const plain = unions.filter(({ query }) => !/ and |not |count |where/.test(query));
      const added = (query) => query.split(" or ").reduce((sum, part) => sum + answer(answers, part).value, 0);
      return plain.map(({ query, numbers: [value] }) => Math.abs(added(query) - value));
    });
    expect(Math.max(...faults)).toBeGreaterThan(10);
  });
});

describe("numbers for people", () => {
  it("are written as Python writes them", () => {
    expect([8, 1.4, 80, 1e-109].map(unitFor)).toEqual([1, 0.1, 10, 1e-6]);
    expect([number(-1234.56), number(1234.56, 0.1), number(1234.56, 10, Math.ceil)]).toEqual([
      "−1,235",
      "1,234.6",
      "1,240",
    ]);
    expect(interval(-0.04, 12.31, 0.1)).toBe("−0.1 to 12.4");
    expect([1.357, 38.62, 0, Infinity].map(error)).toEqual(["1.4", "39", "0", "not known"]);
    const found = { value: 1234.56, standardError: 1.4, interval: [1231, 1238.2] };
    expect(answered(found)).toBe("1,234.6, 95 % interval 1,231.0 to 1,238.2, standard error 1.4");
  });
});
