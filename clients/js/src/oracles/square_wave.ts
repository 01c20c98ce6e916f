/** `square_wave` and `piecewise`: a uniform output of the window that slides with the number, or any other one. */
import { little, width } from "../bytes.js";
import { integer } from "../fields.js";
import { type Method } from "../oracle.js";
import { must } from "../refusal.js";
import { truth } from "./krr.js";

const LARGEST_LEVELS = 2 ** 12;
const LARGEST_OUTPUTS = 2 ** 24;

export const squareWave: Method = {
  fields: "groups levels loss truth window",
  make(own, loss) {
    const levels = integer(own, "levels", 2, LARGEST_LEVELS);
    const groups = integer(own, "groups", 1, LARGEST_OUTPUTS);
    const window = integer(own, "window", 1, levels);
    const row = levels + window - 1;
    const outputs = groups * row;
    must(outputs <= LARGEST_OUTPUTS, "outputs");
    const [others, bytes] = [outputs - window, width(outputs)];
    const p = truth(own["truth"], loss, [BigInt(others), BigInt(window)]);
    return {
      sizes: [groups * levels],
      width: bytes,
      answer([value], coins) {
        const first = Math.floor(value! / levels) * row + (value! % levels);
        const near = first + coins.small(window)[0]!;
        const honest = coins.toss(p);
        const far = coins.small(others)[0]!;
        return little(honest ? near : far + (far >= first ? window : 0), bytes);
      },
    };
  },
};
