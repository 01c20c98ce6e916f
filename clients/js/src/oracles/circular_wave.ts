/** `circular_wave`: a uniform output of the window that slides with the number round a circle, or any other one. */
import { sliding } from "./square_wave.js";

const circularWave = sliding(1, (near, number, value, levels, window) => {
  const level = value % levels;
  const first = value - level;
  const rest = levels - window;
  if (near) return first + ((level + number) % levels);
  if (number < rest) return first + ((level + window + number) % levels);
  return number - rest + (number - rest >= first ? levels : 0);
});

export const METHODS = { circular_wave: circularWave };
