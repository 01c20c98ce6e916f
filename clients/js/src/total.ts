/** Returns the sum of some numbers. */
export const total = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
