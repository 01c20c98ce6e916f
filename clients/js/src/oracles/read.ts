/** From the document of an oracle to the oracle; one that spends more than it says is refused. */
import { maker } from "../fields.js";
import { type Method, type Oracle, lossOf } from "../oracle.js";
import { METHODS } from "./rooms.js";

/** Returns the oracle that a document describes. */
export function readOracle(document: unknown): Oracle {
  const [method, own] = maker<Method>(document, METHODS, "method");
  const loss = "loss" in own ? lossOf(own["loss"]) : ([0n, 1n] as const);
  return { loss: () => loss, ...method.make(own, loss) };
}
