/** Answers dpress collections on the device itself. */
export { Collection, type Outcome, type Status, type Values } from "./collection.js";
export type { Options } from "./options.js";
export type { Account, Line } from "./account.js";
export type { Preview } from "./preview.js";
export { type Store, indexed, local, memory } from "./store.js";
