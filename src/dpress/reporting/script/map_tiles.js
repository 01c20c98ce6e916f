/** The tiles of a map: which of them a place lies in, and how many people that holds. */
import { interval, number, unitFor } from "./rounding.js";
import { unpacked } from "./unpacked.js";

/** Returns what says of a place, in the columns' units, how many there are in its tile; of the page's list of tiles. */
export function tileReader({ labels, measured }, noun) {
  const [left, right, bottom, top] = labels.map(({ names, at }) => at.map((place) => Number(names[place])));
  const [value, low, high, error] = ["value", "low", "high", "standard_error"].map((name) => unpacked(measured[name]));
  const columns = [labels[0], labels[2]].map(({ name }) => name.replace(/, from$/, ""));
  return ([across, up]) => {
    const tile = left.findIndex((from, i) => from <= across && across < right[i] && bottom[i] <= up && up < top[i]);
    if (tile < 0) return "";
    const unit = Math.max(1, unitFor(error[tile]));
    const ends = interval(low[tile], high[tile], unit);
    const hidden = low[tile] > 0 ? "" : "; cannot be told from nobody";
    const where = [left, right, bottom, top].map((side) => String(side[tile]).replace("-", "\u2212"));
    const counted = `${number(value[tile], unit)} ${noun} (${ends})${hidden}`;
    return `${columns[0]} ${where[0]} to ${where[1]}, ${columns[1]} ${where[2]} to ${where[3]}: ${counted}`;
  };
}
