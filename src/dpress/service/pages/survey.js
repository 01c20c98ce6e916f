/** The survey: the client runs in this browser, shows what would leave it, and sends it when asked to. */
import { Refused, address, collection, get, id } from "./api.js";
import { attributes, showPromise } from "./asked.js";
import { byId, element, say } from "./elements.js";
import { field } from "./fields.js";

let opened = null;
let fields = [];

const values = () => Object.assign({}, ...fields.map((one) => one.values()));

/** Loads the client, if it is the very one that the service says it has. */
async function client({ rounds, words }) {
  const own = (await get(address("v1/client")))["client.js"];
  if (!own) throw new Refused(404, "this service has no client for browsers");
  const script = element("script", { src: `${address("client.js")}?v=${own.version}`, integrity: own.integrity });
  script.crossOrigin = "anonymous";
  await new Promise((done, failed) => {
    script.addEventListener("load", done);
    script.addEventListener("error", () => failed(new Refused(0, "the client could not be loaded")));
    document.head.append(script);
  });
  const titles = Object.fromEntries(words.flatMap((one) => one.columns.map((column) => [column, one.title])));
  return globalThis.dpress.Collection.open(collection, { rounds, titles }); // each round of the collection, once
}

function state({ open, refused }) {
  if (open) return "Open: your browser can report.";
  if (refused === "answered already") return "Answered: this browser has answered this round, and a round is answered once.";
  return `Nothing can be reported: ${refused}.`;
}

function several({ rounds, together, further }) {
  const times = (epsilon) => `at most ${Number(Math.exp(epsilon).toPrecision(3)).toLocaleString("en")} times (epsilon ${epsilon})`;
  const all = together === null ? "" : `Reports of the same values in all ${rounds} rounds together: ${times(together)}. `;
  const more = further ? `A round may be added later: it sends nothing unless you answer it, too, and would then add epsilon ${further}.` : "";
  return all || more ? `A round is answered once. ${all}${more}` : "";
}

async function showStatus() {
  const status = await opened.status();
  const { account } = status;
  const rows = [
    ["This collection", status.open ? "open" : `closed here: ${status.refused}`],
    ["Rounds answered", `${status.answered} of ${status.rounds}`],
    ["Reports that wait", String(status.queued)],
    ["Spent in all collections", account ? `epsilon ${account.spent}` : "not known"],
  ];
  byId("status").replaceChildren(...rows.flatMap(([what, how]) => [element("dt", {}, what), element("dd", {}, how)]));
  byId("survey").hidden = !status.open;
  say("state", state(status));
}

async function preview(event) {
  event.preventDefault();
  const found = await opened.preview(values());
  say("fault", found.refused ?? "");
  byId("preview").hidden = Boolean(found.refused);
  if (found.refused) return;
  say("sentence", found.sentence);
  say("bytes", [...found.bytes].map((one) => one.toString(16).padStart(2, "0")).join(" "));
  say("outcome", "");
  byId("send").disabled = false;
  byId("preview-title").focus();
}

async function send() {
  byId("send").disabled = true;
  say("outcome", "Sending.");
  const { sent, queued, refused } = await opened.report(values());
  if (refused) say("outcome", `Not sent: ${refused}.`);
  else say("outcome", sent ? "Sent and counted." : `Kept here; ${queued} wait to be sent when the service answers.`);
  await showStatus();
}

async function start() {
  const said = await get(collection);
  document.title = said.title;
  say("title", said.title);
  showPromise(said);
  say("several", several(said));
  byId("live").href = `../collections/${id}`;
  say("live", said.open ? "The estimate so far" : "The estimate");
  opened = await client(said);
  fields = attributes(said).map(field);
  byId("fields").replaceChildren(...fields.map((one) => one.node));
  await showStatus();
  byId("survey").addEventListener("submit", preview);
  byId("survey").addEventListener("input", () => (byId("preview").hidden = true));
  byId("send").addEventListener("click", send);
}

start().catch((error) => say("state", error instanceof Refused ? `Nothing can be answered: ${error.message}.` : "The service does not answer."));
