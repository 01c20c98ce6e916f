/** An app on a server uses the client, too: Node's own fetch and crypto, a real connection, the memory store. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Collection, memory } from "../src/index.js";
import { askOf, oracleOf } from "./asks.js";

const received: { type: string | undefined; body: Buffer }[] = [];
const busy = [true];
let [server, url]: [Server, string] = [undefined!, ""];

beforeAll(async () => {
  const [ask, id] = await askOf({ ...oracleOf("oue", 9), size: 7 }, 1);
  const document = { ask, round: 0, rounds: 1, open: true, until: null, largest_batch: 10, next: null };
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method === "GET")
      return void response.setHeader("content-type", "application/json").end(JSON.stringify(document));
    if (busy.pop()) return void response.writeHead(503, { "retry-after": "0" }).end();
    received.push({ type: request.headers["content-type"], body: Buffer.concat(parts) });
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ accepted: 1, duplicates: 0, refused: [] }));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/collections/${id}`;
});

afterAll(() => new Promise((done) => server.close(done)));

it("reports over a connection, again after a 503, and leaves nothing behind", async () => {
  const own = await Collection.open(url, { store: memory(), jitter: 0, limit: 1 });
  expect(await own.report({ region: "North" })).toEqual({ sent: false, queued: 1, refused: null });
  for (let i = 0; received.length === 0 && i < 1000; i++) await new Promise((later) => setTimeout(later, 10));
  await own.flush();
  expect(received).toHaveLength(1);
  expect(received[0]!.type).toBe("application/vnd.dpress.reports");
  expect(received[0]!.body.length).toBe(43);
  expect(await own.status()).toMatchObject({ queued: 0, answered: 1, account: { spent: 1 } });
  expect((await own.report({ region: "North" })).refused).toBe("answered already");
});
