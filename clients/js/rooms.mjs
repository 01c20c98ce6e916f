// Writes src/<folder>/rooms.ts: all that the files of a folder offer under a name, so that a new type of column, or an
// oracle, is a new file and nothing else. It is written only where it changes, and never committed.
import { readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

for (const [folder, name] of [
  ["attributes", "KINDS"],
  ["oracles", "METHODS"],
]) {
  const path = (file) => fileURLToPath(new URL(`src/${folder}/${file}`, import.meta.url));
  const read = (file) => readFile(path(file), "utf8").catch(() => "");
  const files = (await readdir(path(""))).sort();
  const texts = await Promise.all(files.map(read));
  const rooms = files.filter((_, i) => texts[i].includes(`export const ${name}`) && files[i] !== "rooms.ts");
  const words = rooms.map((file) => file.replace(/\.ts$/, ""));
  const imports = words.map((word) => `import { ${name} as ${word} } from "./${word}.js";\n`);
  const text = `${imports.join("")}export const ${name} = { ${words.map((word) => `...${word}`).join(", ")} };\n`;
  if ((await read("rooms.ts")) !== text) await writeFile(path("rooms.ts"), text);
}
