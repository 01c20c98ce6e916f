"""What a text that is no TOML was probably meant as: a sentence behind the parser's own words.

the parser's message -> the line that it is about -> the first rule that knows such a line.
"""

import re

from dpress.data.specification.file_format import WINDOWS

POSITION = re.compile(r"\(at line (\d+), column (\d+)\)$")
SECTION = re.compile(r"Cannot declare \('(\w+)',\) twice")
STRAIGHT = "quotes are straight in TOML"
TEXT_ENDS = "a text ends on its line, with the quote that it begins with"
LISTED = "a list has commas between its values and ] behind the last"
SECTIONS = "the name of a section stands in brackets: [privacy], [[attribute]]"
VALUE = "a value is a number, true, false, a text in quotes, or a list of these in square brackets"
SEVERAL = "several values are a list, in square brackets"

MESSAGES = (
    (r"Unescaped '\\' in a string|Invalid hex value", WINDOWS),
    (r"Cannot overwrite a value", "a field stands twice; leave out one of the two"),
    (r"Unterminated string|Illegal character '\\n'|Illegal character '\\r'|Expected \"'\"", TEXT_ENDS),
    (r"Unclosed array", LISTED),
    (r"Expected '\]+' at the end", SECTIONS),
    (
        r"Invalid initial character for a key part|Unclosed inline table",
        "braces hold { NAME = VALUE, ... } on one line",
    ),
)
"""What the parser says, and what would be right."""

LINES = (
    (r"(//|;|--|%|/\*|<!--|REM\b).*", "a comment begins with #"),
    (r"[\w.\"-]+\s*(=\s*)?\{.*", "braces hold { NAME = VALUE, ... } on one line"),
    (r"[\w.\"-]+\s*:.*", "a value stands behind =, not :"),
    (r"\[?[\w.-]+\]+", SECTIONS),
    (r"[^=]*", "a line is NAME = VALUE, or a section such as [privacy]"),
    (r"[\w-]+( +[\w-]+)+\s*=.*", "a name of several words stands in quotes"),
    (r"=.*", "a name stands before ="),
)
"""Lines, and what would be right."""

VALUES = (
    (r"(?i:true|false|yes|no|on|off)\b.*", "true and false are written in small letters, without quotes"),
    (r"(?i:n/?a)", "a text stands in quotes, and a field of which nothing is stated is left out"),
    (r"(?i:none|null|nil|undefined)", "leave the line out where nothing is stated"),
    (r"", "a value is missing behind ="),
    (r"=.*", "one = stands between a name and its value"),
    (r"[+-]?\d+,\d+", "the decimals of a number stand behind a point: {point}"),
    (r"[+-]?\.\d+", "a digit stands before the point of a number, as in 0.5"),
    (r"[+-]?\d+\.", "a digit stands behind the point of a number, as in 5.0"),
    (r"[+-]?0\d+", "a number does not begin with 0; a text stands in quotes"),
    (r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}.*", 'a date is written "2024-12-31", in quotes'),
    (
        r"[+-]?\d+([ '\u00a0\u202f]\d{3})+(\.\d+)?",
        "a number has no blanks or signs between its digits but _, as in 10_000",
    ),
    (r"\d+(\.\d+)?\s*(%|percent)", "a share is a number such as 0.5"),
    (r"[+-]?\d+\s*/\s*\d+", "a fraction is a number such as 0.5"),
    (r"[+-]?[\d.]+\s*(\.\.|-|:|to)\s*[+-]?[\d.]+", "two ends are a list: [0, 99]"),
    (r"\(.*\)", "a list stands in square brackets: [0, 99]"),
    (r"\{.*\}", "braces hold { NAME = VALUE, ... }; a list stands in square brackets"),
    (r"(\"[^\"]*\"|'[^']*'|[\d.+-]+)\s*[,;]", "nothing stands behind a value but a comment"),
    (r"(\"[^\"]*\"|'[^']*'|[\d.+-]+)(\s*,\s*(\"[^\"]*\"|'[^']*'|[\d.+-]+))+", SEVERAL),
    (r"'.*'.*'", "a text with ' in it stands in double quotes"),
    (r'".*".*"', 'a " within a text is written \\"'),
    (r"\S+\s+[\w-]+\s*=.*", "every field has a line of its own"),
    (r"[\d.eE+-]+\s+\S.*", "a number stands alone behind =; its unit is left out"),
    (r"[^\w\[\"'].*|[\d.]+\D*", VALUE),
)
"""Values, and what would be right."""


def meant(message: str, text: str) -> str:
    """Return what a fault of TOML was probably meant as, to be put behind the parser's message; empty where unknown.

    Args:
        message: of the parser.
        text: of the specification.

    >>> meant("Invalid value (at line 1, column 10)", "header = True")
    '; true and false are written in small letters, without quotes'
    """
    line, column = _line(message, text)
    hint = _section(message, line) or _ruled(message, line)
    if not hint and "Invalid value" in message and (word := re.match(r"[^\W\d][\w-]*", line[column:])):
        hint = f'did you mean "{word[0]}"? A text stands in quotes'
    return f"; {hint}" if hint else ""


def _line(message: str, text: str) -> tuple[str, int]:
    """Return the line that a message is about, and from where on; the last one where the text ends too early."""
    at = POSITION.search(message)
    if at is None:
        lines = text.rstrip().splitlines() or [""]
        return lines[-1], 0
    return (text.splitlines() or [""])[int(at[1]) - 1], int(at[2]) - 1


def _section(message: str, line: str) -> str:
    """Return what is wrong where a section stands twice."""
    if (twice := SECTION.search(message)) is not None:
        if twice[1].startswith("attribute"):
            return "every attribute begins with [[attribute]], in two brackets"
        return f"[{twice[1]}] stands twice; write its fields below one"
    if "Cannot overwrite" in message and line.lstrip().startswith("[["):
        return "every attribute begins with [[attribute]], in two brackets"
    return ""


def _ruled(message: str, line: str) -> str:
    """Return what the first rule says that knows the message or the line."""
    if re.search("[\u2018-\u201f\u00ab\u00bb`]", line) and "Unescaped" not in message:
        return STRAIGHT
    plain = _without_comment(line).strip()
    if hint := _first(MESSAGES, message, whole=False):
        return hint
    if "Expected '='" in message or "Invalid statement" in message:
        return _first(LINES, plain)
    if "=" not in plain:
        return SECTIONS
    value = plain.partition("=")[2].strip()
    return _first(VALUES, value).format(point=value.replace(",", "."))


def _first(rules: tuple[tuple[str, str], ...], text: str, *, whole: bool = True) -> str:
    match = re.fullmatch if whole else re.search
    return next((hint for pattern, hint in rules if match(pattern, text) is not None), "")


def _without_comment(line: str) -> str:
    """Return a line without the comment behind it."""
    kept = re.match(r"""(?:[^#"']|"(?:[^"\\]|\\.)*"|'[^']*')*""", line)
    return line if kept is None or line[kept.end() :][:1] != "#" else kept[0]
