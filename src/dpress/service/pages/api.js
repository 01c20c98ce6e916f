/** What the pages ask of the service, with the administrator's token where there is one. */

const KEY = "dpress token";
const PAUSE = 3000; // milliseconds before a broken stream is asked for again

/** The id of the collection, from the page's own address. */
export const id = location.pathname.split("/").at(-1);

/** Returns the address of something that the service has. */
export const address = (path) => new URL(`../${path}`, location.href).href;

/** The address of the collection, as apps open it. */
export const collection = address(`v1/collections/${id}`);

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

/** What the service refused. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function asked(url, options = {}) {
  const own = token.get();
  const headers = own ? { authorization: `Bearer ${own}` } : {};
  const answer = await fetch(url, { cache: "no-cache", credentials: "omit", ...options, headers });
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, said.detail ?? `the service answered ${answer.status}`);
  }
  return answer;
}

/** Returns what the service says, as JSON. */
export const get = async (url) => (await asked(url)).json();

/** Has the service do something, and returns what it says. */
export const post = async (url) => (await asked(url, { method: "POST" })).json();

/** Calls `show` with every event of a stream, for as long as the page is there; a broken stream is asked for again. */
export async function stream(url, show, lost) {
  for (;;) {
    try {
      const answer = await asked(url);
      for await (const event of events(answer.body)) show(event);
      lost(null);
    } catch (error) {
      if (error instanceof Refused && error.status < 500) throw error;
      lost(error);
    }
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6));
    }
  }
}
