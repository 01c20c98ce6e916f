/** From the document of an oracle to the oracle; one that spends more than it says is refused. */
import { fields } from "../fields.js";
import type { Method, Oracle } from "../oracle.js";
import { refuse } from "../refusal.js";
import { diskReports } from "./disk_reports.js";
import { hadamard } from "./hadamard.js";
import { krr } from "./krr.js";
import { olh } from "./olh.js";
import { pcep } from "./pcep.js";
import { rappor } from "./rappor.js";
import { rrLdp } from "./rr_ldp.js";
import { safeRegions } from "./safe_regions.js";
import { subsetSelection } from "./subset_selection.js";
import { oue, sue } from "./unary.js";

const METHODS = new Map<unknown, Method>([
  ["disk_reports", diskReports],
  ["hadamard", hadamard],
  ["krr", krr],
  ["olh", olh],
  ["oue", oue],
  ["pcep", pcep],
  ["rappor", rappor],
  ["rr_ldp", rrLdp],
  ["safe_regions", safeRegions],
  ["subset_selection", subsetSelection],
  ["sue", sue],
]);

/** Returns the oracle that a document describes. */
export function readOracle(document: unknown): Oracle {
  const name = (document as { method?: unknown } | null)?.method;
  const method = METHODS.get(name) ?? refuse("method: unknown to this client");
  return method.make(fields(document, `method ${method.fields}`));
}
