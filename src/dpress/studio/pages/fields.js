/** Fields of forms, each bound to one member of what was typed. */

import { element } from "./elements.js";
import { placed } from "./faults.js";
import { titled, typed } from "./work.js";

/** Returns a line that says why something is asked, or is not. */
export const why = (...text) => element("p", { class: "why" }, ...text);

/** Returns a button. */
export function button(words, act, kind = "") {
  const made = element("button", { type: "button", class: kind }, words);
  made.addEventListener("click", act);
  return made;
}

/** Returns a field of text. */
export function text(words, own, member, { size = "short", more = {}, then = () => {} } = {}) {
  const field = element("input", { class: size, autocomplete: "off", spellcheck: "false", ...more });
  field.value = own[member];
  return bound(words, field, own, member, then);
}

/** Returns a field of several lines. */
export function lines(words, own, member, more = {}) {
  const field = element("textarea", { spellcheck: "false", ...more });
  field.value = own[member];
  return bound(words, field, own, member, () => {});
}

/** Returns a choice of one of [value, words]. */
export function choice(words, own, member, options, then = () => {}) {
  const field = element("select", {}, ...options.map(([value, shown]) => element("option", { value }, shown)));
  field.value = own[member];
  return bound(words, field, own, member, then);
}

/** Returns a box to tick. */
export function tick(words, ticked, then) {
  const field = element("input", { type: "checkbox" });
  field.checked = ticked;
  field.addEventListener("change", () => {
    then(field.checked);
    typed();
  });
  return element("label", { class: "tick" }, field, words);
}

/** Returns boxes to tick, of which the chosen names are kept in a list. */
export function ticks(words, own, member, names) {
  const set = (name) => (on) => {
    own[member] = names.filter((one) => (one === name ? on : own[member].includes(one)));
  };
  const boxes = names.map((name) => tick(titled(name), own[member].includes(name), set(name)));
  return placed(own, member, element("div", { role: "group", "aria-label": words },
    element("p", { class: "why" }, words), element("div", { class: "fields" }, ...boxes)));
}

/** Returns a group of fields under a name. */
export function group(name, ...children) {
  return element("fieldset", {}, element("legend", {}, name), ...children);
}

/** Returns fields beside each other. */
export const row = (...children) => element("div", { class: "fields" }, ...children);

function bound(words, field, own, member, then) {
  field.addEventListener("input", () => {
    own[member] = field.value;
    typed();
  });
  field.addEventListener("change", then);
  return placed(own, member, element("label", {}, words, field));
}
