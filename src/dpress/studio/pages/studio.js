/** The page: four steps, and the plan beside them. */

import { byId, say } from "./elements.js";
import { mark, refuse } from "./faults.js";
import { drawHave, drawWhom } from "./have.js";
import { drawPlan } from "./plan.js";
import { drawDo, drawWhat } from "./want.js";
import { ask, take, whenKept, work } from "./work.js";

function fail(line, at = "") {
  byId("fault").hidden = line === "";
  say("fault", line);
  refuse(line, at);
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
