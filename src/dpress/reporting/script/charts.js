/** Figures on a canvas: bars, lines and heat maps with their intervals, read by pointing or by the arrow keys. */
import { element } from "./elements.js";
import { bar, dot, line, outline, path, shortLabels, write } from "./pens.js";
import { answered, number } from "./rounding.js";
import { said } from "./words.js";
import { placesOf } from "./views.js";

const [LEFT, BOTTOM, TOP, RIGHT] = [56, 44, 22, 8];
const PANELS = 4; // values of the first attribute that get bars each; more make a heat map
const APART = 75; // pixels for each number that an axis names
const FONT = "11px system-ui, sans-serif";

/** Returns a figure of a view of one or two attributes. */
export function chart(view) {
  const canvas = element("canvas", { tabindex: "0", role: "img" });
  canvas.setAttribute(
    "aria-label",
    `Figure of ${view.edges.map((one) => one.caption).join(" by ")}; arrow keys read its cells`,
  );
  const pointed = element(
    "p",
    { class: "note pointed", "aria-live": "polite" },
    "Point at the figure, or use the arrow keys, to read a cell.",
  );
  let [boxes, at] = [[], -1];
  const show = (cell) => {
    at = cell;
    pointed.textContent = said(view, cell);
    draw();
  };
  const draw = () => (boxes = drawn(canvas, view, at));
  canvas.addEventListener("pointermove", ({ offsetX: x, offsetY: y }) => {
    const found = boxes.findIndex(
      (box) => box && x >= box[0] && x < box[0] + box[2] && y >= box[1] && y < box[1] + box[3],
    );
    if (found >= 0 && found !== at) show(found);
  });
  canvas.addEventListener("keydown", (event) => {
    const columns = view.edges.at(-1).cells.length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(Math.min(Math.max(at < 0 ? 0 : at + step, 0), view.size - 1));
  });
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return element("figure", { class: "live" }, canvas, pointed, element("figcaption", {}, caption(view)));
}

function caption(view) {
  const grouped = view.edges
    .filter((one) => one.group > 1)
    .map((one) => ` A cell of ${one.caption} is ${one.group} neighbouring ones.`);
  const heat = isHeat(view);
  const shown = heat
    ? "The stronger the shade, the larger the count (by square root). A cell is left blank, or has a hollow dot, where its 95 % interval reaches down to zero."
    : view.edges.at(-1).timed
      ? "The line is the estimated count; the band is its 95 % interval."
      : "The thin lines are 95 % intervals.";
  const empty = heat || view.edges.length < 2 ? [] : panelsOf(view, false).filter((one) => !isFilled(view, one));
  const left =
    empty.length && empty.length < view.edges[0].cells.length
      ? ` Left out, as hardly an interval lies above zero, no more than chance makes: ${empty.map((one) => one.title).join(", ")}.`
      : "";
  const most = heat ? ` The strongest shade is ${number(Math.max(1, ...view.value))} ${view.noun}.` : "";
  return `${view.edges.map(restOf).join("")}${shown}${most}${grouped.join("")}${left}`;
}

/** Returns what a figure leaves out along an axis, and how many that are together. */
function restOf({ caption, cells, rest }) {
  if (!rest) return "";
  const shown = `Shown are the ${cells.length} largest of ${number(rest.of)} values of ${caption}`;
  return `${shown}; the rest (${number(rest.of - cells.length)} values) together: ${answered(rest.answer)}. `;
}

const isHeat = ({ edges }) => edges.length === 2 && edges[0].cells.length > PANELS;

/** Draws a view and returns the box of every cell. */
function drawn(canvas, view, at) {
  const width = Math.max(canvas.parentElement?.clientWidth ?? 0, 240);
  const style = getComputedStyle(canvas);
  const colours = Object.fromEntries(
    ["ink", "muted", "grid", "mark", "paper", "less"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  );
  const pen = canvas.getContext("2d");
  pen.font = FONT;
  const layout = isHeat(view) ? heatLayout : view.edges.at(-1).ordered ? uprightLayout : lyingLayout;
  const { height, paint } = layout({ pen, view, width, colours, at });
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  pen.scale(scale, scale);
  pen.font = FONT;
  return paint();
}

/** Returns the panels, one for every value of the first of two attributes: those in which something is clearly above zero. */
function panelsOf(view, filled = true) {
  if (view.edges.length === 1) return [{ title: "", first: 0 }];
  const [rows, columns] = view.edges;
  const panels = rows.cells.map((one, i) => ({
    title: `${rows.caption}: ${one.label}`,
    first: i * columns.cells.length,
  }));
  return filled && panels.some((one) => isFilled(view, one)) ? panels.filter((one) => isFilled(view, one)) : panels;
}

function isFilled({ edges, low }, { first }) {
  const { cells } = edges.at(-1);
  const above = cells.filter((_, i) => low[first + i] > 0).length;
  return above > Math.floor(cells.length / 20); // one in forty lies above zero by chance
}

function endsOf(view) {
  let [low, high] = [0, 1];
  view.value.forEach((one, i) => {
    low = Math.min(low, Number.isFinite(view.low[i]) ? view.low[i] : one);
    high = Math.max(high, Number.isFinite(view.high[i]) ? view.high[i] : one);
  });
  return [low, high];
}

/** Returns about so many numbers of a scale. */
function ticksOf([low, high], count = 4) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) found.push(tick);
  return found;
}

/** Bars, or lines in time, side by side in the attribute's order; one panel below the other. */
function uprightLayout(own) {
  const { pen, view, width, colours, at } = own;
  const panels = panelsOf(view);
  const columns = view.edges.at(-1);
  const plot = panels.length > 1 ? 120 : 210;
  const each = TOP + plot;
  const ends = endsOf(view);
  const step = (width - LEFT - RIGHT) / columns.cells.length;
  const up = (value, top) => top + plot - ((value - ends[0]) / (ends[1] - ends[0])) * plot;
  const paint = () => {
    const boxes = [];
    panels.forEach(({ title, first }, panel) => {
      const top = panel * each + TOP;
      write(own, title, LEFT, top - 11, { colour: colours.ink, most: width - LEFT });
      for (const tick of ticksOf(ends)) {
        line(pen, colours.grid, LEFT, up(tick, top), width - RIGHT, up(tick, top));
        write(own, number(tick), LEFT - 6, up(tick, top), { align: "right" });
      }
      if (columns.timed)
        band(
          own,
          columns,
          first,
          (i) => LEFT + (i + 0.5) * step,
          (value) => up(value, top),
        );
      columns.cells.forEach((_, i) => {
        const [cell, x] = [first + i, LEFT + i * step];
        boxes[cell] = [x, top, step, plot];
        if (!columns.timed)
          bar(own, cell, [
            x + 0.08 * step,
            up(Math.max(view.value[cell], 0), top),
            0.84 * step,
            Math.abs(up(0, top) - up(view.value[cell], top)),
          ]);
        if (!columns.timed && Number.isFinite(view.high[cell]))
          line(
            pen,
            colours.ink,
            x + step / 2,
            up(view.low[cell], top),
            x + step / 2,
            up(view.high[cell], top),
          );
        if (cell === at) outline(own, boxes[cell]);
      });
    });
    labels(own, columns, LEFT, step, panels.length * each);
    write(own, columns.caption, (LEFT + width) / 2, panels.length * each + 30, {
      align: "center",
      colour: colours.ink,
    });
    return boxes;
  };
  return { height: panels.length * each + BOTTOM, paint };
}

/** Writes as many labels below as fit, none over another. */
function labels(own, edge, left, step, top) {
  const names = shortLabels(own.pen, edge.cells.map((one) => one.tick), 90); // prettier-ignore
  const longest = Math.max(...names.map((name) => own.pen.measureText(name).width));
  const every = Math.max(1, Math.ceil((longest + 10) / step));
  names.forEach((name, i) => {
    if (i % every === 0) write(own, name, left + (i + 0.5) * step, top + 12, { align: "center" });
  });
}

function band({ pen, view, colours }, edge, first, x, y) {
  const inside = edge.cells.flatMap((one, i) => (one.ordered ? [i] : []));
  const [low, high] = [view.low, view.high].map((ends) =>
    inside.map((i) => [x(i), y(Number.isFinite(ends[first + i]) ? ends[first + i] : view.value[first + i])]),
  );
  path(pen, [...low, ...high.reverse()]);
  [pen.fillStyle, pen.globalAlpha] = [colours.mark, 0.25];
  pen.fill();
  pen.globalAlpha = 1;
  path(pen, inside.map((i) => [x(i), y(view.value[first + i])])); // prettier-ignore
  [pen.strokeStyle, pen.lineWidth] = [colours.mark, 1.6];
  pen.stroke();
}

/** Bars below one another, for values without an order. */
function lyingLayout(own) {
  const { pen, view, width, colours, at } = own;
  const panels = panelsOf(view);
  const rows = view.edges.at(-1).cells;
  const room = Math.min(Math.max(...rows.map((one) => pen.measureText(one.label).width)) + 12, width * 0.4);
  const names = shortLabels(pen, rows.map((one) => one.label), room - 8); // prettier-ignore
  const ends = endsOf(view);
  const along = (value) => room + ((value - ends[0]) / (ends[1] - ends[0])) * (width - room - RIGHT - 8);
  const [step, each] = [22, TOP + 22 * rows.length];
  const paint = () => {
    const boxes = [];
    for (const tick of ticksOf(ends, Math.max(1, Math.min(4, Math.floor((width - room) / APART))))) {
      line(pen, colours.grid, along(tick), TOP - 8, along(tick), panels.length * each);
      write(own, number(tick), along(tick), panels.length * each + 12, { align: "center" });
    }
    panels.forEach(({ title, first }, panel) => {
      write(own, title, 0, panel * each + 11, { colour: colours.ink, most: width });
      rows.forEach((row, i) => {
        const [cell, y] = [first + i, panel * each + TOP + i * step];
        const [zero, end] = [along(0), along(view.value[cell])];
        boxes[cell] = [0, y, width, step];
        write(own, names[i], room - 6, y + step / 2, { align: "right" });
        bar(own, cell, [Math.min(zero, end), y + 3, Math.abs(end - zero), step - 6]);
        if (Number.isFinite(view.high[cell]))
          line(
            pen,
            colours.ink,
            along(view.low[cell]),
            y + step / 2,
            along(view.high[cell]),
            y + step / 2,
          );
        if (cell === at) outline(own, boxes[cell]);
      });
    });
    return boxes;
  };
  return { height: panels.length * each + 26, paint };
}

/** A shade for every pair: the square root of the count; a hollow dot where the interval reaches down to zero. */
function heatLayout(own) {
  const { pen, view, width, colours, at } = own;
  const [rows, columns] = view.edges;
  const room = Math.min(Math.max(...rows.cells.map((one) => pen.measureText(one.tick).width)) + 12, width * 0.3);
  const [wide, high] = [
    (width - room - RIGHT) / columns.cells.length,
    Math.min(Math.max(480 / rows.cells.length, 4), 26),
  ];
  const most = Math.max(1, ...view.value);
  const names = shortLabels(pen, rows.cells.map((one) => one.tick), room - 8); // prettier-ignore
  const every = Math.ceil(13 / high);
  const paint = () => {
    const boxes = Array.from(view.value, (value, cell) => {
      const [row, column] = placesOf(view.edges, cell);
      const box = [room + column * wide, TOP + row * high, wide, high];
      if (view.low[cell] > 0) {
        [pen.fillStyle, pen.globalAlpha] = [colours.mark, 0.08 + 0.92 * Math.sqrt(value / most)];
        pen.fillRect(box[0], box[1], wide + 0.3, high + 0.3);
        pen.globalAlpha = 1;
      } else if (Math.min(wide, high) >= 7)
        dot(pen, colours.muted, box[0] + wide / 2, box[1] + high / 2, Math.min(wide, high) / 5);
      return box;
    });
    rows.cells.forEach((_, i) => {
      if (i % every === 0) write(own, names[i], room - 6, TOP + (i + 0.5) * high, { align: "right" });
    });
    write(own, rows.caption, 0, 9, { colour: colours.ink, most: width });
    labels(own, columns, room, wide, TOP + rows.cells.length * high);
    write(own, columns.caption, (room + width) / 2, TOP + rows.cells.length * high + 30, {
      align: "center",
      colour: colours.ink,
    });
    if (at >= 0) outline(own, boxes[at]);
    return boxes;
  };
  return { height: TOP + rows.cells.length * high + BOTTOM, paint };
}
