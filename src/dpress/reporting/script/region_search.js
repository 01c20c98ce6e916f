/** A box that finds regions by name or code, with suggestions; the arrow keys, Enter and Escape work in it. */
import { element } from "./elements.js";

const MOST = 12; // suggestions

/** Returns the box; `choose` is called with a region. */
export function regionSearch(tree, choose) {
  const input = element("input", {
    type: "text",
    id: "region",
    role: "combobox",
    spellcheck: "false",
    autocomplete: "off",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": "suggestions",
  });
  const list = element("ul", { id: "suggestions", role: "listbox", "aria-label": "Regions" });
  let [suggestions, place] = [[], 0];

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (region) => {
    input.value = "";
    close();
    choose(region);
  };
  const mark = (to) => {
    place = to;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === place)));
    list.children[place].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", list.children[place].id);
  };
  const suggest = () => {
    suggestions = tree.search(input.value, MOST);
    if (!suggestions.length) return close();
    list.replaceChildren(...suggestions.map((region, i) => option(region, i)));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(0);
  };
  const option = (region, i) => {
    const within = tree.within(region);
    const node = element(
      "li",
      { id: `suggestion${i}`, role: "option" },
      tree.title(region),
      element("small", {}, within ? ` in ${within}` : ""),
    );
    node.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the box keeps the focus
      take(region);
    });
    return node;
  };
  input.addEventListener("input", suggest);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") return close();
    if (step && list.hidden) return suggest();
    if (list.hidden || !(step || event.key === "Enter")) return;
    event.preventDefault();
    if (step) mark((place + step + suggestions.length) % suggestions.length);
    else take(suggestions[place]);
  });
  close();
  return element("div", { class: "search" }, element("label", { for: "region" }, "Name or code"), input, list);
}
