/** Named areas on a map: one is chosen in a list or by a click on it, and what is known of it is said. */
import { element } from "./elements.js";

const FAR = 4; // pixels that a pointer moves and yet clicks

/** Returns a list of areas, pairs of a name and what is said of it, with what chooses one by its place there. */
export function placePicker(areas) {
  const said = element("output", { "aria-live": "polite" });
  const select = element(
    "select",
    { "aria-label": "Place on the map" },
    element("option", { value: "" }, "Choose a place, or click on one"),
    ...areas.map(([name], i) => element("option", { value: String(i) }, name)),
  );
  const outlines = [...document.querySelectorAll("#map .area")];

  function choose(place) {
    select.value = place;
    said.textContent = place === "" ? "" : areas[place][1];
    for (const one of outlines) {
      one.classList.toggle("chosen", one.dataset.area === place);
      if (one.dataset.area === place) one.parentNode.append(one); // over its neighbours
    }
  }

  select.addEventListener("change", () => choose(select.value));
  for (const svg of document.querySelectorAll("#map svg.map")) {
    let from = [0, 0];
    svg.addEventListener("pointerdown", ({ clientX, clientY }) => (from = [clientX, clientY]));
    svg.addEventListener("click", ({ clientX, clientY }) => {
      if (Math.hypot(clientX - from[0], clientY - from[1]) > FAR) return; // it was moved
      const under = document.elementsFromPoint(clientX, clientY).find((one) => one.matches(".area"));
      if (under) choose(under.dataset.area);
    });
  }
  return [element("p", { class: "controls" }, select, said), (area) => choose(String(area))];
}
