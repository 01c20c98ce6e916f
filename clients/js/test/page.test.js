/** The script of a release's page answers queries as `dpress query` does, and refuses what that refuses. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { answersOf } from "../../../src/dpress/reporting/script/answers.js";
import { Unread } from "../../../src/dpress/reporting/script/conditions.js";
import { answered, error, interval, number, unitFor } from "../../../src/dpress/reporting/script/rounding.js";
import { answer } from "../../../src/dpress/reporting/script/statistics.js";
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

  it("is found out where a variance is wrong", () => {
    for (const { data, queries } of golden.filter((one) => one.data.error.form === "product")) {
      const wrong = answersOf({ ...data, error: { ...data.error, variance: 1.1 * data.error.variance } });
      expect(() => queries.forEach((one) => check(wrong, one))).toThrow();
    }
  });

  it("is found out where the variance of one report's sums is wrong", () => {
    const forms = golden.filter(({ data }) => [data.error, data.signed].some((one) => /reports|grids/.test(one?.form)));
    expect(forms.length).toBeGreaterThan(6);
    for (const { data, queries } of forms) {
      const place = /reports|grids/.test(data.error.form) ? "error" : "signed";
      const [first, ...rest] = data[place].sums;
      const between = first.between.map((row) => row.map((one) => 1.1 * one));
      const squares = btoa(
        String.fromCharCode(...new Uint8Array(unpacked(first.squares).map((one) => 1.1 * one).buffer)),
      );
      const wrong = answersOf({
        ...data,
        [place]: { ...data[place], sums: [{ ...first, between, squares }, ...rest] },
      });
      expect(() => queries.forEach((one) => check(wrong, one))).toThrow();
    }
  });

  it("is found out where the variance of a pair's part is wrong", () => {
    const forms = golden.filter(({ data }) => data.error.form === "pairs");
    expect(forms.length).toBeGreaterThan(1);
    for (const { data, queries } of forms) {
      const tables = data.error.tables.map((own) => ({
        ...own,
        parts: own.parts.map((one) => ({ ...one, level: 1.1 * one.level })),
      }));
      const wrong = answersOf({ ...data, error: { ...data.error, tables } });
      expect(() => queries.forEach((one) => check(wrong, one))).toThrow();
    }
  });

  it("says of a range that cuts an interval what whole ones count", () => {
    const answers = answersOf(golden.find((one) => one.name === "ranges_ahead_0").data);
    const [starts] = answers.tiles.alone;
    const own = answers.attributes[0];
    const [whole, cut] = [starts[1], starts[1] - 1].map((end) => answer(answers, `${own.name} < ${own.edges[end]}`));
    expect(whole.note).toBeNull();
    const view = viewOf(answers, [0], {}, 2);
    expect(view.size).toBe(starts.length);
    expect(view.error[0]).toBeCloseTo(answer(answers, `${own.name} < ${own.edges[starts[1]]}`).standardError, 9);
    expect(cut.note).toMatch(/not divided further.* They are -?[\d,]+ and -?[\d,]+\.$/);
  });

  it("shows cells that are the answers to queries, also in groups", () => {
    const { data } = golden.find((one) => one.name === "ranges_two");
    const answers = answersOf(data);
    const view = viewOf(answers, [1, 0], {}, 4);
    const [first, second] = placesOf(view.edges, 5).map((place, i) => view.edges[i].cells[place].weights);
    expect(view.value[5]).toBeCloseTo(answers.form([second, first])[0], 6);
    expect(view.error[5] ** 2).toBeCloseTo(answers.form([second, first])[1], 6);
    const total = view.value.reduce((sum, one) => sum + one);
    expect(total).toBeCloseTo(answer(answers, "total").value, 6);
  });

  it("saves exact numbers, and no formula", () => {
    const edges = [{ name: "a", caption: "a", cells: [{ label: '=1+"1"' }] }];
    const view = { edges, value: [0.1], half: [2], error: [1], size: 1 };
    expect(asCsv(view, [0])).toBe(`"a","count","standard_error","low","high"\r\n"'=1+""1""",0.1,1,-1.9,2.1\r\n`);
    expect(JSON.parse(asJson(view, [0]))).toEqual([
      { a: '=1+"1"', count: 0.1, standard_error: 1, low: -1.9, high: 2.1 },
    ]);
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
