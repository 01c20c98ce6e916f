/** Why something was refused, in one line and without a value. It ends in an outcome, never in the app's own code. */
export class Refusal extends Error {}

/** Refuses. */
export function refuse(reason: string): never {
  throw new Refusal(reason);
}
