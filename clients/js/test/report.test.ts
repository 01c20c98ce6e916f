/** Reports of several parts, and documents that no vector has. */
import { expect, it } from "vitest";
import { identity, readAsk } from "../src/ask.js";
import { hex } from "../src/bytes.js";
import { readOracle } from "../src/oracles/read.js";
import { answer } from "../src/report.js";
import { oracleOf } from "./asks.js";
import { seeded } from "./seeded.js";

const attribute = (name: string) => ({
  kind: "integer",
  name,
  bounds: [0, 1],
  bins: null,
  outside: "clamp",
  null: "reject",
});
const NAMES = ["a", "b", "c"];

it("numbers the slots of attributes through the parts of a report", async () => {
  const [pair, single] = [[2, 2], [2]].map((sizes) => ({ ...oracleOf("rr_ldp"), sizes }));
  const parts = [
    { axes: [0, 1], encoder: { encoder: "codes" }, oracle: pair },
    { axes: [2], encoder: { encoder: "code" }, oracle: single },
  ];
  const types = [{ weight: 1, width: 2, parts }];
  const document = { model: "local", attributes: NAMES.map(attribute), report_types: types, rounds: null };
  const ask = await readAsk(document, await identity(document));
  const secret = new Uint8Array(32).fill(7);
  const found = await answer(ask, 0, [1, 0, 1], secret, seeded("slots"));

  const [coins, slot] = [seeded("slots"), { secret, collection: ask.collection }];
  coins.id();
  const first = await readOracle(pair).answer([1, 0], coins, { ...slot, number: 0 });
  const last = await readOracle(single).answer([1], coins, { ...slot, number: 2 });
  expect(hex(found.packed).slice(-4)).toBe(hex(first) + hex(last));
  expect(new Set(found.charges.map((one) => one.name)).size).toBe(2);
});

it("refuses an attribute of a kind that it does not read", async () => {
  for (const kind of [undefined, 1, "datetime", "constructor", "__proto__"]) {
    const document = { model: "local", attributes: [{ ...attribute("a"), kind }], report_types: [], rounds: null };
    await expect(readAsk(document, await identity(document))).rejects.toThrow("not sound: kind");
  }
});

it("charges values that share a cell once", async () => {
  const own = { ...oracleOf("loloha", 6), size: 2 };
  const names = ["a"];
  const types = [{ weight: 1, width: 13, parts: [{ axes: [0], encoder: { encoder: "code" }, oracle: own }] }];
  const document = { model: "local", attributes: names.map(attribute), report_types: types, rounds: null };
  const ask = await readAsk(document, await identity(document));
  const cell = readOracle(own).cell!;
  const seen = new Set<boolean>();
  for (let i = 0; i < 20; i++) {
    const secret = new Uint8Array(32).fill(i);
    const slot = { secret, collection: ask.collection, number: 0 };
    const cells = [await cell([0], slot), await cell([1], slot)];
    const found = [await answer(ask, 0, [0], secret, seeded("a")), await answer(ask, 0, [1], secret, seeded("b"))];
    const [first, second] = found.map((one) => one.charges[0]!.name);
    expect(first === second).toBe(cells[0] === cells[1]);
    seen.add(first === second);
  }
  expect(seen.size).toBe(2);
});

it("charges another name for other values, another slot, another collection and another secret", async () => {
  const { tag } = await import("../src/permanent.js");
  const own = { secret: new Uint8Array(32), collection: new Uint8Array(16), number: 0 };
  const other = [
    { ...own, secret: new Uint8Array(32).fill(1) },
    { ...own, collection: new Uint8Array(16).fill(1) },
    { ...own, number: 1 },
  ];
  const tags = await Promise.all([tag(own, [0, 1]), tag(own, [1, 0]), ...other.map((slot) => tag(slot, [0, 1]))]);
  expect(new Set(tags.map(hex)).size).toBe(5);
});

it("refuses responses that say nothing of the value, or its opposite", () => {
  const own = oracleOf("rr_ldp");
  expect(() => readOracle({ ...own, p: own["q"], q: own["p"] })).toThrow("f, p, q");
  expect(() => readOracle({ ...own, p: own["q"] })).toThrow("f, p, q");
});

it("refuses what is no document at all", () => {
  for (const document of [null, undefined, 1, "krr", [], { method: "constructor" }, { method: "__proto__" }])
    expect(() => readOracle(document)).toThrow("method");
});
