/** Why something was refused, in one line and without a value. It ends in an outcome, never in the app's own code. */
export class Refusal extends Error {}

/** Refuses. */
export function refuse(reason: string): never {
  throw new Refusal(reason);
}

/** Refuses what is asked where a field is not as the reference defines it. */
export function must(sound: unknown, field: string): asserts sound {
  if (!sound) refuse(`what is asked is not sound: ${field}`);
}
