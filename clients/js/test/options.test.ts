/** Options that are none are refused when a collection is opened, in one line; nothing is asked of the server. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Collection, type Options, memory } from "../src/index.js";
import { askOf, oracleOf } from "./asks.js";
import { type Server, serve } from "./server.js";

let server: Server = undefined!;
let told: unknown[][] = [];

beforeEach(async () => {
  server = serve(...(await askOf(oracleOf("krr", 5), 1)));
  told = [];
  vi.stubGlobal("console", { ...console, error: (...line: unknown[]) => told.push(line) });
});

afterEach(() => void vi.unstubAllGlobals());

const open = (options: object): Promise<Collection> =>
  Collection.open(server.url, { store: memory(), jitter: 0, ...options } as Options);

async function refused(options: object, line: string): Promise<void> {
  const own = await open(options);
  expect(told).toEqual([[`dpress: ${line}`]]);
  expect((await own.status()).refused).toBe(line);
  expect(await own.preview({ region: "North" })).toEqual({ refused: line });
  expect((await own.report({ region: "North" })).refused).toBe(line);
  expect([server.asked, server.sent]).toEqual([[], []]);
}

describe("a value of an option", () => {
  it.each([[NaN], [1.5], [Infinity], [0], [-1], ["3"], [null], [true], [[3]], [2 ** 40]])(
    "is no number of rounds: %j",
    (rounds) => refused({ rounds }, "rounds: expected a whole number >= 1"),
  );

  it.each([[-1], [NaN], [Infinity], ["4"], [null], [9e6]])("is no limit: %j", (limit) =>
    refused({ limit }, "limit: expected a number >= 0"),
  );

  it.each([
    [{ jitter: NaN }, "jitter: expected a whole number >= 0"],
    [{ jitter: -1 }, "jitter: expected a whole number >= 0"],
    [{ timeout: 0 }, "timeout: expected a whole number >= 1"],
    [{ timeout: "5000" }, "timeout: expected a whole number >= 1"],
    [{ allowUnproven: "false" }, "allowUnproven: expected true or false"],
    [{ titles: { age: 3 } }, "titles: expected texts by the names of attributes"],
    [{ titles: null }, "titles: expected texts by the names of attributes"],
    [{ store: null }, "store: expected an object with update"],
    [{ store: { update: 1 } }, "store: expected an object with update"],
  ])("is none of its values: %j", (options, line) => refused(options, line));

  it.each([
    [{}],
    [{ rounds: 1 }],
    [{ rounds: 99, limit: 0.5 + 1, timeout: 1000, allowUnproven: false }],
    [{ limit: undefined }],
  ])("is taken: %j", async (options) => {
    const own = await open(options);
    expect((await own.report({ region: "North" })).refused).toBe(null);
    expect(told).toEqual([]);
  });

  it.each([[null], [undefined], [7]])("may all be left out: %j", async (options) => {
    const own = await Collection.open(server.url, options as unknown as Options);
    expect((await own.status()).refused).toBe("no IndexedDB here: give a store");
    expect(told).toEqual([]);
  });
});

describe("a name of an option", () => {
  it.each([
    ["round", "rounds"],
    ["Rounds", "rounds"],
    ["limt", "limit"],
    ["timeOut", "timeout"],
    ["time_out", "timeout"],
    ["jiter", "jitter"],
    ["allow_unproven", "allowUnproven"],
    ["allowunproven", "allowUnproven"],
    ["stores", "store"],
  ])("that is misspelt is told with the right one: %s", (name, near) =>
    refused({ [name]: 3 }, `no option is called ${name}; did you mean ${near}?`),
  );

  it.each([["epsilon"], ["toString"], ["__proto"], [""]])("that is like none is told with all: %s", (name) =>
    refused(
      { [name]: 3 },
      `no option is called ${name}; there are limit, store, jitter, timeout, rounds, titles, allowUnproven`,
    ),
  );
});
