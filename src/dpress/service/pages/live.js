/** The live page: what is asked, what is promised, and the estimate while reports arrive. */
import { administer } from "./administration.js";
import { Refused, collection, get, id, stream, token } from "./api.js";
import { showAsked, showPromise } from "./asked.js";
import { bars } from "./bars.js";
import { columns } from "./columns.js";
import { byId, element, say } from "./elements.js";
import { grid } from "./grid.js";
import { heat } from "./heat.js";
import { count, points, shares } from "./numbers.js";

const FEW = 40; // cells that have a row each
const OPEN = 3; // tables of several attributes that are open from the start

const LEGEND = {
  bars:
    "Bars are estimated shares of all who reported. The line across the end of a bar is its 95 % interval: in 95 of 100 such " +
    "collections it holds the true share. An arrow at an end of the axis: the interval goes on there, as far as its figures say. " +
    "An estimate may fall below zero where few or none are: it errs to both sides alike.",
  map: "The stronger the colour of a cell, the more people it is estimated to hold; the list below has the fullest in figures, each with its 95 % interval.",
};

const NEEDED = "Whoever runs this collection lets nobody look without it. It stays in this tab, and is gone when the tab is closed.";

let said = null;
let shown = ""; // which tables there are figures of
let figures = [];

/** Returns the figure for a table. */
function figure(names, axes) {
  const own = names.map((name) => axes[name]);
  const place = said.words.find((one) => one.kind === "location" && one.columns.join() === names.join());
  if (place) return heat(place.title, ...own);
  if (own.length > 1) return grid(own);
  return own[0].labels.length > FEW ? columns(own[0]) : bars(own[0]);
}

function build({ tables, axes }) {
  const several = tables.filter((one) => one.axes.length > 1).length > OPEN;
  figures = tables.map((one) => figure(one.axes, axes));
  byId("tables").replaceChildren(
    ...figures.map(({ node }, i) => {
      if (!several || tables[i].axes.length < 2) return node;
      const title = tables[i].axes.map((name) => axes[name].title).join(" and ");
      return element("details", {}, element("summary", {}, title), node);
    }),
  );
}

/** Shows an estimate. */
function show(found) {
  if (!("tables" in found)) return say("state", `Waiting: ${found.waiting}. What stands below is as it was before.`);
  if (found.round !== said.round) describe().catch(() => undefined); // the same is asked once more
  state(found.open);
  say("users", found.deleted && !found.users ? "deleted" : count(found.users));
  say("waiting", found.waiting ? `There is no estimate${found.open ? " yet" : ""}: ${found.deleted ? gone(found.deleted) : found.waiting}.` : "");
  say("opening", found.opening.join(" "));
  byId("sure").hidden = !found.opening.length;
  const left = Object.entries(found.left_out).map(([reason, number]) => `${count(number)} ${reason}`);
  const before = found.before ? `${count(found.before)} of them in earlier rounds` : "";
  say("left-out", [found.deleted ? gone(found.deleted) : "", before, left.length ? `beside them ${left.join(", ")}` : ""].filter(Boolean).join("; "));
  const key = JSON.stringify(found.tables.map((one) => one.axes));
  if (key !== shown) build(found);
  shown = key;
  say("legend", found.tables.length ? legend(found) : "");
  figures.forEach((one, i) => one.update(found.tables[i], found.users));
  say("uncertainty", uncertainty(found));
  byId("remarks").replaceChildren(...found.remarks.map((text) => element("li", {}, text)));
  document.body.dataset.users = found.users;
}

/** Returns what became of reports that were deleted, as far as the store knows. */
function gone({ reports, since }) {
  const when = since === null ? "" : ` on or after ${new Date(since).toLocaleDateString("en", { dateStyle: "long", timeZone: "UTC" })}, when the round ended`;
  return `its ${count(reports)} reports were deleted${when}`;
}

function legend({ approximate }) {
  const what = LEGEND[said.words.some((one) => one.kind === "location") ? "map" : "bars"];
  return approximate ? `${what} Here these intervals are approximate: they may hold less often than that.` : what;
}

/** Returns the median half width of the intervals of the first table. */
function uncertainty({ tables, users, open }) {
  if (!tables.length) return open ? "not yet" : "not known";
  const half = shares(tables[0], users).half.filter((one) => one !== null).sort((one, two) => one - two);
  return half.length ? points(half[half.length >> 1]) : "not known";
}

function state(open) {
  const over = open === false || (said.until && Date.parse(said.until) <= Date.now());
  say("state", over ? "Closed: nothing more is accepted." : "Open: reports are accepted.");
  say("estimate-title", over ? "The estimate" : "The estimate so far");
  say("each-look", over ? "" : ", of one look by itself; who looks often while reports arrive sees it go wrong more often");
  say("shrinking", over ? "" : "; it shrinks as reports arrive");
  byId("answer").hidden = over;
}

async function describe() {
  said = await get(collection);
  document.title = said.title;
  say("title", said.title);
  say("round", said.rounds > 1 ? `${said.round + 1} of ${said.rounds}` : String(said.round + 1));
  say("until", said.until ? `until ${new Date(said.until).toLocaleString("en")}` : "");
  state(said.open);
  showAsked(said);
  showPromise(said);
  byId("answer").replaceChildren(element("a", { href: `../try/${id}` }, "Answer it in this browser"), ", and see what would leave it.");
  if (said.next) {
    byId("following").replaceChildren("This round is followed by ", element("a", { href: `./${said.next}` }, "another one"), ".");
  }
  say("footer", `Collection ${id}`);
}

async function look() {
  try {
    await stream(`${collection}/events`, show, (error) => error && say("state", "The service does not answer; trying again."));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    for (const name of ["users", "uncertainty"]) say(name, "not known");
    if (error.status === 401) askToken(token.get() ? "That was not the token." : NEEDED);
    else say("waiting", error.message);
    token.forget();
  }
}

function notAllowed(error) {
  if (!(error instanceof Refused)) return;
  token.forget();
  askToken(error.status === 401 ? "That was not the token." : "This service was started without an administrator.");
}

function askToken(note) {
  byId("token-form").hidden = false;
  byId("sign-in").hidden = true;
  if (note) say("token-note", note);
}

byId("sign-in-button").addEventListener("click", () => {
  askToken("");
  byId("token").focus();
});
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(byId("token").value.trim());
  location.reload();
});

describe()
  .then(() => Promise.all([look(), administer().catch(notAllowed)]))
  .catch((error) => {
    say("state", error instanceof Refused ? `There is nothing to show: ${error.message}.` : "The service does not answer.");
    document.querySelectorAll("#keys, main > section").forEach((part) => (part.hidden = true));
  });
