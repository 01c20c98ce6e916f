/** What was typed, kept by the server at every change, and what the server makes of it. */

const token = new URLSearchParams(location.search).get("token") ?? "";
const PAUSE = 400; // milliseconds after the last key

/** Returns the address of a wish's page, which opens in a tab of its own. */
export const address = (path, name) => `${path}?${new URLSearchParams({ name, token })}`;

/** Asks the server; refused with the line that says why. */
export async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(path, { method, headers, body }).catch(() => null);
  if (answer === null) throw new Error("the studio does not answer; is `dpress studio` still running?");
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.detail), { caret: found.caret, at: found.at });
  return found;
}

export const work = { draft: null, kinds: [], series: [], wishes: [], ledger: {}, folder: "" };

/** Returns the name of a column's attribute, as the specification has it (`studio/written.py`). */
export const attributeName = ({ called, kind, name }) => called.trim() || (({ location: "place", hierarchy: `${name}_code` })[kind] ?? name);

/** Returns an attribute's title for people, with its name where that is another. */
export function titled(name) {
  const title = work.draft.columns.find((one) => one.use && attributeName(one) === name)?.title.trim();
  if (title?.toLowerCase() === name.toLowerCase()) return title;
  return title ? `${title} (${name})` : name;
}

let timer;
let changed = 0;
let listener = () => {};

/** Calls this whenever the server has kept what was typed. */
export function whenKept(act) {
  listener = act;
}

/** Takes what the server says of the work. */
export function take(state) {
  Object.assign(work, state);
}

/** Keeps what was typed, after a pause. */
export function typed() {
  changed += 1;
  clearTimeout(timer);
  timer = setTimeout(keep, PAUSE);
}

/** Keeps what was typed now; what is typed meanwhile is kept again, and never overwritten by the answer. */
export async function keep() {
  clearTimeout(timer);
  const at = changed;
  try {
    const state = await ask("PUT", "/work", JSON.stringify(work.draft));
    take({ ...state, draft: work.draft });
    if (at === changed) listener("");
  } catch (error) {
    listener(error.message);
  }
}
