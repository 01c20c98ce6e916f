/** All that a device keeps: its secret, its account, what is not sent yet, what it answered. */
import type { Line } from "./account.js";
import { type Bytes, hex, unhex } from "./bytes.js";
import type { Store } from "./store.js";

/** A packed report that waits: a retry sends the very same bytes, so that it is counted once. */
export interface Waiting {
  readonly url: string;
  readonly id: string;
  readonly packed: string;
}

export interface State {
  readonly secret: string;
  readonly optedOut: boolean;
  readonly account: readonly Line[];
  readonly queue: readonly Waiting[];
  /** The rounds that were answered, by collection. */
  readonly answered: Readonly<Record<string, readonly number[]>>;
}

const KEY = "dpress";
const SECRET_BYTES = 32;

/** Changes the state, which is made with a new secret if there is none. */
export function changed(store: Store, change: (state: State) => State = (state) => state): Promise<State> {
  const secret = hex(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  const fresh: State = { secret, optedOut: false, account: [], queue: [], answered: {} };
  return store.update<State>(KEY, (old) => change(old ?? fresh));
}

export const secretOf = (state: State): Bytes => unhex(state.secret);
