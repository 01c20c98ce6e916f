/** A device counts once a round, whatever its app does, in whichever tab. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Collection, type Options, type Store, memory } from "../src/index.js";
import { askOf, oracleOf } from "./asks.js";
import { type Server, problem, serve } from "./server.js";

const KRR = oracleOf("krr", 5);
const VALUES = { region: "North" };
const down = new TypeError("fetch failed");
let [server, store]: [Server, Store] = [undefined!, undefined!];

beforeEach(async () => {
  store = memory();
  server = serve(...(await askOf(KRR, 1)));
});

afterEach(() => void vi.unstubAllGlobals());

const open = (options: Options = {}): Promise<Collection> =>
  Collection.open(server.url, { store, jitter: 0, ...options });

/** Opens the collection in its following round, of as many as anybody may ask. */
function openNext(options: Options = {}): Promise<Collection> {
  const document = server.document as { round: number };
  server.document = { ...document, round: document.round + 1, rounds: document.round + 2 };
  return open({ rounds: 9, ...options });
}

describe("a round", () => {
  const done = { sent: false, queued: 0, refused: "answered already" };

  it("is answered once by a device, however often it is asked to", async () => {
    const own = await open({ limit: 9 });
    const outcomes = [];
    for (let i = 0; i < 6; i++) outcomes.push(await own.report(VALUES));
    expect(outcomes).toEqual([{ sent: true, queued: 0, refused: null }, ...Array(5).fill(done)]);
    expect(server.sent).toHaveLength(1);
    const status = await own.status();
    expect(status).toMatchObject({ open: false, optedOut: false, answered: 1, refused: done.refused });
    expect(status.account!.spent).toBe(1);
  });

  it("is answered once by all tabs together, also at the same moment", async () => {
    const tabs = await Promise.all([open(), open(), open()]);
    const outcomes = await Promise.all(tabs.flatMap((own) => [own.report(VALUES), own.report(VALUES)]));
    expect(outcomes.filter((one) => one.refused === null).length).toBe(1);
    expect(new Set(outcomes.map((one) => one.refused))).toEqual(new Set([null, done.refused]));
    expect(server.sent).toHaveLength(1);
    expect(await (await open()).report(VALUES)).toEqual(done);
  });

  it("is answered once, also where the report still waits", async () => {
    server.answers.push(down);
    const own = await open();
    expect(await own.report(VALUES)).toEqual({ sent: false, queued: 1, refused: null });
    const other = await open();
    expect(await other.report({ region: "South" })).toMatchObject({ ...done, queued: expect.any(Number) });
    await other.flush();
    expect(new Set(server.sent.map((one) => one.body)).size).toBe(1);
  });

  it("is answered once, also where the server refused the report", async () => {
    server.answers.push(problem(400));
    const own = await open();
    expect((await own.report(VALUES)).refused).toBe("no (400)");
    expect(await own.report(VALUES)).toEqual(done);
  });

  it("of another number, or of another collection, is another one", async () => {
    expect(await (await open()).report(VALUES)).toMatchObject({ sent: true });
    expect(await (await openNext()).report(VALUES)).toMatchObject({ sent: true });
    expect(await (await open()).report(VALUES)).toEqual(done);
    server = serve(...(await askOf(oracleOf("rr_ldp"), 1)));
    expect(await (await open()).report(VALUES)).toMatchObject({ sent: true });
  });

  it("would be answered again by a device that forgets: the control", async () => {
    for (let i = 0; i < 3; i++) await (await open({ store: memory() })).report(VALUES);
    expect(server.sent).toHaveLength(3);
  });
});

describe("several rounds", () => {
  const enough = { sent: false, queued: 0, refused: "answered already" };

  it("are answered only where the page asks for them", async () => {
    expect(await (await open()).report(VALUES)).toMatchObject({ sent: true });
    const own = await openNext({ rounds: 1 });
    expect(await own.report(VALUES)).toEqual(enough);
    expect(await own.status()).toMatchObject({ open: false, answered: 1, account: { spent: 1 } });
    expect(server.sent).toHaveLength(1);
  });

  it("are as many as the page asks for, and charged one by one", async () => {
    const outcomes = [await (await open({ rounds: 3 })).report(VALUES)];
    for (let i = 0; i < 4; i++) outcomes.push(await (await openNext({ rounds: 3 })).report(VALUES));
    expect(outcomes.map((one) => one.sent)).toEqual([true, true, true, false, false]);
    expect(outcomes.at(-1)).toEqual(enough);
    expect((await (await open()).status()).account!.spent).toBe(3);
  });

  it("are not more where the design has one, however many the page asks for", async () => {
    const own = await open({ rounds: 5 });
    for (let i = 0; i < 5; i++) await own.report(VALUES);
    expect(server.sent).toHaveLength(1);
  });

  it("say in the preview what they spend together", async () => {
    const sentence = async (options: Options): Promise<unknown> => {
      const shown = await (await open({ ...options, store: memory() })).preview(VALUES);
      return "sentence" in shown ? shown.sentence : shown.refused;
    };
    expect(await sentence({ rounds: 3 })).toMatch(
      /All reports of the same values in 3 rounds together: at most 20\.1 times \(epsilon 3\.00\)\. A round/,
    );
    expect(await sentence({})).not.toContain("together");
    const later = "A round that is added later and answered adds epsilon 1.00,";
    expect(await sentence({})).toContain(`${later} without a limit.`);
    expect(await sentence({ rounds: 3, limit: 4.5 })).toContain(`${later} up to 4.5 in all collections.`);
    server = serve(...(await askOf(oracleOf("rr_ldp"), 1)));
    expect(await sentence({ rounds: 3 })).toMatch(
      /All reports of the same values together: at most 9\.00 times \(epsilon 2\.20\)\.$/,
    );
  });

  it("of groups are one round of each device", async () => {
    server = serve(...(await askOf(KRR, 1, { number: 0, types: [1], collection: "" })));
    const shown = await (await open({ rounds: 3 })).preview(VALUES);
    expect("sentence" in shown && shown.sentence).not.toMatch(/together|added/);
  });
});
