/** From the document of an oracle to the oracle; one that spends more than it says is refused. */
import { fields } from "../fields.js";
import { type Method, type Oracle, lossOf } from "../oracle.js";
import { must } from "../refusal.js";
import { circularWave } from "./circular_wave.js";
import { diskReports } from "./disk_reports.js";
import { hadamard } from "./hadamard.js";
import { krr } from "./krr.js";
import { loloha } from "./loloha.js";
import { olh } from "./olh.js";
import { oneBit } from "./one_bit.js";
import { pcep } from "./pcep.js";
import { pgr } from "./pgr.js";
import { rappor } from "./rappor.js";
import { rrLdp } from "./rr_ldp.js";
import { safeRegions } from "./safe_regions.js";
import { setReports } from "./set_reports.js";
import { squareWave } from "./square_wave.js";
import { subsetSelection } from "./subset_selection.js";
import { oue, sue } from "./unary.js";

const METHODS: Readonly<Record<string, Method>> = {
  circular_wave: circularWave,
  disk_reports: diskReports,
  hadamard,
  krr,
  loloha,
  olh,
  one_bit: oneBit,
  oue,
  pcep,
  pgr,
  piecewise: squareWave,
  rappor,
  rr_ldp: rrLdp,
  safe_regions: safeRegions,
  set_reports: setReports,
  square_wave: squareWave,
  subset_selection: subsetSelection,
  sue,
};

/** Returns the oracle that a document describes. */
export function readOracle(document: unknown): Oracle {
  const { method: name } = Object(document) as { method: string };
  const method = METHODS[name];
  must(method?.make, "method");
  const own = fields(document, `method ${method.fields}`);
  const loss = "loss" in own ? lossOf(own["loss"]) : ([0n, 1n] as const);
  return { loss: () => loss, ...method.make(own, loss) };
}
