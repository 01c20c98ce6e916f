/** `square_wave` and `piecewise`: a uniform output of the window that slides with the number, or any other one. */
import { little, width } from "../bytes.js";
import { integer } from "../fields.js";
import { type Method } from "../oracle.js";
import { must } from "../refusal.js";
import { truth } from "./krr.js";

const LARGEST_LEVELS = 2 ** 12;
const LARGEST_OUTPUTS = 2 ** 24;

/** Returns the output of a number of the window of a value (near), or of all others (far). */
type Output = (near: boolean, number: number, value: number, levels: number, window: number) => number;

/** Returns the method of a window that slides along the levels of a group, or goes `round` them. */
export const sliding = (round: 0 | 1, output: Output): Method => ({
  fields: "groups levels loss truth window",
  make(own, loss) {
    const levels = integer(own, "levels", 2 + round, LARGEST_LEVELS);
    const groups = integer(own, "groups", 1, LARGEST_OUTPUTS);
    const window = integer(own, "window", 1, levels - round);
    const outputs = groups * (round ? levels : levels + window - 1);
    must(outputs <= LARGEST_OUTPUTS, "outputs");
    const [others, bytes] = [outputs - window, width(outputs)];
    const p = truth(own["truth"], loss, [BigInt(others), BigInt(window)]);
    return {
      sizes: [groups * levels],
      width: bytes,
      answer([value], coins) {
        const near = coins.small(window)[0]!;
        const honest = coins.toss(p);
        const far = coins.small(others)[0]!;
        return little(output(honest, honest ? near : far, value!, levels, window), bytes);
      },
    };
  },
});

const squareWave = sliding(0, (near, number, value, levels, window) => {
  const first = Math.floor(value / levels) * (levels + window - 1) + (value % levels);
  return number + (near ? first : number >= first ? window : 0);
});

export const METHODS = { piecewise: squareWave, square_wave: squareWave };
