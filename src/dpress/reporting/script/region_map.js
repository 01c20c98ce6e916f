/** The regions in one on a map of points: sized by count, shaded by a share; read by pointer and by keys. */
import { drawn, element } from "./elements.js";
import { percent, percentBetween } from "./region_words.js";
import { answered, number } from "./rounding.js";

const LARGEST = 26; // pixels, radius of the largest point
const SMALLEST = 3;
const COVERED = 0.2; // of the map, at most, by all points
const EDGE = 44;
const SHADES = 5; // of the legend
const NAMED = 12; // points that have their name beside them

/** Returns the map; `choose` is called with the region of a point. */
export function regionMap(tree, counts, shade, choose) {
  const [legend, pointed] = [
    element("div", { class: "legend" }),
    element("p", { class: "pointed note", role: "status" }),
  ];
  const svg = drawn("svg", { class: "places", role: "img", tabindex: "0" });
  const node = element("figure", {}, svg, legend, pointed);
  let [points, at, region] = [[], -1, tree.root];

  const point = (to) => {
    points[at]?.mark.classList.remove("pointed");
    at = to;
    const spot = points[at];
    if (!spot) return;
    spot.mark.classList.add("pointed");
    pointed.textContent = `${tree.title(spot.region)}: ${answered(spot.total)}${shareOf(spot)}.`;
  };
  const shareOf = ({ share }) =>
    share
      ? `; ${shade.words}: ${percent(share.value, share.standardError)}, 95 % interval ${percentBetween(share.interval, share.standardError)}`
      : "";

  const draw = () => {
    const width = Math.max(280, Math.min(node.clientWidth || 720, 720));
    const { across, up, height } = projection(points.map((spot) => spot.place), width); // prettier-ignore
    const most = Math.max(...points.map((spot) => spot.total.value), 1);
    const area = points.reduce((sum, spot) => sum + (Math.PI * Math.max(spot.total.value, 0)) / most, 0);
    const largest = Math.min(LARGEST, Math.sqrt((COVERED * width * height) / Math.max(area, 1)));
    const scale = scaleOf(points.map((spot) => spot.share?.value));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const order = [...points.keys()].sort((first, second) => points[second].total.value - points[first].total.value);
    for (const i of order) {
      const spot = points[i];
      const radius = Math.max(largest * Math.sqrt(Math.max(spot.total.value, 0) / most), SMALLEST);
      spot.at = [across(spot.place), up(spot.place), radius];
      spot.mark = circle(spot, scale);
      spot.mark.addEventListener("pointerenter", () => point(i));
      spot.mark.addEventListener("click", () => choose(spot.region));
    }
    svg.replaceChildren(...order.map((i) => points[i].mark), ...names(tree, order.map((i) => points[i]), width)); // prettier-ignore
    legend.replaceChildren(...legendOf(tree, points[order[0]], scale, shade.words));
  };

  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) point((at + step + points.length) % points.length);
    else if (event.key === "Enter" && points[at]) choose(points[at].region);
    else return;
    event.preventDefault();
  });
  svg.addEventListener("focus", () => at < 0 && point(0));
  new ResizeObserver(() => points.length && Number(svg.getAttribute("viewBox").split(" ")[2]) !== node.clientWidth && draw()).observe(node); // prettier-ignore

  return {
    node,
    show(to) {
      region = to;
      const inside = tree.children(region).filter(tree.place);
      node.hidden = inside.length < 2;
      [points, at] = [[], -1];
      if (node.hidden) return;
      const view = shade.at(region.level + 1);
      points = inside.map((spot) => ({
        region: spot,
        place: tree.place(spot),
        total: counts.total(spot),
        share: view?.shares(spot.node)[0],
      }));
      const name = tree.levels[region.level + 1].name;
      svg.setAttribute("aria-label", `Map of the regions in ${tree.name(region)} by ${name}; the arrow keys go through them, Enter chooses one`); // prettier-ignore
      pointed.textContent = "Point at a region, or go through them by the arrow keys; a click or Enter chooses it.";
      draw();
    },
  };
}

/** Returns a circle: hollow where its share is not finite, dashed where that is too uncertain for its shade. */
function circle({ at: [cx, cy, r], share }, scale) {
  const mark = drawn("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: r.toFixed(1) });
  const finite = share && Number.isFinite(share.value);
  mark.style.fill = finite ? scale.colour(share.value) : share ? "none" : "var(--mark)";
  const unsure = scale.high > scale.low && share?.interval[1] - share?.interval[0] > (scale.high - scale.low) / 2;
  if (share && (!finite || unsure)) mark.classList.add("unsure");
  return mark;
}

/** Returns a scale of shades between the lowest and the highest share. */
function scaleOf(values) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 0];
  const strength = (value) => (high > low ? (value - low) / (high - low) : 0.5);
  return { low, high, colour: (value) => tint(strength(value)) };
}

const tint = (strength) => `color-mix(in srgb, var(--mark) ${Math.round(8 + 92 * strength)}%, var(--paper))`;

/** Returns where longitudes and latitudes are drawn: to scale at their middle, and across the date line. */
function projection(places, width) {
  const longitudes = places.map(([east]) => east).sort((first, second) => first - second);
  const gaps = longitudes.map((east, i) => (i ? east - longitudes[i - 1] : east + 360 - longitudes.at(-1)));
  const west = longitudes[gaps.indexOf(Math.max(...gaps))];
  const x = ([east]) => (east < west ? east + 360 : east);
  const latitudes = places.map(([, north]) => north);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const narrow = Math.max(Math.cos((((south + north) / 2) * Math.PI) / 180), 0.1);
  const spans = [Math.max(...places.map((place) => x(place) - west)) * narrow, north - south];
  const room = width - 2 * EDGE;
  const degree = Math.min(room / Math.max(spans[0], 1e-6), (0.6 * room) / Math.max(spans[1], 1e-6));
  const left = (width - degree * spans[0]) / 2;
  return {
    across: (place) => left + (x(place) - west) * narrow * degree,
    up: ([, latitude]) => EDGE + (north - latitude) * degree,
    height: Math.round(degree * spans[1] + 2 * EDGE),
  };
}

/** Returns the names of the largest points, where they lie on no other name. */
function names(tree, points, width) {
  const boxes = [];
  const labels = [];
  for (const {
    region,
    at: [x, y, r],
  } of points.slice(0, NAMED)) {
    const text = tree.name(region);
    const size = 6.2 * text.length;
    const left = Math.min(Math.max(x - size / 2, 2), width - size - 2);
    const box = [left, y - r - 15, left + size, y - r - 2];
    if (box[1] < 0 || boxes.some((other) => other[0] < box[2] && box[0] < other[2] && other[1] < box[3] && box[1] < other[3])) continue; // prettier-ignore
    boxes.push(box);
    labels.push(drawn("text", { x: left.toFixed(1), y: (y - r - 5).toFixed(1), "aria-hidden": "true" }, text));
  }
  return labels;
}

function legendOf(tree, largest, scale, words) {
  const size = element(
    "span",
    {},
    `Size: the count; the largest is ${tree.name(largest.region)}, ${number(largest.total.value)}.`,
  );
  if (!largest.share) return [size];
  const shades = Array.from({ length: SHADES }, (_, i) => {
    const value = scale.low + ((scale.high - scale.low) * i) / (SHADES - 1);
    const box = drawn("rect", { width: 18, height: 12, stroke: "var(--soft)" });
    box.style.fill = scale.colour(value);
    const spread = (scale.high - scale.low) / SHADES;
    return element(
      "span",
      {},
      drawn("svg", { width: 18, height: 12, "aria-hidden": "true" }, box),
      percent(value, spread),
    );
  });
  const unsure = "Dashed: so uncertain that the shade says little; hollow: not known.";
  return [size, element("span", {}, `Shade: the share of ${words}.`), ...shades, element("span", {}, unsure)];
}
