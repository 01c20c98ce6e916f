/** A map that is moved, enlarged and asked: a rectangle on it becomes a query. */
import { button, shell } from "./controls.js";
import { drawn, element } from "./elements.js";
import { putLists } from "./lists.js";
import { tileReader } from "./map_tiles.js";
import { placePicker } from "./map_areas.js";
import { questionBox } from "./map_question.js";

const data = JSON.parse(document.getElementById("data").textContent);
const { names, box, frames, lists, areas } = data;
const SIDES = [0, 1].flatMap((column) => [0, 1].map((end) => [column, end]));
const places = box.map(([low, high]) => Math.max(0, 3 - Math.floor(Math.log10(high - low))));
const third = ([low, high]) => (high - low) / 3;
let asked = box.map((ends) => [ends[0] + third(ends), ends[1] - third(ends)]);
let drawing = false;
let marked = !areas.length; // where places have names, no rectangle is drawn before somebody asks for one

const tileAt = tileReader(lists[0], data.noun);
const here = element("output", { "aria-live": "polite" }, "A click on the map says how many there are.");

const rounded = (value, column) => Number(value.toFixed(places[column]));
const within = (value, column) => Math.min(Math.max(value, box[column][0]), box[column][1]);

/** Makes one drawing of the map movable, and returns what shows the rectangle in it and what enlarges it. */
function movable(svg) {
  const [left, top, width, height] = frames[svg.classList.contains("wide") ? "wide" : "narrow"];
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  const mark = drawn("rect", { fill: "none", stroke: "var(--less)", "stroke-width": "2" });
  svg.append(mark);
  let [view, from] = [[...whole], null];

  const look = () => {
    view[2] = Math.min(view[2], whole[2]);
    view[3] = (view[2] / whole[2]) * whole[3];
    [0, 1].forEach((i) => (view[i] = Math.min(Math.max(view[i], 0), whole[2 + i] - view[2 + i])));
    svg.setAttribute("viewBox", view.join(" "));
    svg.style.touchAction = drawing || view[2] < whole[2] ? "none" : "auto";
    svg.style.overflow = view[2] < whole[2] ? "hidden" : "";
  };
  const zoom = (factor) => {
    view = [view[0] + (view[2] * (1 - factor)) / 2, view[1] + (view[3] * (1 - factor)) / 2, view[2] * factor, 0];
    look();
  };
  const move = (right, down) => {
    view = [view[0] + right * view[2], view[1] + down * view[3], view[2], view[3]];
    look();
  };
  const show = () => {
    const across = asked[0].map((value) => left + ((value - box[0][0]) / (box[0][1] - box[0][0])) * width);
    const up = asked[1].map((value) => top + ((box[1][1] - value) / (box[1][1] - box[1][0])) * height);
    mark.style.display = marked ? "" : "none";
    const place = { x: across[0], y: up[1], width: across[1] - across[0], height: up[0] - up[1] };
    for (const [name, value] of Object.entries(place)) mark.setAttribute(name, Math.max(value, 0).toFixed(2));
  };
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const value = (point) => [
    within(box[0][0] + ((point.x - left) / width) * (box[0][1] - box[0][0]), 0),
    within(box[1][1] - ((point.y - top) / height) * (box[1][1] - box[1][0]), 1),
  ];

  svg.addEventListener("pointerdown", (event) => {
    if (!drawing && view[2] === whole[2]) return; // nothing to move: the page scrolls
    from = at(event);
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const to = at(event);
    if (!drawing) return move((from.x - to.x) / view[2], (from.y - to.y) / view[3]);
    const ends = [value(from), value(to)];
    ask([0, 1].map((column) => ends.map((one) => one[column]).sort((one, other) => one - other)));
  });
  svg.addEventListener("click", (event) => drawing || (here.textContent = tileAt(value(at(event)))));
  for (const over of ["pointerup", "pointercancel"]) svg.addEventListener(over, () => (from = null));
  svg.tabIndex = 0;
  svg.addEventListener("keydown", ({ key }) => {
    const way = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[key];
    if (way && view[2] < whole[2]) move(...way);
    else if (key === "+" || key === "-") zoom(key === "+" ? 0.7 : 1 / 0.7);
    else return;
  });
  return { look, show, zoom };
}

const maps = [...document.querySelectorAll("#map svg.map")].map(movable);
const ends = SIDES.map(([column, end]) => {
  const label = `${names[column]}, ${end ? "to" : "from"}`;
  const [min, max] = box[column].map(String);
  const input = element("input", { type: "number", min, max, step: "any", "aria-label": label });
  input.addEventListener("change", () => {
    const wanted = asked.map((own) => [...own]);
    if (Number.isFinite(input.valueAsNumber)) wanted[column][end] = within(input.valueAsNumber, column);
    ask(wanted);
  });
  return input;
});
const command = element("pre", { tabindex: "0", "aria-live": "polite" });

/** Shows a rectangle, in the columns' units, and the commands that answer it. */
function ask(rectangle) {
  marked ||= rectangle !== asked;
  asked = rectangle;
  SIDES.forEach(([column, end], i) => (ends[i].value = rounded(asked[column][end], column)));
  const ranges = asked.map((own, column) => own.map((one) => rounded(one, column)).join(".."));
  const query = shell(ranges.map((range, column) => `${names[column]} in ${range}`).join(" and "));
  command.textContent = `dpress query FOLDER ${query}\ndpress report FOLDER --query ${query}`;
  command.hidden = !marked;
  maps.forEach((one) => one.show());
}

const draw = button("Draw a rectangle", () => {
  drawing = !drawing;
  draw.setAttribute("aria-pressed", String(drawing));
  maps.forEach((one) => one.look());
});
draw.setAttribute("aria-pressed", "false");
const zooms = [
  ["Enlarge", 0.7],
  ["Reduce", 1 / 0.7],
  ["Whole map", Infinity],
];
const inputs = [0, 1].map((column) =>
  element("span", { class: "held" }, names[column], ...SIDES.flatMap(([own], i) => (own === column ? [ends[i]] : []))),
);
const [picker, choose] = areas.length ? placePicker(areas) : ["", null];
document
  .getElementById("live")
  .append(
    picker,
    element("p", { class: "note" }, here),
    questionBox(data, choose, ask),
    element(
      "div",
      { class: "controls" },
      ...zooms.map(([text, factor]) =>
        button(text, () => maps.forEach((one) => one.zoom(factor === Infinity ? 1e9 : factor))),
      ),
      draw,
      ...inputs,
    ),
    element(
      "p",
      { class: "note" },
      "The page does not know the error of every rectangle; of one that is drawn, commands give the count with its interval, and draw it. Drag an enlarged map to move it, or use the arrow keys.",
    ),
    command,
  );
ask(asked);
putLists(lists);
document.documentElement.classList.add("scripted");
