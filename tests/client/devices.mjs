// Runs the built client as so many devices of a made-up server: job in, what every device did out.
// Its coins, and its devices' secrets, are two keystreams of AES-256 in counter mode: the same every day.
import { createCipheriv } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [client, job, out] = process.argv.slice(2);
const { Collection, memory } = await import(pathToFileURL(client));
const number = (text) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text));
const { id, document, devices, preview } = JSON.parse(readFileSync(job, "utf8"), (_, value) =>
  value && typeof value === "object" && "number" in value && "text" in value ? number(value.text) : value,
);

const [coins, secrets] = [0, 255].map((byte) =>
  createCipheriv("aes-256-ctr", Buffer.from(id, "hex"), Buffer.alloc(16, byte)),
);
crypto.getRandomValues = (array) => {
  const drawn = array instanceof Uint32Array ? coins : secrets;
  new Uint8Array(array.buffer).set(drawn.update(Buffer.alloc(array.byteLength)));
  return array;
};

const later = setTimeout;
globalThis.setTimeout = (run, wait) => (wait ? later(run, wait) : setImmediate(run)); // 0 would be a millisecond

let sent = "";
globalThis.fetch = async (_, init) => {
  if (init.method !== "POST") return Response.json(document);
  sent += Buffer.from(init.body).toString("hex");
  return Response.json({ accepted: 1, duplicates: 0, refused: [] });
};

let kept = memory(); // of the device whose turn it is: the client itself remembers nothing of a device
const store = { update: (key, change) => kept.update(key, change) };
const own = await Collection.open(`https://example.org/v1/collections/${id}`, { store, jitter: 0, allowUnproven: true });
const found = [];
for (const values of devices) {
  [kept, sent] = [memory(), ""];
  const outcome = preview ? await own.preview(values) : await own.report(values);
  const packed = outcome.bytes ? Buffer.from(outcome.bytes).toString("hex") : sent;
  const { account, secret } = await store.update("dpress", (state) => state ?? { account: [], secret: "" });
  found.push({ refused: outcome.refused ?? null, packed, charges: account.map((one) => one.loss), secret });
}
writeFileSync(out, JSON.stringify(found));
