/** Reads queries as trees, as `dpress.query.grammar` does: `mean age where sex = f by ward`, or conditions alone. */
import { Elsewhere, QUOTED, TOTAL, Unread, anyName, beginning, conditions, noAttribute } from "./condition_grammar.js";
import { parts, plainName, shown, unquoted } from "./condition_grammar.js";

const WHERE = "(?:^|(?<=\\s))where(?=\\s|$)";
const of = (head) => `\`${head}\` or \`${head} where CONDITIONS\``;
const GRAMMAR = ["in", "of", "by", "where", "and", "or", "not", "=", "is", "between"]; // no names of attributes
const FORMS = {
  mean: of("mean NAME"),
  sum: of("sum NAME"),
  median: of("median NAME"),
  quantile: of("quantile 0.9 of NAME"),
  share: of("share CONDITIONS"),
  ratio: "`ratio CONDITIONS / CONDITIONS` or `ratio sum NAME / sum NAME`",
  circular: of("circular mean NAME"),
  resultant: of("resultant length NAME"),
  variance: of("variance NAME"),
  count: "`count CONDITIONS`, `count where CONDITIONS` or `count CONDITIONS - count CONDITIONS`",
};

/** Returns { of, attribute, level, first, second, where, by } of a text; fields that say nothing are left out. */
export function read(names, text) {
  const alone = () => ({
    of: "count",
    ...counted("first", conditions(names, text)),
  });
  if (new RegExp(`^\\s*${beginning(names)}`).test(text)) return alone();
  if (/^\s*(?:mean|share)\s/i.test(text) && parts(text, "\\s-\\s+(?=(?:mean|share)\\s)").length > 1)
    throw new Elsewhere("Differences of means and shares, with a test of them, are answered by this command");
  const [word, rest] = cut(text.trim());
  const reader = Object.hasOwn(READERS, word.toLowerCase()) ? READERS[word.toLowerCase()] : null;
  if (!reader) return ofWords(names, text.trim()) ?? alone();
  if (!rest && reader !== count) throw new Unread(`cannot read ${shown(text)}; write ${FORMS[word.toLowerCase()]}`);
  return reader(names, rest);
}

/** Returns the first word and the rest. */
function cut(text) {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1).trim()];
}

/** Returns a statistic of persons, of different values or of sets; null for conditions. */
function ofWords(names, text) {
  const name = anyName(names);
  const heads = [
    ["total per person", `total\\s+(${name})\\s+per\\s+person`],
    ["total", `total\\s+(${name})`],
    ["distinct", `distinct\\s+(${name})`],
    ["persons", "persons"],
    ["set size", "set size"],
  ];
  for (const [word, head] of heads) {
    const match = new RegExp(`^${head}(?=$|\\s+(?:where|by)(?:\\s|$))`, "i").exec(text);
    if (!match) continue;
    const behind = scope(names, text.slice(match[0].length), `\`${word} where CONDITIONS\``);
    return {
      of: word,
      ...(match[1] === undefined ? {} : { attribute: plainName(names, match[1]) }),
      ...behind,
    };
  }
  return null;
}

function scope(names, text, form) {
  const [head, behind] = split(names, text, form);
  if (head) throw new Unread(`cannot read ${shown(head)}; write ${form}`);
  return behind;
}

/** Returns what stands before `where` and `by`, and what these say, in either order. */
function split(names, text, form) {
  const [before, ...behind] = parts(text, WHERE);
  if (behind.length > 1) throw new Unread(`cannot read ${shown(text)}; write ${form}`);
  const [head, first] = by(names, before);
  const [where, second] = by(names, behind[0] ?? "");
  if (behind.length && !where) throw new Unread(`\`where\` needs a condition behind it; write ${form}`);
  if (first.length && second.length) throw new Unread(`cannot read ${shown(text)}: \`by\` stands twice`);
  const groups = [...first, ...second];
  return [
    head,
    {
      ...(behind.length ? { where: conditions(names, where) } : {}),
      ...(groups.length ? { by: groups } : {}),
    },
  ];
}

/** Returns what stands before `by NAME, ...` at the end of a text, and the names. */
function by(names, text) {
  const name = anyName(names);
  const pattern = new RegExp(`${QUOTED}|(?:^|(?<=\\s))by\\s+(${name}(?:\\s*,\\s*${name})*)\\s*$`, "g");
  for (const match of text.matchAll(pattern)) {
    if (!match[1]) continue;
    const groups = match[1].match(new RegExp(name, "g")).map((one) => plainName(names, one));
    if (new Set(groups).size < groups.length) throw new Unread(`cannot read ${shown(match[0])}: a name stands twice`);
    return [text.slice(0, match.index).trim(), groups];
  }
  const wrong = /^by\s+(.+)$/.exec(text);
  if (wrong) throw noAttribute(names, unquoted(wrong[1].trim()));
  return [text.trim(), []];
}

const ofAttribute =
  (word, form = word) =>
  (names, rest) => {
    const [attribute, behind] = named(names, rest, FORMS[form]);
    return { of: word, attribute, ...behind };
  };

const ofCircle = (form, second) => (names, rest) => {
  const [word, behind] = cut(rest);
  if (word !== second || !behind) throw new Unread(`cannot read '${form} ${rest}'; write ${FORMS[form]}`);
  return ofAttribute(`${form} ${second}`, form)(names, behind);
};

function quantile(names, rest) {
  const [text, ...name] = parts(rest, "\\sof\\s");
  const level = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN;
  if (Number.isNaN(level))
    throw new Unread(`cannot read ${shown(text)} as the level of a quantile; write ${FORMS.quantile}`);
  if (!name.length) throw new Unread(`cannot read 'quantile ${rest}'; write ${FORMS.quantile}`);
  const [attribute, behind] = named(names, name.join(" of "), FORMS.quantile);
  return {
    of: "quantile",
    attribute,
    ...(level === 0.5 ? {} : { level }),
    ...behind,
  };
}

/** Returns an attribute and what stands behind it; a name that holds such a word itself goes first. */
function named(names, text, form) {
  const match = new RegExp(`^(${anyName(names)})(?=$|\\s+(?:where|by)(?:\\s|$))`).exec(text);
  if (match) return [plainName(names, match[1]), scope(names, text.slice(match[0].length).trim(), form)];
  const [name, ...behind] = parts(text, WHERE);
  const word = name.split(/\s/)[0].toLowerCase();
  if (!name || GRAMMAR.includes(word)) throw new Unread(`cannot read ${shown(text)}; write ${form}`);
  if (behind.length && !behind[0]) throw new Unread(`\`where\` needs a condition behind it; write ${form}`);
  throw noAttribute(names, unquoted(name));
}

function share(names, rest) {
  const [head, behind] = split(names, rest, FORMS.share);
  if (!head) throw new Unread(`cannot read ${shown(rest)}; write ${FORMS.share}`);
  return {
    of: "share",
    ...counted("first", conditions(names, head)),
    ...behind,
  };
}

function ratio(names, rest) {
  const [head, behind] = split(names, rest, FORMS.ratio);
  const pair = parts(head, "\\s/(?=\\s|$)");
  if (pair.length !== 2 || !pair.every(Boolean)) throw new Unread(`cannot read 'ratio ${rest}'; write ${FORMS.ratio}`);
  if (pair.every((one) => /^sum\s/.test(one)))
    throw new Elsewhere("Ratios of sums are answered by this command");
  const [first, second] = pair.map((one) => conditions(names, one));
  return {
    of: "ratio",
    ...counted("first", first),
    ...counted("second", second),
    ...behind,
  };
}

function count(names, rest) {
  const [head, behind] = split(names, rest, FORMS.count);
  const [text, ...others] = parts(head, "\\s-\\s+count(?=\\s|$)");
  if (others.length > 1 || (others.length && !(text && others[0])))
    throw new Unread(`cannot read 'count ${rest}'; write ${FORMS.count}`);
  const first = counted("first", text ? conditions(names, text) : TOTAL);
  if (!others.length) return { of: "count", ...first, ...behind };
  return {
    of: "difference",
    ...first,
    ...counted("second", conditions(names, others[0])),
    ...behind,
  };
}

const counted = (field, tree) => (tree.word === "total" ? {} : { [field]: tree });

const READERS = {
  mean: ofAttribute("mean"),
  sum: ofAttribute("sum"),
  median: ofAttribute("quantile", "median"),
  variance: ofAttribute("variance"),
  quantile,
  share,
  ratio,
  circular: ofCircle("circular", "mean"),
  resultant: ofCircle("resultant", "length"),
  count,
};
