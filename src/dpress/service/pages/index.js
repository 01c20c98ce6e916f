/** The first page: the collections that whoever looks may see, or where to go from here. */
import { Refused, get, token } from "./api.js";
import { byId, element, say } from "./elements.js";

const FEW = 200; // that are listed

function state({ open, until, round, rounds }) {
  const when = open && until ? ` until ${new Date(until).toLocaleString("en")}` : "";
  const which = rounds > 1 ? `, round ${round + 1} of ${rounds}` : "";
  return (open ? "Open" : "Closed") + when + which;
}

function entry(own) {
  const links = [element("a", { href: `collections/${own.id}` }, own.open ? "The estimate so far" : "The estimate")];
  if (own.open) links.push(" · ", element("a", { href: `try/${own.id}` }, "Answer it in this browser"));
  return [element("dt", {}, own.title), element("dd", {}, `${state(own)}. `, ...links)];
}

function list({ collections }) {
  const more = collections.length > FEW ? ` The ${FEW} newest are listed.` : "";
  const many = collections.length === 1 ? "One collection." : `${collections.length} collections.`;
  say("state", collections.length ? many + more : "There are no collections here.");
  byId("collections").replaceChildren(...collections.slice(-FEW).reverse().flatMap(entry));
}

function unlisted(error) {
  if (!(error instanceof Refused)) return say("state", "The service does not answer.");
  say("state", "A service that collects answers; its collections are not listed for everybody.");
  byId("unlisted").hidden = false;
  byId("token-form").hidden = error.status !== 401;
  if (token.get()) say("token-note", "That was not the token.");
  token.forget();
}

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(byId("token").value.trim());
  location.reload();
});

get(new URL("v1/collections", location.href).href).then(list, unlisted);
