/** What is published, asked in SQL: the answers to the statements that it was made for, and to further ones. */

import { element } from "./elements.js";
import { button, why } from "./fields.js";
import { listing, waited } from "./shown.js";
import { ask } from "./work.js";

const boxes = new Map(); // by wish: what was asked stays while the steps are drawn anew

/** Returns the field in which a published wish is asked, and its answers; what was interrupted can go on. */
export function asking(own, goOn) {
  if (!boxes.has(own.name)) boxes.set(own.name, box(own, goOn));
  return boxes.get(own.name);
}

/** Forgets what was shown of a wish. */
export const forget = (own) => boxes.delete(own.name);

function box(own, goOn) {
  const field = element("textarea", { class: "sql", spellcheck: "false", placeholder: "select count(*) from release" });
  const out = element("div", { role: "status" });
  const go = button("Ask", () => waited(out, "Asking.", async () => {
    out.replaceChildren(...answers(await ask("POST", "/query", JSON.stringify({ name: own.name, sql: field.value })), `${own.name}-question`));
  }));
  const further = element("details", { id: `asked-${own.name}` }, element("summary", {}, "Ask it in SQL, for nothing"),
    element("label", {}, "A statement over what is released; the name of the table does not matter", field),
    element("p", {}, go), out);
  return element("div", {}, ...(own.kind ? [] : [answered(own, goOn)]), further);
}

/** Returns the answers to a wish's own statements. */
function answered(own, goOn) {
  const out = element("div", { role: "status" });
  waited(out, "Reading its answers.", async () => {
    const found = await ask("POST", "/wishes/answers", own.name);
    const missing = found.missing.length ? [why(`It was interrupted: ${found.missing.join(", ")} is not measured yet.`), button("Go on", () => goOn(out), "main")] : [];
    out.replaceChildren(...missing, ...answers(found, own.name));
  });
  return out;
}

function answers(found, name) {
  const tables = found.tables.map((table, place) => {
    const file = URL.createObjectURL(new Blob([table.csv], { type: "text/csv" }));
    const csv = element("a", { href: file, download: `${name}-${place + 1}.csv` }, "Save as CSV");
    const shown = listing(table, `The answer to ${table.statement}`);
    shown.classList.add("answer");
    return element("section", { "aria-label": table.statement }, element("p", {}, element("code", {}, table.statement)), shown,
      ...table.notes.map((note) => why(note)), element("p", {}, csv));
  });
  return tables.length ? [...tables, why(found.charged)] : [];
}
