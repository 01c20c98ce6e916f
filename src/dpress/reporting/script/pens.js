/** What figures are drawn with: texts, lines, bars and dots in the colours of the page. */

/** Returns a text in ink, cut where it is too long. */
export function write({ pen, colours }, text, x, y, { align = "left", most = Infinity, colour = colours.muted } = {}) {
  [pen.fillStyle, pen.textAlign, pen.textBaseline] = [colour, align, "middle"];
  pen.fillText(cut(pen, text, most), x, y);
}

/** Returns a text, cut at its end where it is too long. */
function cut(pen, text, most) {
  let short = text;
  while (short.length > 1 && pen.measureText(short).width > most) short = `${short.slice(0, -2)}…`;
  return short;
}

/** Returns texts that are not too long: cut at the end, or before the word that tells them apart from those alike. */
export function shortLabels(pen, texts, most) {
  const ends = texts.map((text) => cut(pen, text, most));
  return texts.map((text, i) => {
    const alike = texts.filter((other, j) => other !== text && ends[j] === ends[i]);
    if (!alike.length) return ends[i];
    const differs = Math.min(...alike.map((other) => shared(text, other)));
    const word = text.lastIndexOf(" ", differs - 1) + 1;
    return cut(pen, `${text.slice(0, 6).trimEnd()}…${text.slice(differs - word < 8 ? word : differs)}`, most);
  });
}

/** Returns how many letters two texts begin with. */
function shared(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Puts a line through points. */
export function path(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
}

/** Draws one straight line. */
export function line(pen, colour, ...[x, y, toX, toY]) {
  path(pen, [[x, y], [toX, toY]]); // prettier-ignore
  [pen.strokeStyle, pen.lineWidth] = [colour, 1];
  pen.stroke();
}

/** Draws a cell's bar; one below zero in another colour. */
export function bar({ pen, view, colours }, cell, box) {
  [pen.fillStyle, pen.globalAlpha] = [view.value[cell] < 0 ? colours.less : colours.mark, 0.75];
  pen.fillRect(...box);
  pen.globalAlpha = 1;
}

/** Draws a box around the cell that is read. */
export function outline({ pen, colours }, box) {
  [pen.strokeStyle, pen.lineWidth] = [colours.ink, 1.5];
  pen.strokeRect(...box);
}

/** Draws a hollow dot. */
export function dot(pen, colour, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, Math.min(radius, 2.4), 0, 2 * Math.PI);
  [pen.strokeStyle, pen.lineWidth] = [colour, 0.8];
  pen.stroke();
}
