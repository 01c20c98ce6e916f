/** Commands that answer about a region what the page cannot. */
import { shell } from "./controls.js";

const word = (text) => (/^[\w-]+$/.test(text) ? text : `"${text}"`);

/** Returns the commands of a region: its count, a table of it, and the regions in it. */
export function commandsFor(tree, { attributes, tables }, region) {
  const finer = tree.levels[region.level + 1]?.name ?? tree.hidden(region)?.name;
  const count = region === tree.root ? "total" : `${word(tree.levels[region.level].name)} = ${word(tree.code(region))}`;
  const where = region === tree.root ? "" : ` where ${count}`;
  const [table] = tables(region.level);
  return [
    count,
    ...(table ? [`count by ${table.map((axis) => word(attributes[axis].name)).join(", ")}${where}`] : []),
    ...(finer ? [`count by ${word(finer)}${where}`] : []),
  ].map((query) => `dpress query FOLDER ${shell(query)}`);
}
