/** What an oracle is: the mechanism of one part of a report, made of its document. */
import type { Bytes } from "./bytes.js";
import type { Coins } from "./coins.js";
import { type Fields, fields } from "./fields.js";
import { type Fraction, epsilon } from "./fraction.js";
import type { Slot } from "./permanent.js";

export interface Oracle {
  /** How many cells each of its values has; one value for all oracles but `rr_ldp`. */
  readonly sizes: readonly number[];
  /** Bytes of a payload. */
  readonly width: number;
  /** The loss of one report. */
  readonly loss: () => Fraction;
  /** The loss of any number of reports of the same values, where there is a permanent response. */
  readonly lifetime?: () => Fraction;
  /** What the permanent response is of, where that is not the values. */
  cell?(values: readonly number[], slot: Slot): Promise<number>;
  /** What a report says in clear, where nothing is proven between any two values. */
  readonly clear?: string;
  /** Returns the payload; without a slot a permanent response is drawn afresh. */
  answer(values: readonly number[], coins: Coins, slot?: Slot): Bytes | Promise<Bytes>;
}

/** Makes an oracle of a document that has these fields, and maybe `loss`, beside `method`. */
export interface Method {
  readonly fields: string;
  /** Returns an oracle; its loss is the one that the document states, unless it says another one. */
  make(own: Fields, loss: Fraction): Omit<Oracle, "loss"> & Partial<Oracle>;
}

export const LARGEST = 2 ** 31 - 1;
export const LARGEST_BITS = 2 ** 19;

/** Returns the epsilon of `{"epsilon": "num/den"}`. */
export function lossOf(value: unknown): Fraction {
  return epsilon(fields(value, "epsilon")["epsilon"]);
}
