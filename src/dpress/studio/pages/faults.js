/** What is missing or wrong, at the fields that it is about: said once somebody has been there, or pressed a button. */

import { element } from "./elements.js";
import { work } from "./work.js";

const seen = new Set(); // fields that were left, or asked for by a button
let refused = []; // what the last answer of the server named

/** Returns the name of a field, as the server has it (`studio/faults.py`). */
export function placeOf(own, member) {
  if (work.draft.columns.includes(own)) return `columns/${own.name}/${member}`;
  return work.draft.wishes.includes(own) ? `wishes/${own.name}/${member}` : member;
}

/** Returns a field with room below it for what is wrong there. */
export function placed(own, member, ...children) {
  const box = element("div", { class: "field" }, ...children);
  box.at = () => placeOf(own, member);
  box.addEventListener("focusout", () => {
    seen.add(box.at());
    mark();
  });
  return box;
}

const boxes = () => [...document.querySelectorAll(".steps .field")];
const all = () => [...work.wishes.flatMap((one) => one.faults), ...refused];
const shown = (fault) => !fault.empty || seen.has(fault.at);

/** Shows every message at its field, and takes away those that are no longer true. */
export function mark() {
  const faults = all().filter(shown);
  for (const [number, box] of boxes().entries()) {
    const fault = faults.find((one) => one.at === box.at());
    const control = controlOf(box);
    box.querySelector(":scope > .wrong-line")?.remove();
    box.classList.toggle("wrong", Boolean(fault));
    const invalid = control.type === "radio" ? box.querySelector("[role=radiogroup]") : control;
    for (const name of ["aria-invalid", "aria-describedby"]) for (const one of [control, invalid]) one.removeAttribute(name);
    if (!fault) continue;
    box.append(element("p", { class: "wrong-line", id: `wrong-${number}` }, fault.line));
    if (control.tagName !== "BUTTON") invalid.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", `wrong-${number}`);
  }
}

const controlOf = (box) => box.querySelector("input, select, textarea, button");

/** Takes what the server refused, at the field that it names; nothing more is wrong where there is no line. */
export function refuse(line, at) {
  refused = line && at ? [{ at, line }] : [];
  mark();
  if (refused.length) focusOn(at);
}

/** Says at all of their fields what these faults are, and goes to the first on the page; false where there is none. */
export function toFirst(faults) {
  for (const fault of faults) seen.add(fault.at);
  mark();
  const first = boxes().find((box) => faults.some((fault) => fault.at === box.at()));
  if (first) focusOn(first.at());
  return faults.length > 0;
}

function focusOn(at) {
  const box = boxes().find((one) => one.at() === at);
  if (!box) return;
  for (let outer = box.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
  controlOf(box).focus();
}

/** Returns what a fault is about, and what would be right, as a button that goes there. */
export function wayTo(fault) {
  const box = boxes().find((one) => one.at() === fault.at);
  if (!box) return element("p", { class: "wrong-line" }, fault.line);
  const group = (box.closest("fieldset")?.querySelector("legend") ?? box.closest("section").querySelector("h2")).textContent;
  const words = box.querySelector("label, .why, legend, button")?.firstChild?.textContent ?? "";
  const way = element("button", { type: "button", class: "way" }, [group, words].filter(Boolean).join(", "));
  way.addEventListener("click", () => toFirst([fault]));
  return element("p", { class: "wrong-line" }, way, `: ${fault.line}`);
}
