/** What the server answered, as elements: tables, refusals with their place, and how long something takes. */

import { element } from "./elements.js";
import { why } from "./fields.js";

/** Returns a table that scrolls by itself. */
export function listing(table, words) {
  const kind = (place) => (table.numbers.includes(place) ? "number" : "label");
  const head = table.header.map((name, place) => (name ? element("th", { scope: "col", class: kind(place) }, name) : element("td")));
  const body = table.rows.map((cells) => element("tr", {}, ...cells.map((cell, place) => element("td", { class: kind(place) }, cell.replace("+-", "±")))));
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": words },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
}

/** Returns the line that says why something was refused; of a statement also its place. */
export function refusal(error) {
  const line = element("p", { class: "wrong-line" }, error.message);
  return error.caret ? [element("pre", { class: "caret", tabindex: "0", "aria-label": "Where the statement is refused" }, error.caret), line] : [line];
}

/** Shows that something is done, and since when; then what came of it. */
export async function waited(out, words, act) {
  const began = Date.now();
  const tell = () => out.replaceChildren(why(`${words} ${Math.round((Date.now() - began) / 1000)} s`));
  tell();
  const clock = setInterval(tell, 1000);
  try {
    await act();
  } catch (error) {
    out.replaceChildren(...refusal(error));
  } finally {
    clearInterval(clock);
  }
}
