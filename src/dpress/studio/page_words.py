"""What refusals and plans say of commands, options and files, in the words of the page: its fields and buttons.

the line of a refusal, or a remark of a plan -> the same line, for somebody who types no command.
"""

import re

LABELS = {
    "other": "Anything else is counted as",
    "null": "Missing is counted as",
    "values": "Its values",
    "bins": "in so many bins",
    "zone": "Clocks of",
    "skip": "Lines before the names",
    "header_rows": "Lines of names",
    "footer": "Lines behind the rows",
    "separator": "Between fields",
    "decimal": "Decimals after",
    "encoding": "Encoding",
    "null_values": "Missing is written as",
    "where": "Only the rows where",
    "rows_per_unit": "At most so many rows of each person count",
    "users": "About how many rows or people",
    "ways": "Tables of",
}
COMMANDS = (
    "collection expire|collection list|error|estimate|evaluate|export|ledger|list|perturb|plan|publish|query|records|"
    "report"
)
NAMES = "|".join(LABELS)
PHRASES = (
    (r" \(at line .*", ""),
    (r"^--period: ", "the period: "),
    (r"^--ledger: ", "the budget of all wishes: "),
    (r"name one, `dpress publish --period`", "choose one beside the button that publishes it"),
    (r"`dpress publish` needs --allow-unproven\.", "The studio publishes what is proven alone."),
    (r"(; `dpress list` shows all \d+|; SQL stands behind --sql| \(`dpress [^()]*\))", ""),
    (r"; if it holds rows, `dpress init .*", "; a file of rows is named in the first step"),
    (r"a folder that `dpress publish --out` wrote", "one that was published"),
    (r"say what to do in `other`", f"fill in “{LABELS['other']}”"),
    (r"; `dpress check` counts them first", "; the button “Check” counts them first"),
    (r"`dpress check`", "the button “Check”"),
    (rf"(`?)\bdpress ({COMMANDS})\b(?:[^`]*\1)?", r"the command \2"),
    (r"\bstate its `separator` in \[data\]", f"choose “{LABELS['separator']}”"),
    (rf"`({NAMES})`", lambda word: f"“{LABELS[word[1]]}”"),
    (rf"\b({NAMES}) = ", lambda word: f"“{LABELS[word[1]]}” = "),
    (r"\[data\] (header names|states)", "the first step says"),
    (r" in \[data\]", " in the first step"),
    (r"\[privacy\]", "the second step"),
    (r"\$\.release\.(parameters|attributes)", "the fields of the wish"),
    (r"\$\.attribute\[([^\]]*)\]\.(\w+)", r"\2 of \1"),
    (r"\$\.privacy\.(\w+)", r"\1"),
    (r"\$\.data\.source", "the file or table"),
    (r"(?:dpress )?(?<![\w-])--([a-z][a-z-]+)", r"the option \1 of a command"),
)


def in_words(line: str) -> str:
    """Return a line in the words of the page; the place that it begins with, which names a field, stays.

    >>> in_words("$.attribute[sex].values: expected no more than 4; see $.release.parameters")
    '$.attribute[sex].values: expected no more than 4; see the fields of the wish'
    >>> in_words("too many cells (`dpress plan` and `dpress error` answer for more); use `bins`")
    'too many cells; use “in so many bins”'
    """
    place = re.match(r"\$\.[^\s:]+: ", line)
    head, rest = (place[0], line[place.end() :]) if place else ("", line)
    for pattern, words in PHRASES:
        rest = re.sub(pattern, words, rest)
    return head + rest
