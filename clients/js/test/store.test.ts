/** The three stores: one entry at a time, whole or not at all, and still there after a reload. */
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Collection, type Store, indexed, local, memory } from "../src/index.js";
import { askOf, oracleOf } from "./asks.js";
import { serve } from "./server.js";

function kept(): Pick<Storage, "getItem" | "setItem"> {
  const entries = new Map<string, string>();
  return { getItem: (key) => entries.get(key) ?? null, setItem: (key, value) => void entries.set(key, value) };
}

beforeEach(() => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("localStorage", kept());
});
afterEach(() => void vi.unstubAllGlobals());

const shared = memory();
const STORES: [string, () => Store][] = [
  ["memory", () => shared],
  ["local", local],
  ["indexed", indexed],
];

describe.each(STORES)("%s", (_, make) => {
  it("keeps what a change makes, for whoever opens it next", async () => {
    expect(await make().update<number>("n", (old) => (old ?? 0) + 1)).toBe(1);
    expect(await make().update<number>("n", (old) => (old ?? 0) + 1)).toBe(2);
    expect(await make().update("other", (old) => old ?? null)).toBe(null);
  });

  it("keeps nothing of a change that fails", async () => {
    await make().update("m", () => 1);
    const failed = make().update("m", () => {
      throw new RangeError("no");
    });
    await expect(failed).rejects.toThrow(RangeError);
    expect(await make().update("m", (old) => old)).toBe(1);
  });

  it("loses no change of two at once", async () => {
    await Promise.all(Array.from({ length: 20 }, () => make().update<number>("c", (old) => (old ?? 0) + 1)));
    expect(await make().update("c", (old) => old)).toBe(20);
  });

  it("carries a collection over a reload: the queue, the secret and the account", async () => {
    const server = serve(...(await askOf(oracleOf("rr_ldp"), 1)));
    server.answers.push(new TypeError("fetch failed"));
    const first = await Collection.open(server.url, { store: make(), jitter: 0 });
    expect(await first.report({ region: "East" })).toEqual({ sent: false, queued: 1, refused: null });
    const { spent } = (await first.status()).account!;
    const second = await Collection.open(server.url, { store: make(), jitter: 0 });
    await second.flush();
    expect(server.sent[1]).toEqual(server.sent[0]);
    expect((await second.report({ region: "East" })).refused).toBe("answered already");
    server.document = { ...(server.document as object), round: 1, rounds: 2 };
    const third = await Collection.open(server.url, { store: make(), rounds: 2, jitter: 0 });
    expect(await third.report({ region: "East" })).toMatchObject({ sent: true });
    expect((await third.status()).account!.spent).toBe(spent); // the same secret: the same permanent response
  });
});

it("never hands out what it keeps: a caller cannot change it by hand", async () => {
  const store = memory();
  const made = await store.update<{ n: number }>("k", () => ({ n: 1 }));
  made.n = 2;
  expect(await store.update("k", (old) => old)).toEqual({ n: 1 });
});
