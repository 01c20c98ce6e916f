/** Requests that end in time, and what the server's answers to reports mean. */

/** What a server answered; `said` is its JSON, or an empty object. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly said: Readonly<Record<string, unknown>>;
}

/** What became of a batch: to be sent again after so many milliseconds (null: the client's own wait), or done with. */
export type Verdict =
  | { readonly again: number | null }
  | { readonly refused: readonly Refused[]; readonly dropped?: string; readonly over: boolean };

/** A report that the server will not count, by its id. */
interface Refused {
  readonly id: string;
  readonly reason: string;
}

const SECOND = 1000;
const DAY = 86_400_000;

/** Returns the answer to a request, or null where none comes in time. */
export async function request(
  url: string,
  init: RequestInit,
  timeout: number,
  stop: AbortSignal,
): Promise<Answer | null> {
  const own = new AbortController();
  const abort = (): void => own.abort();
  const timer = setTimeout(abort, timeout);
  stop.addEventListener("abort", abort, { signal: own.signal });
  try {
    stop.throwIfAborted();
    const answer = await fetch(url, {
      ...init,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: own.signal,
    });
    const said: unknown = await answer.json().catch(() => stop.throwIfAborted());
    own.signal.throwIfAborted();
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), said: Object(said) };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    abort();
  }
}

/** Returns the milliseconds that a Retry-After of seconds or of a date says, a second to a day; null without one. */
function wait(header: string): number | null {
  const found = /^\d+$/.test(header) ? Number(header) * SECOND : Date.parse(header) - Date.now();
  return Number.isNaN(found) ? null : Math.min(Math.max(found, SECOND), DAY);
}

/** Returns what an answer to a batch means. */
export function verdict(answer: Answer | null): Verdict {
  if (!answer || answer.status >= 500 || [408, 429].includes(answer.status))
    return { again: wait(answer?.retryAfter ?? "") };
  const { status, said } = answer;
  if (status < 300) return { refused: Array.isArray(said["refused"]) ? said["refused"] : [], over: false };
  const current = said["current"] ? `; it is ${said["current"]} now` : "";
  return { refused: [], dropped: `${said["detail"] ?? "refused"} (${status})${current}`, over: status === 409 };
}
