/** A collection from the app's side: what is sent, kept, charged, refused, and tried again. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Collection, type Options, type Outcome, type Store, memory } from "../src/index.js";
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

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const open = (options: Options = {}): Promise<Collection> =>
  Collection.open(server.url, { store, jitter: 0, ...options });

/** Opens the collection in its following round, of as many as anybody may ask. */
function openNext(options: Options = {}): Promise<Collection> {
  const document = server.document as { round: number };
  server.document = { ...document, round: document.round + 1, rounds: document.round + 2 };
  return open({ rounds: 99, ...options });
}

describe("a report", () => {
  it("is sent in one request of packed bytes, and counted in the status", async () => {
    const own = await open();
    expect(await own.status()).toMatchObject({ open: true, queued: 0, answered: 0, rounds: 1, refused: null });
    expect(await own.report(VALUES)).toEqual({ sent: true, queued: 0, refused: null });
    expect(server.sent).toHaveLength(1);
    expect(server.sent[0]!.url).toBe(`${server.url}/reports`);
    expect(server.sent[0]!.body).toMatch(/^9602c410[0-9a-f]{32}c410[0-9a-f]{32}0000c4010[0-4]$/);
    expect(server.sent[0]!.body.slice(8, 40)).toBe(server.url.slice(-64, -32));
    expect(await own.status()).toMatchObject({ open: false, queued: 0, answered: 1, rounds: 1 });
  });

  it("has a new id every round", async () => {
    await (await open()).report(VALUES);
    await (await openNext()).report(VALUES);
    expect(server.sent[0]!.body.slice(44, 76)).not.toBe(server.sent[1]!.body.slice(44, 76));
  });

  it("is refused without the value where the value has no cell", async () => {
    const own = await open();
    const outcome = await own.report({ region: "Atlantis" });
    expect(outcome).toEqual({ sent: false, queued: 0, refused: "region: a value is outside" });
    expect(await own.report({})).toMatchObject({ refused: "region: a value is missing" });
    expect(server.sent).toEqual([]);
    expect((await own.status()).account!.spent).toBe(0);
  });

  it("that the server refuses is not sent again, and says why", async () => {
    const own = await open();
    const body = (): Promise<Response> => {
      const id = server.sent.at(-1)!.body.slice(44, 76);
      return Promise.resolve(Response.json({ accepted: 0, duplicates: 0, refused: [{ id, reason: "out of range" }] }));
    };
    server.answers.push(body);
    expect(await own.report(VALUES)).toEqual({ sent: false, queued: 0, refused: "out of range" });
    await own.flush();
    expect(server.sent).toHaveLength(1);
  });
});

describe("what is asked", () => {
  it("is refused where it is not what the address says", async () => {
    const [other] = await askOf({ ...KRR }, 2);
    server.document = { ...(server.document as object), ask: other };
    const own = await open();
    expect(await own.report(VALUES)).toMatchObject({ sent: false, refused: "the server asks something else" });
    expect((await own.status()).open).toBe(false);
    expect(server.sent).toEqual([]);
  });

  it("is refused where its probabilities cost more than its epsilon, though the address is right", async () => {
    const cheaper = { ...KRR, loss: { epsilon: "19/20" } };
    server = serve(...(await askOf(cheaper, 1)));
    expect((await (await open()).report(VALUES)).refused).toMatch(/: the odds$/);
  });

  it.each([
    ["no address", "url"],
    ["https://example.org/v1/collections/abc", "url"],
  ])("%s is no address", async (url) => {
    const own = await Collection.open(url, { store });
    expect((await own.report(VALUES)).refused).toMatch(/^url: /);
  });

  it("is kept for the next time, if the server does not answer then", async () => {
    await open();
    server.document = down;
    server.answers.push(down);
    const own = await open();
    expect(await own.report(VALUES)).toEqual({ sent: false, queued: 1, refused: null });
  });

  it("is loaded later if it could not be at first", async () => {
    const document = server.document;
    server.document = down;
    const own = await open();
    expect(await own.report(VALUES)).toMatchObject({ refused: "the collection cannot be loaded" });
    server.document = document;
    expect(await own.report(VALUES)).toMatchObject({ sent: true });
  });

  it.each([{ open: false }, { until: "2020-01-01T00:00:00Z" }])("is over: %o", async (more) => {
    server.document = { ...(server.document as object), ...more };
    expect((await (await open()).report(VALUES)).refused).toBe("the collection is closed");
    expect(server.sent).toEqual([]);
  });

  it("in clear is answered only if that is allowed", async () => {
    const oracle = oracleOf("safe_regions");
    const side = { kind: "numeric", bounds: ["0.0", "1.0"], bins: 4, edges: null, outside: "clamp", null: "reject" };
    const part = { axes: [0, 1], encoder: { encoder: "node", side: 4, shift: 0 }, oracle };
    const attributes = [
      { ...side, name: "lon" },
      { ...side, name: "lat" },
    ];
    const ask = { model: "local", attributes, report_types: [{ weight: 1, width: 2, parts: [part] }], rounds: null };
    const { identity } = await import("../src/ask.js");
    server = serve(ask, await identity(ask));
    const place = { lon: 0.3, lat: 0.9 };
    expect((await (await open()).report(place)).refused).toMatch(/^unproven/);
    const own = await open({ allowUnproven: true });
    expect(await own.preview(place)).toMatchObject({ sentence: expect.stringContaining("in clear the region") });
    expect(await own.report(place)).toMatchObject({ sent: true });
  });
});

describe("what waits", () => {
  it("is sent again with the very same bytes, also after a reload", async () => {
    server.answers.push(down);
    expect(await (await open()).report(VALUES)).toEqual({ sent: false, queued: 1, refused: null });
    const own = await open();
    await own.flush();
    expect(server.sent).toHaveLength(2);
    expect(server.sent[1]!.body).toBe(server.sent[0]!.body);
    expect((await own.status()).queued).toBe(0);
    expect((await own.status()).account!.spent).toBe(1);
  });

  it("goes in batches as large as the server takes, and smaller ones if that is too large", async () => {
    server.answers.push(down, down, down, down, down); // of each that opens, which sends what waits
    await (await open()).report(VALUES);
    for (let i = 0; i < 4; i++) await (await openNext()).report(VALUES);
    server.sent.length = 0;
    server.answers.push(problem(413));
    await (await open()).flush();
    expect(server.sent.map((one) => one.body.length / 2 / 43)).toEqual([2, 1, 1, 1, 1, 1]);
  });

  it.each([[408], [429], [503]])(
    "waits after %i as long as the server says, and no report is made again",
    async (status) => {
      vi.useFakeTimers();
      server.answers.push(problem(status, {}, { "retry-after": "120" }));
      const own = await open();
      const report = own.report(VALUES);
      await vi.advanceTimersByTimeAsync(10);
      expect(await report).toEqual({ sent: false, queued: 1, refused: null });
      await vi.advanceTimersByTimeAsync(119_000);
      expect(server.sent).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(server.sent).toHaveLength(2);
      expect(server.sent[1]!.body).toBe(server.sent[0]!.body);
      expect((await own.status()).queued).toBe(0);
    },
  );

  it("waits until a date, too", async () => {
    vi.useFakeTimers();
    const until = new Date(Date.now() + 3_600_000).toUTCString();
    server.answers.push(problem(503, {}, { "retry-after": until }));
    const own = await open();
    void own.report(VALUES);
    await vi.advanceTimersByTimeAsync(3_590_000);
    expect(server.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(server.sent).toHaveLength(2);
  });

  it("waits longer and longer where the server fails", async () => {
    vi.useFakeTimers();
    server.answers.push(...Array.from({ length: 6 }, () => problem(500)));
    const own = await open();
    void own.report(VALUES);
    const waits: number[] = [];
    for (let start = Date.now(); server.sent.length < 7; await vi.advanceTimersByTimeAsync(50))
      if (server.sent.length > waits.length) waits.push(Date.now() - start);
    const between = waits.slice(1).map((one, i) => one - waits[i]!);
    between.forEach((one, i) => expect(one).toBeGreaterThanOrEqual(500 * 2 ** i - 100));
    between.forEach((one, i) => expect(one).toBeLessThanOrEqual(1500 * 2 ** i + 100));
    expect(between.some((one, i) => one > 500 * 2 ** i + 100)).toBe(true); // by chance never, once in 10^10
    await vi.advanceTimersByTimeAsync(100);
    expect((await own.status()).queued).toBe(0);
  });

  it("is given up after a timeout, and kept", async () => {
    vi.useFakeTimers();
    const own = await open({ timeout: 5000 });
    vi.stubGlobal(
      "fetch",
      (_: string, init: RequestInit) =>
        new Promise((_, reject) => init.signal!.addEventListener("abort", () => reject(new Error("aborted")))),
    );
    const report = own.report(VALUES);
    await vi.advanceTimersByTimeAsync(5100);
    expect(await report).toEqual({ sent: false, queued: 1, refused: null });
  });

  it.each([
    [400, false],
    [404, false],
    [415, false],
    [409, true],
  ])("is dropped at %i, for good", async (status, over) => {
    server.answers.push(problem(status, { detail: "Closed" }));
    const own = await open();
    expect(await own.report(VALUES)).toEqual({ sent: false, queued: 0, refused: `Closed (${status})` });
    await own.flush();
    expect(server.sent).toHaveLength(1);
    const { refused } = await own.status();
    expect(refused).toBe(over ? `Closed (${status})` : "answered already");
  });

  it("is dropped, never answered to another ask, where the collection has moved on", async () => {
    const current = "ab".repeat(32);
    server.answers.push(problem(409, { detail: "another round", current }));
    const own = await open();
    expect((await own.report(VALUES)).refused).toContain(current);
    expect((await own.status()).refused).toContain(current);
    expect((await own.report(VALUES)).refused).toContain(current);
    expect(server.sent).toHaveLength(1);
  });

  it("of one collection is no business of another", async () => {
    server.answers.push(down);
    await (await open()).report(VALUES);
    const [first, sent] = [server.url, server.sent];
    server = serve(...(await askOf(oracleOf("rr_ldp"), 1)));
    const own = await open();
    await own.report(VALUES);
    expect(server.sent.map((one) => one.url)).toEqual([`${server.url}/reports`]);
    expect(sent.map((one) => one.url)).toEqual([`${first}/reports`]);
  });
});

describe("an opt-out", () => {
  it("clears the queue, is kept, and nothing is sent or asked after it", async () => {
    server.answers.push(down);
    const own = await open();
    await own.report(VALUES);
    expect(await own.optOut()).toBe(true);
    expect(await own.status()).toMatchObject({ optedOut: true, open: false, queued: 0, refused: "opted out" });
    expect(await own.report(VALUES)).toEqual({ sent: false, queued: 0, refused: "opted out" });
    const [before, again] = [server.asked.length, await open()];
    await again.flush();
    expect(await again.report(VALUES)).toMatchObject({ refused: "opted out" });
    expect(await again.preview(VALUES)).toEqual({ refused: "opted out" });
    expect([server.asked.length - before, server.sent.length]).toEqual([0, 1]);
  });

  it("breaks off what is being sent", async () => {
    const own = await open();
    const aborted = new Promise<void>((done) =>
      vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
        init.signal!.addEventListener("abort", () => done());
        return new Promise((_, reject) => init.signal!.addEventListener("abort", () => reject(new Error("aborted"))));
      }),
    );
    const report = own.report(VALUES);
    while (!(await own.status()).queued) await new Promise((later) => setTimeout(later, 1));
    await new Promise((later) => setTimeout(later, 20));
    await own.optOut();
    await aborted;
    expect((await own.status()).queued).toBe(0);
    expect(await report).toEqual({ sent: false, queued: 0, refused: "opted out" });
  });

  it("in another tab is seen by this one", async () => {
    const [one, other] = [await open(), await open()];
    await other.optOut();
    expect(await one.report(VALUES)).toMatchObject({ refused: "opted out" });
    expect(server.sent).toEqual([]);
  });
});

describe("the account", () => {
  it("charges every report of a method without a permanent response, and refuses beyond the limit", async () => {
    let own = await open({ limit: 2.5 });
    for (const spent of [1, 2]) {
      if (spent > 1) own = await openNext({ limit: 2.5 });
      expect(await own.report(VALUES)).toMatchObject({ sent: true });
      expect((await own.status()).account).toMatchObject({ spent, limit: 2.5 });
    }
    own = await openNext({ limit: 2.5 });
    expect((await own.report(VALUES)).refused).toBe("budget exceeded: limit 2.5, spent 2, asked 1");
    expect((await own.status()).account!.charges).toHaveLength(2);
    expect(server.sent).toHaveLength(2);
  });

  it("allows a limit to the last", async () => {
    server = serve(...(await askOf({ ...KRR, loss: { epsilon: "11/10" } }, 1)));
    const outcomes = [await (await open({ limit: 3.3 })).report(VALUES)];
    for (let i = 0; i < 3; i++) outcomes.push(await (await openNext({ limit: 3.3 })).report(VALUES));
    expect(outcomes.map((one) => one.sent)).toEqual([true, true, true, false]);
  });

  it("charges a permanent response once for its value, exactly", async () => {
    server = serve(...(await askOf(oracleOf("rr_ldp"), 1)));
    await (await open({ limit: 5 })).report(VALUES);
    const again = async (region: string): Promise<Outcome> => (await openNext({ limit: 5 })).report({ region });
    const spent = async (): Promise<number> => (await (await open()).status()).account!.spent;
    await again("North");
    const lifetime = 2 * Math.log((2 - 0.5) / 0.5);
    expect(await spent()).toBeCloseTo(lifetime, 12);
    expect(await again("South")).toMatchObject({ sent: true });
    expect(await spent()).toBeCloseTo(2 * lifetime, 12);
    expect((await again("West")).refused).toMatch(/^budget exceeded/);
    expect(await again("South")).toMatchObject({ sent: true });
  });
});

describe("a preview", () => {
  it("shows the bytes and a sentence; nothing is sent, charged or kept", async () => {
    const own = await open({ limit: 1 });
    const shown = await own.preview(VALUES);
    expect(shown).toMatchObject({ sentence: expect.stringContaining("about region") });
    expect(shown).toMatchObject({ sentence: expect.stringContaining("2.72 times (epsilon 1.00)") });
    expect("bytes" in shown && shown.bytes.length).toBe(43);
    expect(await own.status()).toMatchObject({ queued: 0, answered: 0, account: { spent: 0 } });
    expect(server.sent).toEqual([]);
  });

  it("calls attributes by their titles", async () => {
    const titled = await (await open({ titles: { region: "Region of residence" } })).preview(VALUES);
    expect(titled).toMatchObject({ sentence: expect.stringContaining("about Region of residence;") });
    const other = await (await open({ titles: { age: "Age" } })).preview(VALUES);
    expect(other).toMatchObject({ sentence: expect.stringContaining("about region;") });
  });

  it("tells what repeated reports reveal", async () => {
    server = serve(...(await askOf(oracleOf("rr_ldp"), 1)));
    const shown = await (await open()).preview(VALUES);
    expect(shown).toMatchObject({ sentence: expect.stringContaining("together: at most 9.00 times (epsilon 2.20)") });
  });
});

describe("rounds", () => {
  it("are answered by the devices of their user group only", async () => {
    const outcomes = new Set<string>();
    server = serve(...(await askOf(KRR, 1, { number: 0, types: [1, 1], collection: "" })), {
      rounds: 2,
      next: "cd".repeat(32),
    });
    let sent = 0;
    for (let device = 0; device < 40; device++) {
      const own = await open({ store: memory() });
      const outcome = await own.report(VALUES);
      outcomes.add(outcome.refused ?? "sent");
      sent += Number(outcome.sent);
      expect(await own.status()).toMatchObject({ rounds: 2, next: "cd".repeat(32), answered: Number(outcome.sent) });
    }
    expect([...outcomes].sort()).toEqual(["sent", "this device reports in round 1, counted from 0"]);
    expect(server.sent).toHaveLength(sent);
  });

  it("that the server counts otherwise than the ask are refused", async () => {
    server = serve(...(await askOf(KRR, 1, { number: 0, types: [1, 1], collection: "" })), { round: 1, rounds: 2 });
    expect((await (await open()).report(VALUES)).refused).toBe("round: not that of the ask");
  });
});

describe("a store that fails", () => {
  it("ends in a refusal, and nothing is sent", async () => {
    const own = await open();
    const full = { update: () => Promise.reject(new DOMException("full", "QuotaExceededError")) };
    expect(await own.report(VALUES)).toMatchObject({ sent: true });
    const broken = await Collection.open(server.url, { store: full, jitter: 0 });
    expect(await broken.report(VALUES)).toEqual({ sent: false, queued: 0, refused: "failed: QuotaExceededError" });
    expect(await broken.optOut()).toBe(false);
    expect((await broken.status()).account).toBe(null);
    expect(server.sent).toHaveLength(1);
  });

  it("is named where a device has none", async () => {
    const own = await Collection.open(server.url);
    expect((await own.report(VALUES)).refused).toBe("no IndexedDB here: give a store");
  });
});
