/** What a server says of a collection, beside what is asked. */
import { type Fields, integer } from "./fields.js";

export interface Offer {
  readonly round: number;
  readonly rounds: number;
  readonly open: boolean;
  readonly until: string | null;
  readonly largestBatch: number;
  readonly next: string | null;
}

const MOST = 2 ** 16;

/** Reads what a server says; fields that are not known here may stand beside. */
export function readOffer(said: Fields): Offer {
  const text = (name: string): string | null => (typeof said[name] === "string" ? (said[name] as string) : null);
  return {
    round: integer(said, "round", 0, MOST - 1),
    rounds: integer(said, "rounds", 1, MOST),
    open: said["open"] === true,
    until: text("until"),
    largestBatch: integer(said, "largest_batch", 1, 2 ** 31),
    next: text("next"),
  };
}
