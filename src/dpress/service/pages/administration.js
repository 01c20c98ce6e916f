/** What the administrator sees and does: rounds, counters, the script that opens this collection. */
import { address, collection, get, post, token } from "./api.js";
import { byId, element, say } from "./elements.js";
import { count } from "./numbers.js";

const EVERY = 3000; // milliseconds between two looks at the counters

/** Shows the administrator's part, where there is a token, and keeps it up to date. */
export async function administer() {
  if (!token.get()) return;
  await refresh(); // refused: not shown
  byId("administration").hidden = false;
  byId("sign-in").hidden = true;
  byId("close").addEventListener("click", () => act("close", "The round is closed."));
  byId("next").addEventListener("click", () => act("next", "The next round has begun."));
  await showSnippet();
  setInterval(() => refresh().catch(() => undefined), EVERY);
}

async function refresh() {
  const { rounds } = await get(`${collection}/rounds`);
  byId("rounds").replaceChildren(...rounds.map(row));
  const newest = rounds.at(-1);
  byId("close").disabled = !newest.open;
  byId("next").disabled = newest.open;
}

function row({ id, round, open, until, reports, deleted, refused }) {
  const reasons = Object.entries(refused).map(([reason, number]) => `${reason}: ${count(number)}`);
  const state = (open ? "open" : "closed") + (open && until ? ` until ${new Date(until).toLocaleString("en")}` : "");
  return element(
    "tr",
    {},
    element("th", { scope: "row", class: "label" }, element("a", { href: `./${id}` }, String(round + 1))),
    element("td", { class: "label" }, state),
    element("td", { class: "number" }, count(reports) + (deleted ? ` (${count(deleted)} deleted)` : "")),
    element("td", { class: "label" }, reasons.join(", ") || "none"),
  );
}

async function act(what, done) {
  try {
    const said = await post(`${collection}/${what}`);
    say("done", done);
    if (what === "next" && said.id && !location.pathname.endsWith(said.id)) location.assign(`./${said.id}`);
    await refresh();
  } catch (error) {
    say("done", error.message);
  }
}

async function showSnippet() {
  const { rounds } = await get(collection);
  const several = rounds > 1 ? `, { rounds: ${rounds} }` : "";
  const own = (await get(address("v1/client")))["client.js"];
  const source = own && `${address("client.js")}?v=${own.version}`;
  byId("snippet").textContent = own
    ? [
        `<script src="${source}"`,
        `  integrity="${own.integrity}" crossorigin="anonymous"></script>`,
        `<script type="module">`,
        `  const collection = await dpress.Collection.open("${collection}"${several});`,
        `  const { sent, refused } = await collection.report({ /* a value for every attribute */ });`,
        `</script>`,
      ].join("\n")
    : "This package was built without the client for browsers.";
}
