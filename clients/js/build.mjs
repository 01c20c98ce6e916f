// Writes the two bundles to dist, or to the folder given, and to the Python package, which ships them:
// client.mjs for `import`, client.js for a script tag. Before that it finds the types of columns and the oracles.
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { minify } from "terser";
import "./rooms.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folders = process.argv.length > 2 ? [process.argv[2]] : [here("dist"), here("../../src/dpress/service/client")];
// Properties that neither a document nor an app has: the bundle calls them something shorter.
const NAMES =
  "again answer ask attributes axes below cell clear codes digits dropped encoder expected fields fresh halves " +
  "kept largestBatch lifetime make negative number offer oracle over parts plain point respond retryAfter rows " +
  "said seed sizes slot small sound toss type types weight width widths word";
const WITHIN = new RegExp(`^(${NAMES.replaceAll(" ", "|")})$`);
// A function, because terser changes what it is given.
const smaller = () => ({ ecma: 2022, compress: { passes: 4, unsafe_arrows: true, pure_getters: true } });

for (const [name, format] of [
  ["client.mjs", "esm"],
  ["client.js", "iife"],
]) {
  const bundled = await build({
    entryPoints: [here("src/index.ts")],
    bundle: true,
    minify: true,
    mangleProps: WITHIN,
    write: false,
    target: "es2022",
    charset: "utf8",
    format,
    ...(format === "iife" ? { globalName: "dpress" } : {}),
  });
  const { code } = await minify(bundled.outputFiles[0].text, { ...smaller(), module: format === "esm" });
  for (const folder of folders) {
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/${name}`, `${code}\n`);
  }
}
