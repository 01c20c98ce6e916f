"""The words that queries are made of: operators, texts in quotes, and attributes with or without quotes."""

import functools
import re

OPERATOR = r"(?:!=|<=|>=|=|<|>|\bin\b)"
START = rf"(?:==|{OPERATOR}|\bbetween\b|\bis\b)"  # of what stands behind an attribute, right or wrong
QUOTED = r"""'[^']*'|"[^"]*\""""
MIRRORED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}  # `"30" < age` is `age > "30"`
IN_QUOTES = re.compile(QUOTED)

OPERATORS = "the operators are =, !=, <, <=, >, >= and in"
GROUPED = "groups are `by NAME`, at the end"
MEANT = (
    (r"^$", "a condition is missing"),
    (r"([=<>]|\bin)$", "a value is missing behind the operator"),
    (r"^of\s", "leave out `of`"),
    (r"[\u201c-\u201e\u2018\u2019]", "quotes are straight"),
    (r"^select\b", "SQL stands behind --sql"),
    (r"^(count\(\*\)|\*|all|everything|everyone|true|1\s*=\s*1)$", "all rows are `total`"),
    (r"^[a-z]+\(", "a statistic has no parentheses: `mean NAME`, `count CONDITIONS`"),
    (r"^(avg|average)\b", "a mean is `mean NAME`"),
    (r"^(percent|percentage|proportion|fraction|rate)\b", "a share is `share CONDITIONS`"),
    (r"^(percentile|quartile|decile|p\d\d?)\b", "a percentile is `quantile 0.9 of NAME`"),
    (r"^-?\d+,\d+$", "the decimals of a number stand behind a point"),
    (r"\s-\s\S", "a difference is `count CONDITIONS - count CONDITIONS`"),
    (r"\s/\s\S", "a ratio is `ratio CONDITIONS / CONDITIONS`"),
    (r"\s\+\s\S", "rows of either kind are `count CONDITIONS or CONDITIONS`"),
    (r"^(max|maximum|min|minimum|largest|smallest)\b", "extremes are not answered; write `quantile 0.99 of NAME`"),
    (r"^(std|sd|stdev|stddev)\b", "a deviation is the root of `variance NAME`"),
    (r"^(t[- ]?test|test|p[- ]?value|significance)\b", "a test is `mean NAME where A - mean NAME where not A`"),
    (r"^(iqr|range|spread)\b", "how far numbers lie apart tell `quantile 0.25 of NAME` and 0.75"),
    (r"^(mode|histogram|distribution|top)\b", "how often every value occurs is `count by NAME`"),
    (r"^(corr|correlation|cov|covariance)\b", "write `correlation NAME NAME` or `independence NAME NAME`"),
    (r"^(number|how\s+many)\b", "a number of rows is `count CONDITIONS`"),
    (r"\bgroup\s+by\b|\sper\s", GROUPED),
    (r"\s(for|of|if|when|given)\s", "which rows it is of stands behind `where`"),
    (r"(^|\s)by$", "`by` needs the name of an attribute behind it"),
    (r"\bis\s+not\b", "write `not NAME is missing`, or `NAME != VALUE`"),
    (r"\bis\s+(null|none|na|empty)\b|^(missing|null|none|na|nan)$", "write `NAME is missing`"),
    (r"\sis\s", "write `NAME = VALUE`"),
    (r"\blike\b", "values are named whole, as in `NAME in (a, b)`"),
    (r"\bdistinct\b", "different values are `distinct NAME`, where `distinct` of statistics asks for it"),
    (r"^[\d.]+\s*[=<>]", "the attribute stands before the operator, as in `NAME >= 30` or `NAME in 30..40`"),
    (r"(^|[=\s])>|=<|<>|[\u2260\u2264\u2265]", OPERATORS),
    (r"\s(and|or|not|&+|\|+)$", "a condition is missing at the end"),
    (r"[&;,|]|(?-i:\sAND\b)", "conditions are joined by `and` and `or`, in small letters"),
    (r"%$", "a number stands without %"),
)
"""Words of other languages, ends that are missing, and what would be right."""

RELATIONS = r"(covariance|(rank\s+)?correlation|logistic|([\w-]+(\s\w+)?\s+in\s+)?independence)\s"
"""What a relation begins with that has no tilde."""


@functools.lru_cache(maxsize=64)
def any_name(names: tuple[str, ...]) -> str:
    """Return a pattern of the attributes' names, as they are or in quotes, the longest first."""
    plain = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return rf"""(?:{plain}|'(?:{plain})'|"(?:{plain})")"""


@functools.lru_cache(maxsize=64)
def beginning(names: tuple[str, ...]) -> str:
    """Return a pattern of what a condition begins with: an attribute and an operator, or a value in quotes first."""
    name, mirrored = any_name(names), "|".join(sorted(MIRRORED, key=len, reverse=True))
    behind = rf"(?:\s*{OPERATOR}|\s+between\s|\s+is\s+missing\b)"
    return rf"(?:{name}{behind}|(?:{QUOTED})\s*(?:{mirrored})\s*{name}(?!\w))"


def unquoted(text: str) -> str:
    """Return what stands in quotes; a text without them as it is."""
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


def without_values(text: str) -> str:
    """Return a text without what stands in quotes, unless an operator follows: that is no value but a name.

    >>> without_values("sex = 'a or b' and 'age' = 3")
    "sex =  and 'age' = 3"
    """
    follows = re.compile(rf"\s*{START}")
    return IN_QUOTES.sub(lambda quote: quote[0] if follows.match(text, quote.end()) else "", text)


def parts(text: str, separator: str) -> list[str]:
    """Return the parts of a text around a separator, a pattern, that stands outside quotes."""
    between, begin = [], 0
    for match in re.finditer(rf"{QUOTED}|{separator}", text):
        if match[0][:1] not in ("'", '"'):
            between.append(text[begin : match.start()].strip())
            begin = match.end()
    return [*between, text[begin:].strip()]


def hint_for(text: str) -> str:
    """Return what a text was probably meant as, to be put behind a refusal; empty where nothing is known.

    >>> hint_for("age is null")
    '; write `NAME is missing`'
    """
    plain = text.strip()
    hint = next((hint for pattern, hint in MEANT if re.search(pattern, plain, re.IGNORECASE)), "")
    return f"; {hint}" if hint else ""


def begins_relation(text: str) -> bool:
    """Return whether a text is meant as a relation, which `relation_grammar` reads.

    >>> begins_relation("cost ~ age where sex = f"), begins_relation("Correlation age cost")
    (True, True)
    >>> begins_relation("name = 'a ~ b'")
    False
    """
    return "~" in without_values(text) or re.match(RELATIONS, text, re.IGNORECASE) is not None
