/** Coins and uniform integers, to the last bit. */
import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { Coins, threshold } from "../src/coins.js";
import { scripted } from "./scripted.js";

const word = (value: bigint): Coins => scripted([value.toString(16)]);
const halves = (...own: [low: number, high: number][]): Coins =>
  scripted(own.map(([low, high]) => ((BigInt(high) << 32n) | BigInt(low)).toString(16)));

it("a coin is true below its threshold, to the last bit", () => {
  for (const limit of [0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n + 5n, 2n ** 64n - 1n, 2n ** 64n])
    for (const value of [0n, limit - 1n, limit, limit + 1n, 2n ** 64n - 1n])
      if (value >= 0n && value < 2n ** 64n) expect(word(value).toss(threshold([limit, 2n ** 64n]))).toBe(value < limit);
});

it("a coin that is no multiple of 2^-64 is refused", () => {
  expect(() => threshold([1n, 3n])).toThrow("2^-64");
  expect(() => threshold([3n, 2n])).toThrow("2^-64");
});

it("a small integer is drawn again where its half is one too many", () => {
  expect(halves([1, 0]).small(3)).toEqual([0]);
  expect(halves([0, 7], [2 ** 32 - 1, 7]).small(3)).toEqual([2]); // 2^32 mod 3 = 1: the half 0 is left out
  expect(halves([0, 2 ** 31], [2 ** 31, 0]).small(4, 3)).toEqual([0, 2, 2]);
});

it("an integer below n is drawn again where its word is one too many", () => {
  expect(word(11n).below(5)).toBe(1);
  expect(scripted(["f".repeat(16), "7"]).below(5)).toBe(2); // 2^64 mod 5 = 1
});

it("every word is used once, and more are drawn when they are used up", () => {
  let filled = 0;
  const own = new Coins((out) => out.fill(++filled), 2);
  expect([...own.halves(8)]).toEqual([1, 1, 1, 1, 2, 2, 2, 2]);
});

it("no source of the client tosses coins of Math.random", () => {
  const src = new URL("../src/", import.meta.url);
  const names = readdirSync(src, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".ts"));
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) expect(readFileSync(new URL(name, src), "utf8")).not.toContain("Math.random");
});
