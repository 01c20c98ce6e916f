/** `circular_wave`: a uniform output of the window that slides with the number round a circle, or any other one. */
import { little, width } from "../bytes.js";
import { integer } from "../fields.js";
import { type Method } from "../oracle.js";
import { must } from "../refusal.js";
import { truth } from "./krr.js";

const LARGEST_LEVELS = 2 ** 12;
const LARGEST_OUTPUTS = 2 ** 24;

export const circularWave: Method = {
  fields: "groups levels loss truth window",
  make(own, loss) {
    const levels = integer(own, "levels", 3, LARGEST_LEVELS);
    const groups = integer(own, "groups", 1, LARGEST_OUTPUTS);
    const window = integer(own, "window", 1, levels - 1);
    const outputs = groups * levels;
    must(outputs <= LARGEST_OUTPUTS, "outputs");
    const [others, bytes] = [outputs - window, width(outputs)];
    const p = truth(own["truth"], loss, [BigInt(others), BigInt(window)]);
    return {
      sizes: [outputs],
      width: bytes,
      answer([value], coins) {
        const level = value! % levels;
        const first = value! - level;
        const near = first + ((level + coins.small(window)[0]!) % levels);
        const honest = coins.toss(p);
        const far = coins.small(others)[0]!;
        if (honest) return little(near, bytes);
        const rest = levels - window;
        if (far < rest) return little(first + ((level + window + far) % levels), bytes);
        const away = far - rest;
        return little(away + (away >= first ? levels : 0), bytes);
      },
    };
  },
};
