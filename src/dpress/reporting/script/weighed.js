/** Which attributes a query is about. */

/** Returns the axes whose weights are not all one. */
export const weighed = (weights) => weights.flatMap((own, axis) => (own.every((one) => one === 1) ? [] : [axis]));
