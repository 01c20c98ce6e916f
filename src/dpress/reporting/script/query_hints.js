/** What a query that cannot be read was probably meant as, as `dpress.query.query_words` and `core.basics.near` have it. */

const ALIKE = 0.6; // the share of letters that two names must have in common
const SHORTEST = 3; // letters of a name that another one is cut short to
const MOST = 10000; // names that are looked through

const MEANT = [
  [/^$/i, "a condition is missing"],
  [/([=<>]|\bin)$/i, "a value is missing behind the operator"],
  [/^of\s/i, "leave out `of`"],
  [/[\u201c-\u201e\u2018\u2019]/i, "quotes are straight"],
  [/^select\b/i, "SQL stands behind --sql"],
  [/^(count\(\*\)|\*|all|everything|everyone|true|1\s*=\s*1)$/i, "all rows are `total`"],
  [/^[a-z]+\(/i, "a statistic has no parentheses: `mean NAME`, `count CONDITIONS`"],
  [/^(avg|average)\b/i, "a mean is `mean NAME`"],
  [/^(percent|percentage|proportion|fraction|rate)\b/i, "a share is `share CONDITIONS`"],
  [/^(percentile|quartile|decile|p\d\d?)\b/i, "a percentile is `quantile 0.9 of NAME`"],
  [/^-?\d+,\d+$/i, "the decimals of a number stand behind a point"],
  [/\s-\s\S/i, "a difference is `count CONDITIONS - count CONDITIONS`"],
  [/\s\/\s\S/i, "a ratio is `ratio CONDITIONS / CONDITIONS`"],
  [/\s\+\s\S/i, "rows of either kind are `count CONDITIONS or CONDITIONS`"],
  [/^(max|maximum|min|minimum|largest|smallest)\b/i, "extremes are not answered; write `quantile 0.99 of NAME`"],
  [/^(std|sd|stdev|stddev)\b/i, "a deviation is the root of `variance NAME`"],
  [/^(t[- ]?test|test|p[- ]?value|significance)\b/i, "a test is `mean NAME where A - mean NAME where not A`"],
  [/^(iqr|range|spread)\b/i, "how far numbers lie apart tell `quantile 0.25 of NAME` and 0.75"],
  [/^(mode|histogram|distribution|top)\b/i, "how often every value occurs is `count by NAME`"],
  [/^(corr|correlation|cov|covariance)\b/i, "write `correlation NAME NAME` or `independence NAME NAME`"],
  [/^(number|how\s+many)\b/i, "a number of rows is `count CONDITIONS`"],
  [/\bgroup\s+by\b|\sper\s/i, "groups are `by NAME`, at the end"],
  [/\s(for|of|if|when|given)\s/i, "which rows it is of stands behind `where`"],
  [/(^|\s)by$/i, "`by` needs the name of an attribute behind it"],
  [/\bis\s+not\b/i, "write `not NAME is missing`, or `NAME != VALUE`"],
  [/\bis\s+(null|none|na|empty)\b|^(missing|null|none|na|nan)$/i, "write `NAME is missing`"],
  [/\sis\s/i, "write `NAME = VALUE`"],
  [/\blike\b/i, "values are named whole, as in `NAME in (a, b)`"],
  [/\bdistinct\b/i, "different values are `distinct NAME`, where `distinct` of statistics asks for it"],
  [/^[\d.]+\s*[=<>]/i, "the attribute stands before the operator, as in `NAME >= 30` or `NAME in 30..40`"],
  [/(^|[=\s])>|=<|<>|[\u2260\u2264\u2265]/i, "the operators are =, !=, <, <=, >, >= and in"],
  [/\s(and|or|not|&+|\|+)$/i, "a condition is missing at the end"],
  [/[&;,|]|\sAND\b/, "conditions are joined by `and` and `or`, in small letters"],
  [/%$/i, "a number stands without %"],
];

/** Returns what a text was probably meant as, to be put behind a refusal; empty where nothing is known. */
export function hintFor(text) {
  const hint = MEANT.find(([pattern]) => pattern.test(text.trim()));
  return hint ? `; ${hint[1]}` : "";
}

/** Returns the name most like another one; undefined where none is near. Capitals and blanks do not count. */
export function nearest(name, names) {
  const plain = new Map();
  for (const one of names.slice(0, MOST)) if (!plain.has(folded(one))) plain.set(folded(one), one);
  const text = folded(name);
  const rated = [...plain.keys()].map((one) => [likeness(one, text), one]).filter(([ratio]) => ratio >= ALIKE);
  const best = rated.sort(([first, one], [second, two]) => second - first || (one < two ? 1 : -1))[0];
  return plain.get(best ? best[1] : [...plain.keys()].find((one) => shortened(text, one)));
}

const folded = (text) => text.toLowerCase().trim();
const shortened = (one, two) => Math.min(one.length, two.length) >= SHORTEST && (two.startsWith(one) || one.startsWith(two));

/** Returns the share of letters that two texts have in common, by their longest common runs (Ratcliff and Obershelp). */
function likeness(one, two) {
  const letters = one.length + two.length;
  return letters ? (2 * common(one, two)) / letters : 1;
}

function common(one, two) {
  let [size, first, second] = [0, 0, 0];
  let runs = new Array(two.length + 1).fill(0);
  for (let i = 0; i < one.length; i++) {
    const longer = new Array(two.length + 1).fill(0);
    for (let j = 0; j < two.length; j++) {
      if (one[i] !== two[j]) continue;
      longer[j + 1] = runs[j] + 1;
      if (longer[j + 1] > size) [size, first, second] = [longer[j + 1], i + 1 - longer[j + 1], j + 1 - longer[j + 1]];
    }
    runs = longer;
  }
  if (!size) return 0;
  const before = common(one.slice(0, first), two.slice(0, second));
  return size + before + common(one.slice(first + size), two.slice(second + size));
}
