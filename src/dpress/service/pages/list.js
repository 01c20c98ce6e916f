/** The largest cells in figures, for tables too large to be read whole. */
import { element } from "./elements.js";
import { count, largest, percent, points, shares } from "./numbers.js";

const MOST = 10;

/** Returns the list, to be updated as often as there is something new. */
export function list(labels) {
  const body = element("tbody");
  const node = element(
    "details",
    {},
    element("summary", {}, `The largest of ${labels.length.toLocaleString("en")} cells in figures`),
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col", class: "label" }, "cell"),
          element("th", { scope: "col" }, "share, 95 %"),
          element("th", { scope: "col" }, "people, 95 %"),
        ),
      ),
      body,
    ),
  );
  const update = (table, users) => {
    const found = shares(table, users);
    body.replaceChildren(
      ...largest(table.count, MOST).map((i) =>
        element(
          "tr",
          {},
          element("th", { scope: "row", class: "label" }, labels[i]),
          element("td", { class: "number" }, `${percent(found.share[i])} ${points(found.half[i])}`),
          element("td", { class: "number" }, `${count(table.count[i])} (${count(table.low[i])} to ${count(table.high[i])})`),
        ),
      ),
    );
  };
  return { node, update };
}
