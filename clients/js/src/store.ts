/** Where a device keeps what it must not forget. A store changes one entry at a time, whole or not at all. */
import { refuse } from "./refusal.js";

export interface Store {
  /** Replaces an entry by what `change` makes of it, and returns that. If `change` throws, nothing is changed. */
  update<T>(key: string, change: (old: T | undefined) => T): Promise<T>;
}

/** Keeps everything in memory: for a process that lives long, and for tests. */
export function memory(): Store {
  const kept = new Map<string, unknown>();
  return {
    async update<T>(key: string, change: (old: T | undefined) => T): Promise<T> {
      const made = change(kept.get(key) as T | undefined);
      kept.set(key, structuredClone(made));
      return made;
    },
  };
}

/** Keeps everything in `localStorage`. Two tabs that write at the same moment may lose a write: prefer `indexed`. */
export function local(): Store {
  return {
    async update<T>(key: string, change: (old: T | undefined) => T): Promise<T> {
      const made = change(JSON.parse(localStorage.getItem(key) ?? "null") ?? undefined);
      localStorage.setItem(key, JSON.stringify(made));
      return made;
    },
  };
}

const NAME = "dpress";

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (!globalThis.indexedDB) refuse("no IndexedDB here: give a store");
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(NAME);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Keeps everything in IndexedDB, the default: what one tab changes, every other one sees. */
export function indexed(): Store {
  return {
    async update<T>(key: string, change: (old: T | undefined) => T): Promise<T> {
      const database = await opened();
      try {
        return await new Promise<T>((resolve, reject) => {
          const transaction = database.transaction(NAME, "readwrite", { durability: "strict" });
          const entries = transaction.objectStore(NAME);
          const request = entries.get(key);
          let made: T;
          let fault: unknown;
          request.onsuccess = () => {
            try {
              entries.put((made = change(request.result)), key);
            } catch (error) {
              fault = error;
              transaction.abort();
            }
          };
          transaction.oncomplete = () => resolve(made);
          transaction.onabort = () => reject(fault ?? transaction.error);
        });
      } finally {
        database.close();
      }
    },
  };
}
