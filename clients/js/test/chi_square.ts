/** Pearson's chi-square of counts against exact chances, with a bound that is exceeded by chance once in a million. */

export const FALSE_ALARM = 1e-6;
const FIT = 1e-9; // of a sum of chances

/** Says whether the counts fit the chances; the tail of chi-square is bounded after Laurent and Massart 2000. */
export function fits(counts: ReadonlyMap<string, number>, chances: ReadonlyMap<string, number>): boolean {
  const total = [...counts.values()].reduce((a, b) => a + b);
  const sum = [...chances.values()].reduce((a, b) => a + b);
  if (Math.abs(sum - 1) > FIT) throw new Error(`the chances add up to ${sum}`);
  if ([...counts.keys()].some((key) => !chances.get(key))) return false;
  const statistic = [...chances].reduce((found, [key, chance]) => {
    const expected = total * chance;
    return found + (chance && ((counts.get(key) ?? 0) - expected) ** 2 / expected);
  }, 0);
  const [freedom, t] = [chances.size - 1, -Math.log(FALSE_ALARM)];
  return statistic <= freedom + 2 * Math.sqrt(freedom * t) + 2 * t;
}
