/** What is asked, and what is promised, in plain words. */
import { byId, element, say } from "./elements.js";
import { edge } from "./numbers.js";

const MOST = 40; // values that are named

/** Returns what devices are asked of every attribute: its words, and its columns as devices know them. */
export function attributes({ ask, words }) {
  const known = new Map(ask.attributes.map((one) => [one.name, one]));
  return words.map((one) => ({ ...one, own: one.columns.map((name) => known.get(name)) }));
}

/** Writes what is asked. */
export function showAsked(said) {
  byId("asked").replaceChildren(
    ...attributes(said).flatMap((one) => [element("dt", {}, one.title), element("dd", {}, described(one))]),
  );
}

function described({ kind, labels, own }) {
  if (kind === "location") return `a place within ${own.map((axis) => `${axis.name} ${ends(axis).join(" to ")}`).join(", ")}`;
  if (own[0].kind === "strings") return `a text of up to ${own[0].longest} bytes, a letter from a to z being one`;
  if (labels) return labels.slice(0, MOST).join(", ") + (labels.length > MOST ? `, and ${labels.length - MOST} more` : "");
  return `a ${own[0].kind === "date" ? "date" : "number"} ${span(own[0])}`.trim();
}

/** Returns between which ends an attribute's numbers or days lie; nothing where any day will do. */
export const span = (own) => (own.edges ?? own.bounds ? `from ${ends(own).join(" to ")}` : "");

/** Returns both ends of an attribute of numbers or days. */
export const ends = (axis) => {
  const all = axis.edges ?? axis.bounds;
  if (axis.kind === "date") return all;
  return [edge(Number(all[0])), edge(Number(all.at(-1)))];
};

/** Writes whom to ask, and what is promised. */
export function showPromise({ proven, promise, contact }) {
  say("contact", `Contact: ${contact}`);
  byId("contact").hidden = !contact;
  say("promise", `For whoever knows the terms: ${promise}, for each report, between any two values of its owner.`);
  say("plainly", plainly(proven?.epsilon));
}

function plainly(epsilon) {
  if (epsilon === undefined) return "Nothing is proven of this way to ask; see what is claimed below.";
  const times = Number(Math.exp(epsilon).toPrecision(3)).toLocaleString("en");
  const weak = epsilon > 20 ? " That hides next to nothing." : "";
  return (
    `A device does not send its answer but a random one that leans towards it, drawn before anything leaves the device. ` +
    `Whatever arrives in a report is at most ${times} times as likely from one person as from another with any other answer; ` +
    `nobody who sees it, this service included, learns more than that about one person.${weak} Only many reports together show something.`
  );
}
