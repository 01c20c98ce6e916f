/** Tiles within which people are taken as evenly spread: which queries cut one, and what that leaves open. */
import { weighed } from "./weighed.js";

/** Returns the first cells of an attribute's tiles, for queries about so many attributes. */
export const startsOf = (tiles, axis, attributes) => (attributes > 1 ? tiles.together : tiles.alone)[axis];

/** Returns the largest box of whole tiles that a query holds and the smallest that holds it; null if it cuts none. */
export function cutTiles({ tiles }, weights) {
  const asked = tiles ? weighed(weights) : [];
  const [inner, outer] = [weights, weights].map((own) => own.map((one) => one.slice()));
  for (const axis of asked) {
    const starts = startsOf(tiles, axis, asked.length);
    starts.forEach((first, i) => {
      const own = weights[axis].subarray(first, starts[i + 1]);
      inner[axis].fill(
        own.reduce((one, other) => Math.min(one, other)),
        first,
        starts[i + 1],
      );
      outer[axis].fill(
        own.reduce((one, other) => Math.max(one, other)),
        first,
        starts[i + 1],
      );
    });
  }
  return asked.some((axis) => inner[axis].some((one, i) => one !== outer[axis][i])) ? [inner, outer] : null;
}

/** Returns what a count that cuts tiles is at least and at most, as counts of whole ones, with a note; else null. */
export function leftOpen(answers, weights) {
  const { tiles, users } = answers;
  const found = cutTiles(answers, weights);
  if (!found) return null;
  const count = (own) => answers.form(own);
  const [least, most] = found.map((own) => [count(own)]);
  const asked = weighed(weights);
  if (asked.length === 2) {
    const alone = asked.map((axis) =>
      weights.map((own, i) => (i === axis ? own : new Float64Array(own.length).fill(1))),
    );
    const ends = alone.map((own) => (cutTiles(answers, own) ?? [own, own]).map(count));
    const [[first, spread], [second, other]] = ends.map((own) => own[0]);
    least.push([first + second - users, (Math.sqrt(spread) + Math.sqrt(other)) ** 2]);
    most.push(...ends.map((own) => own[1]));
  }
  const [low, high] = [Math.max(...least.map((own) => own[0])), Math.min(...most.map((own) => own[0]))];
  const [from, to] = [low, Math.max(low, high)].map((one) => Math.round(one).toLocaleString("en"));
  const critical = most.length > 1 ? tiles.critical : answers.critical;
  return { least, most, critical, note: `${tiles.note} They are ${from} and ${to}.` };
}
