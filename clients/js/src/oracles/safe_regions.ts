/** `safe_regions`: a region and an epsilon in clear, and one perturbed sign of the cell within that region. */
import { fields, integer, integers, list } from "../fields.js";
import { above, epsilon } from "../fraction.js";
import { type Method, stated } from "../oracle.js";
import { refuse } from "../refusal.js";
import { largest, projection, sign } from "./pcep.js";

const HIGHEST = 5;

export const safeRegions: Method = {
  fields: "grid loss region_levels epsilons rows seed probabilities",
  make(own) {
    const side = integer(fields(own["grid"], "side"), "side", 2, 2 ** HIGHEST);
    const [height, size, loss] = [Math.log2(side), side * side, stated(own)];
    if (side & (side - 1)) refuse("side: expected a power of two");
    const levels = integers(own, "region_levels", 0, height - 1);
    const losses = list(own, "epsilons").map(epsilon);
    if (levels.some((level, i) => i > 0 && level <= levels[i - 1]!)) refuse("region_levels: expected rising levels");
    if (losses.some((one) => above(one, loss()))) refuse("epsilons: expected none above the loss");
    const starts = levels.map((_, i) => levels.slice(0, i).reduce((sum, level) => sum + 4 ** level, 0));
    const regions = levels.reduce((sum, level) => sum + 4 ** level, 0);
    const made = projection(own, size, regions, losses);
    if (made.rows < size / 4 ** levels[0]!) refuse("rows: expected those of the largest region");
    return {
      sizes: [size],
      width: made.widths.reduce((a, b) => a + b),
      loss: () => largest(losses),
      ...(levels.join() === "0" ? {} : { clear: "the region of the map that holds the place" }),
      answer([cell], coins) {
        const level = coins.below(levels.length);
        const choice = coins.below(losses.length);
        const region = starts[level]! + (cell! >> (2 * (height - levels[level]!)));
        return sign(made, cell!, region, choice, coins);
      },
    };
  },
};
