/** The vectors of the package, made by a program of its own: this client sends and refuses exactly these. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { identity, readAsk } from "../src/ask.js";
import { KINDS } from "../src/attributes/dates.js";
import { hex, unhex } from "../src/bytes.js";
import { readOracle } from "../src/oracles/read.js";
import { positive } from "../src/oracles/pcep.js";
import { cohort, flips, userGroup } from "../src/permanent.js";
import { answer, pack } from "../src/report.js";
import { readReport } from "./read_report.js";
import { scripted } from "./scripted.js";

const stored = new URL("../../../src/dpress/vectors/reports.json", import.meta.url);
const golden = JSON.parse(readFileSync(stored, "utf8"));
const label = (document: { method?: string }): string => String(document.method);

describe("devices", () => {
  for (const [place, one] of golden.devices.entries())
    it(`${place}: ${label(one.oracle)} sends exactly this`, async () => {
      const slot = one.secret && { secret: unhex(one.secret), collection: unhex(one.collection), number: one.slot };
      const coins = scripted(one.words);
      const payload = await readOracle(one.oracle).answer(one.values, coins, slot);
      expect(hex(payload)).toBe(one.payload);
      expect(coins.left()).toBe(0);
    });

  it("sends something else with other coins, another secret or another collection", async () => {
    const changed = { words: 0, secret: 0, collection: 0 };
    for (const one of golden.devices) {
      const flipped = one.words.map((word: string) => (BigInt(`0x${word}`) ^ (2n ** 64n - 1n)).toString(16));
      const slot = one.secret && { secret: unhex(one.secret), collection: unhex(one.collection), number: one.slot };
      const send = async (words: string[], own: unknown) =>
        hex(
          await readOracle(one.oracle).answer(one.values, scripted([...words, ...Array(64).fill("5")]), own as never),
        );
      changed.words += Number((await send(flipped, slot)) !== one.payload);
      if (!slot) continue;
      changed.secret += Number((await send(one.words, { ...slot, secret: new Uint8Array(16) })) !== one.payload);
      changed.collection += Number(
        (await send(one.words, { ...slot, collection: new Uint8Array(16) })) !== one.payload,
      );
    }
    expect(changed.words).toBeGreaterThan(golden.devices.length / 2);
    expect(Math.min(changed.secret, changed.collection)).toBeGreaterThan(9);
  });
});

describe("reports", () => {
  it("have vectors of every method, a quarter of them to be refused", () => {
    const refused = golden.vectors.filter((one: { accepted: boolean }) => !one.accepted);
    expect(golden.vectors.length).toBeGreaterThan(200);
    expect(refused.length).toBeGreaterThan(golden.vectors.length / 4);
  });

  for (const one of golden.vectors)
    it(`${one.name}: ${one.accepted ? "accepted" : one.reason}`, () => {
      const types = one.types.map((own: unknown[]) => own.map((document) => [document, readOracle(document)] as const));
      const found = readReport(unhex(one.packed), unhex(one.ask), one.round, types);
      expect("reason" in found ? found.reason : null).toBe(one.accepted ? null : one.reason);
      if (!("reason" in found)) {
        expect(hex(pack(unhex(one.ask), found.id, one.round, found.type, found.payload))).toBe(one.packed);
        expect({ ...one.report, id: hex(found.id), report_type: found.type, payload: hex(found.payload) }).toEqual(
          one.report,
        );
      }
    });
});

describe("dates", () => {
  for (const [place, { attribute, cells, values, codes }] of golden.dates.entries())
    it(`${place}: ${attribute.cells} ${attribute.bounds} have these codes`, () => {
      const { fields, make } = KINDS.date!;
      expect(fields.split(" ").sort()).toEqual(Object.keys(attribute).filter((one) => one !== "kind"));
      const made = make(attribute, "day");
      expect(made.sizes).toEqual([cells]);
      for (const [i, value] of values.entries())
        if (typeof codes[i] === "number") expect([value, ...made.codes(value)]).toEqual([value, codes[i]]);
        else expect(() => made.codes(value)).toThrow("day: a value is");
    });
});

describe("what is asked", () => {
  for (const [place, one] of golden.asks.entries())
    it(`${place}: has this hash, and these are whole answers`, async () => {
      expect(await identity(JSON.parse(one.canonical))).toBe(one.id);
      const ask = await readAsk(JSON.parse(one.canonical), one.id);
      for (const sent of one.answers) {
        const coins = scripted(sent.words);
        const report = await answer(ask, 0, sent.codes, unhex(sent.secret), coins);
        expect(hex(report.packed)).toBe(sent.packed);
        expect(coins.left()).toBe(0);
      }
    });

  it("is refused under any other id", async () => {
    const [one] = golden.asks;
    const swapped = one.canonical.replace('"age"', '"sex"');
    await expect(readAsk(JSON.parse(swapped), one.id)).rejects.toThrow("asks something else");
  });
});

describe("documents that no device may act on", () => {
  for (const one of golden.wrong) it(one.name, () => expect(() => readOracle(one.oracle)).toThrow(/^[^\n]+$/));

  it("are so few changes away from those that are fine", () => {
    for (const one of golden.devices) expect(readOracle(one.oracle).width).toBeGreaterThan(0);
  });
});

describe("what a secret draws", () => {
  for (const one of golden.permanent)
    it(`slot ${one.slot}`, async () => {
      const slot = { secret: unhex(one.secret), collection: unhex(one.collection), number: one.slot };
      const turned = await flips(slot, one.value, one.size, [BigInt(one.threshold), 1n << 31n]);
      expect(turned.flatMap((flipped, b) => (flipped ? [b] : []))).toEqual(one.flipped);
      expect(await cohort(slot, one.cohorts)).toBe(one.cohort);
      expect(await userGroup(slot, one.weights)).toBe(one.drawn);
    });

  for (const one of golden.projections)
    it(`the projection over ${one.size} values`, async () => {
      const row = (j: number) =>
        Promise.all(Array.from({ length: one.size }, (_, v) => positive(unhex(one.seed), j, v)));
      for (let j = 0; j < one.rows; j++)
        expect((await row(j)).flatMap((held, v) => (held ? [v] : []))).toEqual(one.positive[j]);
    });
});
