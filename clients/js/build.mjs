// Writes the two bundles to dist and to the Python package, which ships them: an ES module and a script tag's script.
import { copyFile, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const shipped = process.argv[2] ?? here("../../src/dpress/service/client");
const shared = {
  entryPoints: [here("src/index.ts")],
  bundle: true,
  minify: true,
  target: "es2022",
  legalComments: "none",
  charset: "utf8",
};
await build({ ...shared, format: "esm", outfile: here("dist/client.mjs") });
await build({ ...shared, format: "iife", globalName: "dpress", outfile: here("dist/client.js") });
await mkdir(shipped, { recursive: true });
for (const name of ["client.mjs", "client.js"]) await copyFile(here(`dist/${name}`), `${shipped}/${name}`);
