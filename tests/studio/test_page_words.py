"""Refusals and plans in the words of the page: no command, no option."""

import ast
import re
from pathlib import Path

import msgspec
import pytest

import dpress
from dpress.core.basics.refusal import one_line
from dpress.studio import acts, faults
from dpress.studio.draft import Column, Wish
from dpress.studio.page_words import LABELS, in_words

SOURCE = Path(dpress.__file__).parent
ELSEWHERE = {"cli", "service", "audit", "reporting", "studio"}  # which speak to others, or not at all
OF_COMMANDS = re.compile(r"`dpress |\bdpress -|(?<![\w-])--[a-z]")
PAGES = Path(faults.__file__).with_name("pages")


def texts(path):
    """Return the texts of a file that are no docstrings, each with a word where a value would stand."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "3" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


def of_commands():
    """Return every text of the package that names a command or an option, and may come to the page."""
    files = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in ELSEWHERE]
    return sorted({text for path in files for text in texts(path) if "\n" not in text and OF_COMMANDS.search(text)})


def test_every_text_that_names_a_command_has_words_of_the_page():
    assert len(of_commands()) > 15
    assert [text for text in of_commands() if OF_COMMANDS.search(in_words(text))] == []


def test_every_field_is_called_as_on_the_page():
    shown = "".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.js"))
    shown += "".join(field.label for wished in dpress.catalog.wished() for field in wished.fields)
    assert [label for label in LABELS.values() if label not in shown] == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a; state its true `encoding` in [data]", "a; state its true “Encoding” in the first step"),
        ("--period: 2024-01 is published already", "the period: 2024-01 is published already"),
        ("$.privacy.epsilon: see $.data.source", "$.privacy.epsilon: see the file or table"),
        ("expected an integer (at line 3, column 2)", "expected an integer"),
        ("nothing to change - a -- b", "nothing to change - a -- b"),
    ],
)
def test_the_place_stays_and_the_rest_is_the_page_s(line, words):
    assert in_words(line) == words


def test_a_value_without_a_cell_is_at_the_field_that_would_take_it(session):
    columns = [msgspec.structs.replace(column, other="") for column in session.draft.columns]
    session.keep(msgspec.structs.replace(session.draft, columns=columns))
    with pytest.raises(ValueError, match="not in its cells") as refused:
        acts.publish(session, "marginals-1")
    fault = faults.of_refusal(one_line(refused.value), session.draft, "marginals-1")
    assert fault.at == "columns/pet/other"
    assert "fill in “Anything else is counted as”" in fault.line
    assert "`" not in fault.line


def test_a_refusal_comes_to_the_page_in_its_words(client, session):
    columns = [*session.draft.columns, Column(name="when", use=True, kind="date", low="2024-01-01", high="2024-02-29")]
    columns[-1] = msgspec.structs.replace(columns[-1], cells="month")
    wish = Wish(name="visits", kind="histogram", periods="when", attributes=["sex", "when"])
    session.keep(msgspec.structs.replace(session.draft, columns=columns, wishes=[wish]))
    answer = client.post("/wishes/publish", content="visits").json()
    assert "choose one beside the button that publishes it" in answer["detail"]
    assert OF_COMMANDS.search(answer["detail"]) is None
