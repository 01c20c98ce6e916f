/** What an app may say when it opens a collection; anything else is refused, by name. */
import { refuse } from "./refusal.js";
import type { Store } from "./store.js";

export interface Options {
  /** The most that this device may give away in all its collections, epsilon; without it nothing is refused. */
  readonly limit?: number;
  /** Where the device keeps its secret, its account and its queue; IndexedDB unless given. */
  readonly store?: Store;
  /** The longest random wait before something is sent, in milliseconds; 2000 unless given. */
  readonly jitter?: number;
  /** How long an answer of the server may take, in milliseconds; 30000 unless given. */
  readonly timeout?: number;
  /** How many of the collection's rounds a device may answer, once each; one unless given. */
  readonly rounds?: number;
  /** What a preview calls attributes, by their names; these themselves unless given. */
  readonly titles?: Readonly<Record<string, string>>;
  /** Also answer where nothing is proven between any two values: those reports say something in clear. */
  readonly allowUnproven?: boolean;
}

/** What an option takes. */
interface Rule {
  readonly expected: string;
  readonly sound: (value: unknown) => boolean;
}

const MOST = 2 ** 31; // milliseconds of a timer
const MOST_EPSILON = 9e6; // whose nine decimals a number still holds

const number = (low: number, whole: string, most: number): Rule => ({
  expected: `a ${whole}number >= ${low}`,
  sound: (value) => typeof value === "number" && value >= low && value < most && (!whole || Number.isInteger(value)),
});

/** What every option takes. */
const RULES: Readonly<Record<keyof Options, Rule>> = {
  limit: number(0, "", MOST_EPSILON),
  store: { expected: "an object with update", sound: (value) => typeof (value as Store | null)?.update === "function" },
  jitter: number(0, "whole ", MOST),
  timeout: number(1, "whole ", MOST),
  rounds: number(1, "whole ", MOST),
  titles: {
    expected: "texts by the names of attributes",
    sound: (value) =>
      typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string"),
  },
  allowUnproven: { expected: "true or false", sound: (value) => typeof value === "boolean" },
};

/** Returns how much of a name stands in another text: its pairs of letters, and its last letter. */
const alike = (name: string, text: string): number =>
  [...name].filter((_, i) => text.toLowerCase().includes(name.slice(i, i + 2).toLowerCase())).length;

/** Refuses an option that there is not, or whose value is none of its values; an undefined one was not given. */
export function checkOptions(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const { expected, sound } = (Object.hasOwn(RULES, name) && RULES[name as keyof Options]) || unknown(name);
    if (value !== undefined && !sound(value)) refuse(`${name}: expected ${expected}`);
  }
}

function unknown(name: string): never {
  const names = Object.keys(RULES);
  const near = names.reduce((best, one) => (alike(one, name) > alike(best, name) ? one : best));
  const hint = alike(near, name) * 2 > near.length ? `did you mean ${near}?` : `there are ${names.join(", ")}`;
  return refuse(`no option is called ${name}; ${hint}`);
}
