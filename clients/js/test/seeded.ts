/** Coins that are the same every day: the keystream of AES-256 in counter mode, keyed by a name. */
import { createCipheriv, createHash } from "node:crypto";
import { Coins } from "../src/coins.js";

/** Returns a source of bytes. */
export function stream(name: string): (size: number) => Buffer {
  const cipher = createCipheriv("aes-256-ctr", createHash("sha256").update(name).digest(), Buffer.alloc(16));
  return (size) => cipher.update(Buffer.alloc(size));
}

export function seeded(name: string): Coins {
  const next = stream(name);
  return new Coins((out) => new Uint8Array(out.buffer).set(next(out.byteLength)));
}
