/** A page of regions: one is chosen, its tables are read beside its neighbours', its parts on a map and in a list. */
import { button } from "./controls.js";
import { element } from "./elements.js";
import { countsOf } from "./region_counts.js";
import { regionList } from "./region_list.js";
import { regionMap } from "./region_map.js";
import { regionSearch } from "./region_search.js";
import { regionShade } from "./region_shade.js";
import { regionTable } from "./region_table.js";
import { treeOf } from "./region_tree.js";
import { commandsFor } from "./region_commands.js";
import { answered, number } from "./rounding.js";

const MOST_CHILDREN = 300; // that are listed as buttons

function explorer(data) {
  const tree = treeOf(data);
  const counts = countsOf(data);
  const [where, below, commands] = [element("ol"), element("div"), element("pre", { tabindex: "0" })];
  const [heading, total] = [element("h4"), element("p", { class: "answer", role: "status" })];
  const table = regionTable(tree, counts);
  const shade = regionShade(counts);
  const parts = [regionMap(tree, counts, shade, (region) => choose(region)), regionList(tree, counts, shade)];
  let chosen = first(tree);
  shade.changed(() => parts.forEach((part) => part.show(chosen)));

  const choose = (region) => {
    chosen = region;
    show();
    if (document.activeElement === document.body) where.lastElementChild.firstElementChild.focus(); // its button is gone
  };
  function show() {
    const path = tree.path(chosen);
    where.replaceChildren(...path.map((region) => element("li", {}, step(region))));
    heading.textContent = tree.title(chosen);
    total.textContent = `${answered(counts.total(chosen))}.`;
    below.replaceChildren(...children());
    commands.textContent = commandsFor(tree, counts, chosen).join("\n");
    table.show(chosen);
    shade.show(chosen.level + 1 < tree.depth ? chosen.level + 1 : chosen.level);
    parts.forEach((part) => part.show(chosen));
  }
  function step(region) {
    const link = button(tree.name(region), () => choose(region));
    if (region === chosen) link.setAttribute("aria-current", "true");
    return link;
  }
  function children() {
    const hidden = tree.hidden(chosen);
    if (hidden)
      return [note(`Its ${number(hidden.count)} of the level ${hidden.name} are not in this page; the commands below give them.`)]; // prettier-ignore
    const every = tree.children(chosen);
    if (!every.length) return [];
    const items = every.slice(0, MOST_CHILDREN).map((region) => {
      const row = button("", () => choose(region));
      row.append(tree.name(region), element("small", {}, number(counts.total(region).value)));
      return element("li", {}, row);
    });
    const more = every.length - items.length;
    return [
      element(
        "details",
        { open: "" },
        element("summary", {}, `In it, by ${tree.levels[chosen.level + 1].name}: ${number(every.length)}`),
        element("ul", { class: "children" }, ...items),
        ...(more ? [note(`${number(more)} more are found by the search box, and in the list below.`)] : []),
      ),
    ];
  }
  const section = element(
    "section",
    { class: "regions" },
    element("h3", {}, "Choose a region"),
    regionSearch(tree, choose),
    element("nav", { "aria-label": "From all regions to the chosen details" }, where),
    heading,
    total,
    below,
    element("h3", {}, "Its tables"),
    table.node,
    note("The same and anything else about it, by the command:"),
    commands,
    element("h3", {}, "On a map and in a list"),
    shade.node,
    ...parts.map((part) => part.node),
  );
  show();
  return section;
}

const note = (words) => element("p", { class: "note" }, words);

/** Returns the first region that has several in it. */
function first(tree) {
  let region = tree.root;
  while (tree.children(region).length === 1) [region] = tree.children(region);
  return region;
}

const text = document.getElementById("data")?.textContent;
if (text) {
  document.getElementById("live").append(explorer(JSON.parse(text)));
  document.documentElement.classList.add("scripted");
}
