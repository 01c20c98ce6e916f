// Writes src/attributes/rooms.ts: what reads each kind of attribute, of every file of the folder, so that a new type of
// column is a new file and nothing else. It is written only where it changes, and never committed.
import { readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const made = here("src/attributes/rooms.ts");
const files = (await readdir(here("src/attributes"))).filter((file) => file !== "rooms.ts").sort();
const rooms = files.map((file) => file.replace(/\.ts$/, ""));
const imports = rooms.map((room) => `import { KINDS as ${room} } from "./${room}.js";\n`);
const text = `${imports.join("")}export const KINDS = { ${rooms.map((room) => `...${room}`).join(", ")} };\n`;

if ((await readFile(made, "utf8").catch(() => "")) !== text) await writeFile(made, text);
