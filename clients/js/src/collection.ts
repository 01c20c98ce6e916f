/** A collection as an app uses it: report, preview, status, opt out. Nothing here throws into the app. */
import { type Account, charged, limitOf, shown } from "./account.js";
import { type Ask, readAsk } from "./ask.js";
import { hex, joined, unhex } from "./bytes.js";
import { Coins } from "./coins.js";
import type { Fraction } from "./fraction.js";
import { type Answer, type Verdict, request, verdict } from "./http.js";
import { type Offer, readOffer } from "./offer.js";
import { type Options, checkOptions } from "./options.js";
import { type Preview, previewOf } from "./preview.js";
import { Refusal, refuse } from "./refusal.js";
import { type Report, answer } from "./report.js";
import { type State, type Waiting, changed, secretOf } from "./state.js";
import { type Store, indexed } from "./store.js";

export interface Outcome {
  /** Whether the server has counted this report, as far as this page knows. */
  readonly sent: boolean;
  /** How many reports wait to be sent. */
  readonly queued: number;
  /** Why there is no such report, or null. */
  readonly refused: string | null;
}

export interface Status {
  readonly open: boolean;
  readonly optedOut: boolean;
  readonly queued: number;
  /** How many of the collection's rounds this device has answered. */
  readonly answered: number;
  readonly rounds: number;
  /** The id of the following round, once there is one. */
  readonly next: string | null;
  /** Why nothing is reported here, or null. */
  readonly refused: string | null;
  readonly account: Account | null;
}

export type Values = Readonly<Record<string, unknown>>;

const ADDRESS = /^https?:\/\/[^?#]+\/v1\/collections\/([0-9a-f]{64})$/;
const HEADERS = { "content-type": "application/vnd.dpress.reports" };
const SECOND = 1000;
const LONGEST_WAIT = 3600 * SECOND;
const OUT = "opted out";
const NOTHING = "the collection cannot be loaded";
const DONE = "answered already";

export class Collection {
  readonly #url: string;
  readonly #options: Options;
  readonly #store: Store;
  readonly #coins = new Coins();
  readonly #stop = new AbortController();
  readonly #rounds: number;
  readonly #wrong: string | null = null;
  readonly #verdicts = new Map<string, string | null>();
  #asked: { ask: Ask; offer: Offer; limit: Fraction | undefined; key: string } | undefined;
  #problem: string | null = null;
  #largest = 1;
  #failures = 0;
  #pause = 0;
  #sending: Promise<void> = Promise.resolve();
  readonly #again = (): void => {
    this.#pause = 0;
    void this.flush();
  };

  private constructor(url: string, options: Options) {
    this.#url = url;
    try {
      checkOptions(options);
      this.#options = options;
    } catch (error) {
      this.#options = {};
      this.#wrong = reason(error);
      console.error(`dpress: ${this.#wrong}`); // a fault of the page, for its author
    }
    this.#store = typeof options.store?.update === "function" ? options.store : indexed(); // an opt-out is kept in any case
    this.#rounds = this.#options.rounds ?? 1;
    globalThis.addEventListener?.("online", this.#again);
  }

  /** Opens a collection, and sends what still waits. What is wrong stands in the status and in every outcome. */
  static async open(url: string, options: Options = {}): Promise<Collection> {
    const own = new Collection(String(url), Object(options));
    await own.#load();
    void own.flush();
    return own;
  }

  /** Reports values by attribute, once a round: charged, queued, and sent if the server answers. */
  async report(values: Values): Promise<Outcome> {
    let [id, refused]: [string, string | null] = ["", null];
    try {
      const report = await this.#made(values);
      await this.#keep(report);
      id = report.id;
      await this.flush();
    } catch (error) {
      refused = reason(error);
    }
    const queue = await this.#queue().catch(() => null);
    const waits = queue?.some((one) => one.id === id);
    const verdict = this.#verdicts.get(id); // null if it was counted
    refused ??= verdict ?? (waits ? null : this.#problem);
    return { sent: verdict === null, queued: queue?.length ?? 0, refused };
  }

  /** Returns a report as it would be sent, and what it reveals; nothing is sent, charged or kept. */
  async preview(values: Values): Promise<Preview | { readonly refused: string }> {
    try {
      const report = await this.#made(values);
      const { ask } = this.#asked!;
      return previewOf(report, ask.attributes, ask.rounds ? null : this.#rounds, this.#options);
    } catch (error) {
      return { refused: reason(error) };
    }
  }

  /** Sends what waits, as far as the server answers. */
  flush(): Promise<void> {
    return (this.#sending = this.#sending.then(() => this.#send()).catch(() => undefined));
  }

  /** Ends all reporting from this device, for good, and clears the queue; false if that could not be kept. */
  async optOut(): Promise<boolean> {
    this.#stop.abort();
    this.#problem = OUT;
    const kept = changed(this.#store, (state) => ({ ...state, optedOut: true, queue: [] }));
    return kept.then(
      () => true,
      () => false,
    );
  }

  /** Says where things stand. */
  async status(): Promise<Status> {
    const state = await changed(this.#store).catch(() => null);
    const { offer, key } = this.#asked ?? {};
    const refused = this.#closed(state);
    return {
      open: !refused,
      optedOut: refused === OUT,
      queued: state?.queue.filter((one) => one.url === this.#url).length ?? 0,
      answered: state?.answered[key ?? ""]?.length ?? 0,
      rounds: offer?.rounds ?? 0,
      next: offer?.next ?? null,
      refused,
      account: state && shown(state.account, this.#options.limit),
    };
  }

  async #queue(): Promise<readonly Waiting[]> {
    return (await changed(this.#store)).queue.filter((one) => one.url === this.#url);
  }

  /** Returns why nothing is reported, or null; a second report in a round would count one device twice. */
  #closed(state: State | null): string | null {
    const { offer, key } = this.#asked ?? {};
    const over = offer && (!offer.open || Date.parse(offer.until ?? "") <= Date.now());
    const answered = state?.answered[key!] ?? [];
    const done = answered.includes(offer?.round ?? 0) || !(answered.length < this.#rounds) ? DONE : null;
    return state?.optedOut ? OUT : (this.#problem ?? (over ? "the collection is closed" : offer ? done : NOTHING));
  }

  async #load(): Promise<void> {
    try {
      if (this.#wrong) refuse(this.#wrong);
      const id = ADDRESS.exec(this.#url)?.[1] ?? refuse("url: expected /v1/collections/ and an id");
      const limit = limitOf(this.#options.limit);
      if ((await changed(this.#store)).optedOut) refuse(OUT);
      if (!crypto.subtle) refuse("needs https");
      const said = await this.#document(id);
      const [ask, offer] = [await readAsk(said["ask"], id), readOffer(said)];
      if (ask.rounds && ask.rounds.number !== offer.round) refuse("round: not that of the ask");
      if (!this.#options.allowUnproven && ask.types.some((type) => type.parts.some((part) => part.oracle.clear)))
        refuse("unproven: see allowUnproven");
      this.#asked = { ask, offer, limit, key: hex(ask.collection) };
      this.#largest = offer.largestBatch;
      this.#problem = null;
    } catch (error) {
      this.#problem = reason(error);
    }
  }

  /** Returns the collection's document: the server's, or the last one it gave where it does not answer. */
  async #document(id: string): Promise<Values> {
    const answer = await this.#request("");
    const found = answer && answer.status < 300;
    if (answer && !found && answer.status < 500) refuse(`the server answered ${answer.status}`);
    const kept = await this.#store.update<Values | null>(`dpress ${id}`, (old) =>
      found ? answer.said : (old ?? null),
    );
    return kept ?? refuse(NOTHING);
  }

  /** Returns a report that is neither charged nor kept. */
  async #made(values: Values): Promise<Report> {
    if (this.#wrong) refuse(this.#wrong);
    if (!this.#asked) await this.#load();
    const state = await changed(this.#store);
    const refused = this.#closed(state);
    if (refused) refuse(refused);
    const { ask, offer } = this.#asked!;
    const codes = ask.attributes.flatMap((one) => one.codes(values[one.name]));
    return answer(ask, offer.round, codes, secretOf(state), this.#coins);
  }

  /** Charges a report and queues it, in one change: before it is kept nothing was sent. */
  async #keep({ id, packed, charges }: Report): Promise<void> {
    const { offer, limit, key } = this.#asked!;
    await changed(this.#store, (state) => {
      const refused = this.#closed(state);
      if (refused) refuse(refused);
      return {
        ...state,
        account: charged(state.account, key, charges, limit),
        queue: [...state.queue, { url: this.#url, id, packed: hex(packed) }],
        answered: { ...state.answered, [key]: [...(state.answered[key] ?? []), offer.round] },
      };
    });
  }

  #request(path: string, init: RequestInit = {}): Promise<Answer | null> {
    return request(this.#url + path, init, this.#options.timeout ?? 30 * SECOND, this.#stop.signal);
  }

  async #send(): Promise<void> {
    if (Date.now() < this.#pause || !(await this.#queue()).length) return;
    await new Promise((done) => setTimeout(done, this.#coins.below((this.#options.jitter ?? 2 * SECOND) + 1)));
    for (;;) {
      const some = (await this.#queue()).slice(0, this.#largest);
      if (!some.length) return;
      const body = joined(...some.map((one) => unhex(one.packed)));
      const answer = await this.#request("/reports", { method: "POST", headers: HEADERS, body });
      if (answer?.status === 413 && some.length > 1) this.#largest = some.length >> 1;
      else if (!(await this.#settled(some, verdict(answer)))) return;
    }
  }

  /** Takes what is done with off the queue; false where the batch must be sent again later. */
  async #settled(some: readonly Waiting[], found: Verdict): Promise<boolean> {
    if ("again" in found) {
      this.#later(found.again);
      return false;
    }
    this.#failures = 0;
    if (found.over) this.#problem = found.dropped!;
    const done = new Set(some.map((one) => one.id));
    for (const id of done)
      this.#verdicts.set(id, found.dropped ?? found.refused.find((one) => one.id === id)?.reason ?? null);
    await changed(this.#store, (state) => ({ ...state, queue: state.queue.filter((one) => !done.has(one.id)) }));
    return true;
  }

  /** Sends again after a wait: what the server says, else twice as long every time, give or take a half. */
  #later(said: number | null): void {
    const own = Math.min(SECOND * 2 ** this.#failures++, LONGEST_WAIT);
    const wait = said ?? own / 2 + this.#coins.below(own);
    this.#pause = Date.now() + wait;
    const timer: unknown = setTimeout(this.#again, wait);
    (timer as { unref?(): void }).unref?.(); // a process of Node may end
  }
}

const reason = (error: unknown): string =>
  error instanceof Refusal ? error.message : `failed: ${(error as Error | null)?.name}`;
