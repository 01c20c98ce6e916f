/** A collection's server as a fake `fetch`: it keeps what was sent, and answers as it is told. */
import { vi } from "vitest";

export interface Sent {
  readonly url: string;
  readonly body: string;
}

export interface Server {
  readonly url: string;
  readonly sent: Sent[];
  readonly asked: string[];
  /** Answers to batches, the first one first; accepted when there are none. An Error is a network that is down. */
  readonly answers: (Response | Error | (() => Promise<Response>))[];
  document: Record<string, unknown> | Error;
}

export const problem = (status: number, more: object = {}, headers: Record<string, string> = {}): Response =>
  Response.json(
    { detail: "no", ...more },
    { status, headers: { "content-type": "application/problem+json", ...headers } },
  );

/** Puts the server in the place of `fetch`. */
export function serve(ask: object, id: string, more: object = {}): Server {
  const document = {
    ask,
    round: 0,
    rounds: 1,
    open: true,
    until: null,
    largest_batch: 2,
    next: null,
    title: "t",
    promise: "p",
  };
  const own: Server = {
    url: `https://example.org/v1/collections/${id}`,
    sent: [],
    asked: [],
    answers: [],
    document: { ...document, ...more },
  };
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (init.method !== "POST") {
      own.asked.push(url);
      if (own.document instanceof Error) throw own.document;
      return Response.json(own.document);
    }
    own.sent.push({ url, body: Buffer.from(init.body as Uint8Array).toString("hex") });
    const next = own.answers.shift() ?? Response.json({ accepted: 1, duplicates: 0, refused: [] });
    if (next instanceof Error) throw next;
    return typeof next === "function" ? next() : next;
  });
  return own;
}
