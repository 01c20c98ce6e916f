/** The exact channel of every oracle, from its definition: what a report of a value shows, and with which chance. */
import { hex } from "../src/bytes.js";
import { place } from "../src/grid.js";
import { bucket } from "../src/oracles/olh.js";
import { positive } from "../src/oracles/pcep.js";
import { coordinates, minus, points, times } from "../src/oracles/pgr.js";
import { bloom } from "../src/oracles/rappor.js";
import type { Document } from "./asks.js";

export type Bytes = Uint8Array<ArrayBuffer>;
export interface Channel {
  /** Returns what is looked at of a payload. */
  key(payload: Bytes): string | Promise<string>;
  /** The chance of every such key. */
  readonly chances: Map<string, number>;
}

const number = (bytes: Uint8Array): number => bytes.reduce((sum, one, i) => sum + one * 256 ** i, 0);
const ratio = (text: unknown): number => {
  const [top, bottom] = String(text).split("/");
  return Number(top) / Number(bottom);
};
const range = (size: number): number[] => Array.from({ length: size }, (_, i) => i);
const each = (size: number, chance: (i: number) => number): Map<string, number> =>
  new Map(range(size).map((i) => [String(i), chance(i)]));

/** Returns all strings of so many bits, each with the product of its bits' chances. */
function strings(ones: readonly number[]): Map<string, number> {
  const chance = (own: number): number => ones.reduce((found, p, b) => found * ((own >> b) & 1 ? p : 1 - p), 1);
  return each(2 ** ones.length, chance);
}

/** Returns P(bit 1) behind both responses where it is truly 1, and where it is 0. */
const mixed = (own: Document): [number, number] => {
  const [f, p, q] = [ratio(own["f"]) / 2, ratio(own["p"]), ratio(own["q"])];
  return [f * p + (1 - f) * q, f * q + (1 - f) * p];
};

function subsets(own: Document, value: number): Map<string, number> {
  const [size, weight, p] = [Number(own["size"]), Number(own["weight"]), ratio(own["p"])];
  const all = range(2 ** size).filter((set) => range(size).filter((b) => (set >> b) & 1).length === weight);
  const holding = all.filter((set) => (set >> value) & 1).length;
  const chance = (set: number): number => ((set >> value) & 1 ? p / holding : (1 - p) / (all.length - holding));
  return new Map(all.map((set) => [String(set), chance(set)]));
}

function disk(own: Document, value: number): Map<string, number> {
  const { side } = own["grid"] as { side: number };
  const [r, truth, [x, y]] = [Number(own["radius"]), ratio(own["truth"]), place(side, value)];
  const reach = (a: number): number => Math.max(-a, a - side + 1, 0) ** 2;
  const ends = range(side + 2 * r).map((i) => i - r);
  const cells = ends.flatMap((i) => ends.filter((j) => reach(i) + reach(j) <= r * r).map((j) => [i, j] as const));
  const near = cells.map(([i, j]) => (i - x) ** 2 + (j - y) ** 2 <= r * r);
  const area = near.filter(Boolean).length;
  return each(cells.length, (i) => (near[i] ? truth / area : (1 - truth) / (cells.length - area)));
}

/** Returns whether a sign was kept, with what was stated beside it. */
function signs(
  own: Document,
  value: number,
  stated: ReadonlyMap<string, readonly [share: number, p: number]>,
): Channel {
  const width = 2 * Number(own["rows"]) > 256 ? 2 : 1;
  const seed = Uint8Array.from(Buffer.from(String(own["seed"]), "hex"));
  return {
    async key(payload) {
      const sign = number(payload.slice(0, width));
      const kept = (await positive(seed, sign >> 1, value)) === !(sign & 1);
      return `${hex(payload.slice(width))} ${(sign >> 1) & 7} ${kept}`;
    },
    chances: new Map(
      [...stated].flatMap(([key, [share, p]]) =>
        range(8).flatMap((row): [string, number][] => {
          const rows = range(Number(own["rows"])).filter((j) => (j & 7) === row).length / Number(own["rows"]);
          return [
            [`${key} ${row} true`, share * rows * p],
            [`${key} ${row} false`, share * rows * (1 - p)],
          ];
        }),
      ),
    ),
  };
}

const PRIME = 2 ** 31 - 1;
const TOP = 2 ** 28;

/** Returns the channel of an oracle at a value. */
export async function channel(own: Document, values: readonly number[]): Promise<Channel> {
  const [value, size, p] = [values[0]!, Number(own["size"]), ratio(own["p"])];
  const key = (payload: Bytes): string => String(number(payload));
  switch (own.method) {
    case "krr":
      return { key, chances: each(size, (y) => (y === value ? p : (1 - p) / (size - 1))) };
    case "sue":
    case "oue":
      return { key, chances: strings(range(size).map((v) => (v === value ? p : ratio(own["q"])))) };
    case "subset_selection":
      return { key, chances: subsets(own, value) };
    case "hadamard": {
      const rows = Number(own["rows"]);
      const odd = (n: number): boolean => [...n.toString(2)].filter((digit) => digit === "1").length % 2 === 1;
      return { key, chances: each(2 * rows, (y) => (odd((y >> 1) & value) === (y % 2 === 1) ? p : 1 - p) / rows) };
    }
    case "pgr": {
      const order = Number(own["order"]);
      let dimension = 1;
      while (points(order, dimension) < size) dimension++;
      const [all, hyperplane] = [points(order, dimension), points(order, dimension - 1)];
      const vector = coordinates(value, order, dimension);
      const on = (y: number): boolean =>
        coordinates(y, order, dimension).reduce(
          (sum, one, i) => minus(sum, times(one, vector[i]!, order), order),
          0,
        ) === 0;
      return { key, chances: each(all, (y) => (on(y) ? p / hyperplane : (1 - p) / (all - hyperplane))) };
    }
    case "loloha":
    case "olh": {
      const g = Number(own["g"]);
      const u = own.method === "olh" ? 0 : ratio(own["other"]);
      const truth = p * (1 - (g - 1) * u) + (1 - p) * u;
      const parts = (payload: Bytes): number[] => [0, 4, 8].map((at) => number(payload.slice(at, at + 4)));
      const shift = (payload: Bytes): number => {
        const [a, b, c] = parts(payload) as [number, number, number];
        return (number(payload.slice(12)) - bucket(value, a, b, c, g) + g) % g;
      };
      const top = (i: number): number => (i === 7 ? TOP - 1 : TOP) / PRIME;
      const pairs = range(8).flatMap((i) => range(g).map((d) => [i, d] as const));
      return {
        key: (payload) => `${Math.floor(parts(payload)[payload.at(-1)! % 3]! / TOP)} ${shift(payload)}`,
        chances: new Map(pairs.map(([i, d]) => [`${i} ${d}`, top(i) * (d ? (1 - truth) / (g - 1) : truth)])),
      };
    }
    case "one_bit": {
      const one = 1 - p + (value * (2 * p - 1)) / (size - 1);
      return { key, chances: each(2, (y) => (y ? one : 1 - one)) };
    }
    case "circular_wave": {
      const [levels, window, truth] = [Number(own["levels"]), Number(own["window"]), ratio(own["truth"])];
      const all = Number(own["groups"]) * levels;
      const near = (y: number): boolean =>
        Math.floor(y / levels) === Math.floor(value / levels) && (y - value + all) % levels < window;
      return { key, chances: each(all, (y) => (near(y) ? truth / window : (1 - truth) / (all - window))) };
    }
    case "piecewise":
    case "square_wave": {
      const [levels, window, truth] = [Number(own["levels"]), Number(own["window"]), ratio(own["truth"])];
      const [row, group] = [levels + window - 1, Math.floor(value / levels)];
      const all = Number(own["groups"]) * row;
      const near = (y: number): boolean =>
        Math.floor(y / row) === group && Math.abs(2 * ((y % row) - (value % levels)) - window + 1) < window;
      return { key, chances: each(all, (y) => (near(y) ? truth / window : (1 - truth) / (all - window))) };
    }
    case "disk_reports":
      return { key, chances: disk(own, value) };
    case "pcep":
      return signs(own, value, new Map([["", [1, ratio((own["probabilities"] as string[])[0])]]]));
    case "safe_regions": {
      const p = ratio((own["probabilities"] as string[])[0]);
      const quarter = hex(Uint8Array.of(1 + (value >> 2))); // region 0 is all, then the four quarters
      return signs(
        own,
        value,
        new Map([
          ["00", [1 / 2, p]],
          [quarter, [1 / 2, p]],
        ]),
      );
    }
    case "rr_ldp": {
      const [one, zero] = mixed(own);
      const sizes = own["sizes"] as number[];
      return { key, chances: strings(sizes.flatMap((n, i) => range(n).map((b) => (b === values[i] ? one : zero)))) };
    }
    case "rappor": {
      const [one, zero] = mixed(own);
      const [m, cohorts] = [Number(own["bits"]), Number(own["cohorts"])];
      const chances = new Map<string, number>();
      for (const c of range(cohorts)) {
        const held = await bloom((own["candidates"] as string[])[value]!, c, m, Number(own["hashes"]));
        for (const [bits, chance] of strings(range(m).map((b) => (held.has(b) ? one : zero))))
          chances.set(`${c} ${bits}`, chance / cohorts);
      }
      return { key: (payload) => `${number(payload.slice(0, 2))} ${number(payload.slice(2))}`, chances };
    }
  }
  throw new Error(`no channel of ${own.method}`);
}

export const flippedKey = (turned: readonly boolean[]): string =>
  String(turned.reduce((n, one, b) => n + (one ? 2 ** b : 0), 0));
export const flipChances = (size: number, f: number): Map<string, number> => strings(range(size).map(() => f / 2));
