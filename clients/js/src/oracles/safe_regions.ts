/** `safe_regions`: a region and an epsilon in clear, and one perturbed sign of the cell within that region. */
import { fields, integer, integers, list } from "../fields.js";
import { above, epsilon } from "../fraction.js";
import { type Method } from "../oracle.js";
import { must } from "../refusal.js";
import { total } from "../total.js";
import { largest, projection, sign } from "./pcep.js";

const HIGHEST = 5;

const safeRegions: Method = {
  fields: "grid loss region_levels epsilons rows seed probabilities",
  make(own, loss) {
    const side = integer(fields(own["grid"], "side"), "side", 2, 2 ** HIGHEST);
    const [height, size] = [Math.log2(side), side * side];
    must(!(side & (side - 1)), "side");
    const levels = integers(own, "region_levels", 0, height - 1);
    const losses = list(own, "epsilons").map(epsilon);
    must(!levels.some((level, i) => level <= levels[i - 1]!), "region_levels");
    must(!losses.some((one) => above(one, loss)), "epsilons");
    const nodes = levels.map((level) => 4 ** level);
    const made = projection(own, size, total(nodes), losses);
    must(made.rows >= size / nodes[0]!, "rows");
    return {
      sizes: [size],
      width: total(made.widths),
      loss: () => largest(losses),
      ...(levels.join() === "0" ? {} : { clear: "the region of the map" }),
      answer([cell], coins) {
        const [place, choice] = [coins.below(levels.length), coins.below(losses.length)];
        const region = total(nodes.slice(0, place)) + (cell! >> (2 * (height - levels[place]!)));
        return sign(made, cell!, region, choice, coins);
      },
    };
  },
};

export const METHODS = { safe_regions: safeRegions };
