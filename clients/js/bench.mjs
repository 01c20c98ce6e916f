// What one report of `oue` costs the device, by the number of cells: medians in microseconds, as JSON.
// The report's bytes are made of a value, without the store and the network.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const bundled = await build({
  stdin: {
    contents: 'export { readOracle } from "./oracles/read.js"; export { Coins } from "./coins.js";',
    resolveDir: here("src"),
  },
  bundle: true,
  write: false,
  format: "esm",
});
const { readOracle, Coins } = await import(`data:text/javascript,${encodeURIComponent(bundled.outputFiles[0].text)}`);

const vectors = JSON.parse(readFileSync(here("../../src/dpress/vectors/reports.json"), "utf8"));
const { oracle: known } = vectors.devices.find((one) => one.oracle.method === "oue");
const [runs, warm] = [2000, 500];

function median(size) {
  const [oracle, coins] = [readOracle({ ...known, size }), new Coins()];
  const times = [];
  for (let i = 0; i < warm + runs; i++) {
    const start = process.hrtime.bigint();
    oracle.answer([i % size], coins);
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  return times.slice(warm).sort((a, b) => a - b)[runs / 2];
}

const microseconds = Object.fromEntries([64, 256, 1024, 4096].map((size) => [size, Number(median(size).toFixed(2))]));
console.log(JSON.stringify({ report: "oue", node: process.version, microseconds }));
