"""The prompt of a session: keys through prompt_toolkit's pipe and no screen, and the program at a terminal."""

import os
import pty
import select
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from dpress import load_spec
from dpress.cli.completion import COMMANDS, completions, unfinished
from dpress.cli.session_loop import ACTS
from dpress.cli.session_prompt import SpecCompleter, typed_lines

SPEC = load_spec({
    "attribute": [
        {"name": "ward", "kind": "categorical", "values": ["eyes", "ear", "St. Mary's"]},
        {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
        {"name": "length of stay", "kind": "integer", "bounds": [0, 9]},
    ],
    "privacy": {"epsilon": 1},
    "release": {"kind": "histogram"},
})  # fmt: skip
ENTER, ALT_ENTER, END, INTERRUPT = "\r", "\x1b\r", "\x04", "\x03"
START = ("session", "people.toml", "--ledger", "budget.sqlite")
LAST = 1200  # seconds, after which a program at a terminal is given up


@dataclass
class Asked:
    """A session, as far as its prompt asks it."""

    history: tuple = ()
    spec: object = field(default=SPEC)


def typed(*keys: str) -> list[str]:
    """What a session hears of some keys."""
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text("".join((*keys, INTERRUPT, END)))  # so that no fault waits for more
        return [*typed_lines(Asked())]


def test_a_line_is_sent_and_the_end_of_input_ends_it() -> None:
    assert typed("left", ENTER, "select count(*) from v", ENTER) == ["left", "select count(*) from v"]


def test_a_statement_that_goes_on_is_edited_over_several_lines() -> None:
    lines = typed("select ward,", ENTER, "count(", ENTER, "*) from v", ALT_ENTER, "group by ward", ENTER)
    assert lines == ["select ward,\ncount(\n*) from v\ngroup by ward"]


def test_an_empty_line_sends_what_is_not_whole() -> None:
    assert typed("select ward,", ENTER, ENTER, "left", ENTER) == ["select ward,\n", "left"]


def test_what_is_interrupted_is_forgotten() -> None:
    assert typed("select ward", INTERRUPT, "left", ENTER) == ["left"]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("select w", ["ward", "where", "within group (order by"]),
        ("w", ["ward", "where", "within group (order by", "within"]),
        ('select "len', ['"length of stay"']),
        ("where ward = 'St", ["'St. Mary''s'"]),
        ("where ward = '", ["'eyes'", "'ear'", "'St. Mary''s'", "'f'", "'m'"]),
        ("where ward = 'eyes' and sex in ('", ["'f'", "'m'", "'eyes'", "'ear'", "'St. Mary''s'"]),
        ("select zz", []),
        ("select hi", []),
    ],
)  # fmt: skip
def test_words_are_those_of_the_specification(before, words) -> None:
    assert [word.text for word in completions(SPEC, before)] == words
    made = SpecCompleter(SPEC).get_completions(Document(before), CompleteEvent())
    assert [(each.text, -each.start_position) for each in made] == [(word, len(before.split(" ")[-1].split("(")[-1]))
                                                                    for word in words]  # fmt: skip


def test_every_command_is_offered() -> None:
    assert {*COMMANDS} == {*ACTS, "quit"} - {"y", "yes", "n", "no"}


@pytest.mark.parametrize("text", ["select", "select a and", "x in (1, 2", "where a = 'b", 'select "a', "select a,\n"])
def test_what_surely_goes_on_is_not_sent(text) -> None:
    assert unfinished(text)


@pytest.mark.parametrize(
    "text", ["", "y", "within 5 % of 2,000", "select count(*) from v", "select a from v where b = ','"]
)
def test_what_may_be_whole_is_sent(text) -> None:
    assert not unfinished(text)


@dataclass
class Terminal:
    """The end of a terminal at which a program is watched.

    Args:
        place: its file descriptor.
        seen: what was read and not yet looked for.
    """

    place: int
    seen: str = ""

    def until(self, text: str) -> str:
        """What the program writes up to a text."""
        while text not in self.seen:
            assert select.select([self.place], [], [], LAST)[0], self.seen
            self.seen += os.read(self.place, 4096).decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, keys: str) -> None:
        os.write(self.place, keys.encode())


@pytest.mark.slow
def test_the_program_at_a_terminal(tmp_path) -> None:
    """The real program on a terminal: a word is completed, a statement of two lines asked, and asked once more."""
    (tmp_path / "people.toml").write_text(
        '[[attribute]]\nname = "ward"\nkind = "categorical"\nvalues = ["eyes", "ear"]\n[privacy]\nepsilon = 1\n'
    )
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", f"from dpress.cli.main import main; main({[*START]})"]
    environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    terminal = Terminal(ours)
    terminal.until("sql>")
    terminal.type("select wa\t")
    terminal.until("rd")  # what the tabulator adds
    terminal.type(", count(*) from v\x1b\rgroup by ward\r")
    assert "count: +- 14.1" in terminal.until("Nothing is charged yet")
    terminal.until("sql>")
    terminal.type("spend 0.2\r")
    assert "count: +- 7.06" in terminal.until("Nothing is charged yet")
    terminal.until("sql>")
    terminal.type("\x1b[A\x1b[A\r")
    assert "count: +- 14.1" in terminal.until("Nothing is charged yet")
    terminal.until("sql>")
    terminal.type("quit\r")
    terminal.until("it was not accepted")
    assert process.wait(LAST) == 0
    os.close(ours)
