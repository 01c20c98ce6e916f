// Runs the built client as so many devices of a made-up server: job in, one line for every device out.
// Its coins are the keystream of AES-256 in counter mode: the same every day.
import { createCipheriv } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [client, job, out] = process.argv.slice(2);
const { Collection, memory } = await import(pathToFileURL(client));
const { id, document, devices, preview } = JSON.parse(
  readFileSync(job, "utf8"),
  (_, value) =>
    value && typeof value === "object" && "number" in value && "text" in value
      ? number(value.text)
      : value,
);

function number(text) {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}

const cipher = createCipheriv(
  "aes-256-ctr",
  Buffer.from(id, "hex"),
  Buffer.alloc(16),
);
crypto.getRandomValues = (array) => {
  new Uint8Array(array.buffer).set(
    cipher.update(Buffer.alloc(array.byteLength)),
  );
  return array;
};

const later = setTimeout;
globalThis.setTimeout = (run, wait) =>
  wait ? later(run, wait) : setImmediate(run); // 0 would be a millisecond

let sent = "";
globalThis.fetch = async (_, init) => {
  if (init.method !== "POST") return Response.json(document);
  sent += Buffer.from(init.body).toString("hex");
  return Response.json({ accepted: 1, refused: [] });
};

let kept = memory(); // of the device whose turn it is: the client itself remembers nothing of a device
const store = { update: (key, change) => kept.update(key, change) };
const own = await Collection.open(`https://example.org/v1/collections/${id}`, {
  store,
  jitter: 0,
  allowUnproven: true,
});
const lines = [];
for (const values of devices) {
  [kept, sent] = [memory(), ""];
  const outcome = preview
    ? await own.preview(values)
    : await own.report(values);
  const bytes = outcome.bytes
    ? Buffer.from(outcome.bytes).toString("hex")
    : sent;
  const { charges } = (await own.status()).account;
  lines.push({
    refused: outcome.refused ?? null,
    packed: bytes,
    charges: charges.map((one) => one.loss),
  });
}
writeFileSync(out, JSON.stringify(lines));
