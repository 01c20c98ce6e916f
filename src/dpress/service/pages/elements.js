/** Elements of the page, made without any text being read as markup. */

const SVG = "http://www.w3.org/2000/svg";

/** Returns an element with these attributes and children; texts become text. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Returns the same of a drawing. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Returns the element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** Sets a text, only where it differs: what did not change is not read out again. */
export function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}
