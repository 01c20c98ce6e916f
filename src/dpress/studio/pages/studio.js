/** The page: four steps, and the plan beside them. */

import { byId, element, say } from "./elements.js";
import { drawHave, drawWhom } from "./have.js";
import { drawPlan } from "./plan.js";
import { drawDo, drawWhat } from "./want.js";
import { ask, take, whenKept, work } from "./work.js";

function fail(line) {
  byId("fault").hidden = line === "";
  say("fault", line);
}

/** Draws the steps anew, where a choice changes what is asked; the field that was used keeps the focus. */
function redraw() {
  const fields = () => [...document.querySelectorAll(".steps :is(input, select, textarea, button)")];
  const names = (field) => {
    const label = field.closest("label")?.textContent ?? field.textContent;
    return label.startsWith("use ") ? label : `${field.closest("fieldset")?.querySelector("legend")?.textContent} ${label}`;
  };
  const before = document.activeElement?.closest(".steps") ? names(document.activeElement) : null;
  drawHave(redraw, fail);
  drawWhom(redraw);
  drawWhat(redraw);
  drawn();
  if (before !== null) fields().find((field) => names(field) === before)?.focus();
}

function drawn() {
  drawDo(redraw, fail);
  mark();
  drawPlan();
}

/** Marks the columns that a refusal names. */
function mark() {
  for (const box of document.querySelectorAll("fieldset[data-column]")) {
    const lines = work.wishes.map((one) => one.fault).filter((line) => line.startsWith(`$.attribute[${box.dataset.column}]`));
    box.classList.toggle("wrong", lines.length > 0);
    box.querySelector(".wrong-line")?.remove();
    if (lines.length) box.append(element("p", { class: "wrong-line" }, lines[0]));
  }
}

whenKept((line) => {
  fail(line);
  if (!line) drawn();
});

try {
  take(await ask("GET", "/work"));
  say("folder", work.folder);
  redraw();
} catch (error) {
  fail(error.message);
}
