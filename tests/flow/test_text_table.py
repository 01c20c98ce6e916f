"""A table in a pipe is what rich prints there, though rich is not loaded; progress is rich's once it is shown."""

import contextlib
import io
import itertools
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from dpress.cli import output, text_table

CELLS = st.text(alphabet="ab c[/]:x1,.%'\\", max_size=9)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=5),
        st.sets(st.integers(0, width - 1)),
    )
)
HEADER, ROWS = ("query", "count"), [("age in 30..40", "1,024"), ("total", "7")]


def by_rich(header: list[str], rows: list[list[str]], numbers: tuple[int, ...]) -> str:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    text = io.StringIO()
    console = Console(highlight=False, markup=False, emoji=False, file=text, width=text_table.WIDEST)
    console.print(table)
    return text.getvalue()


@given(TABLES)
def test_a_plain_table_is_that_of_rich(table: tuple[list[list[str]], set[int]]) -> None:
    (header, *rows), numbers = table
    found = text_table.render(header, rows, tuple(numbers))
    if all(any(cells) for cells in zip(header, *rows, strict=True)):
        assert found == by_rich(header, rows, tuple(numbers))
    else:
        assert found is None


@pytest.mark.parametrize("cell", ["Zürich", "東京", "two\nlines", "tab\t", "\x1b[1m", "x" * 1001])
def test_what_is_not_plain_is_left_to_rich(cell: str) -> None:
    assert text_table.render(("city",), [(cell,)], ()) is None


def test_a_terminal_gets_the_same_words_from_rich(capsys, monkeypatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    output.print_table(HEADER, ROWS, numbers=(1,))
    plain = capsys.readouterr().out
    monkeypatch.setattr(output, "_styled", lambda: True)
    output.print_table(HEADER, ROWS, numbers=(1,))
    styled = capsys.readouterr().out
    assert plain == "query          count\nage in 30..40  1,024\ntotal              7\n"
    assert styled == plain


def test_names_between_colons_are_no_emoji(capsys, monkeypatch) -> None:
    monkeypatch.setattr(output, "_styled", lambda: True)
    output.print_table(HEADER, [("code = :x:", "1")])
    assert ":x:" in capsys.readouterr().out


def test_progress_is_shown_once_it_takes_long(capsys, monkeypatch) -> None:
    with output.counting(quiet=False) as show:
        show(3)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "PATIENCE", -1.0)
    started = time.monotonic
    monkeypatch.setattr(output.time, "monotonic", lambda: started() - 3600)
    with output.counting(quiet=False) as show:
        monkeypatch.undo()
        show(3_000)
        show(4_000, "wrote {:,} rows")
    shown = capsys.readouterr().err
    assert "wrote 4,000 rows" in shown
    assert "1:00:0" in shown  # since the start, not since it is shown


def test_the_time_that_is_left_is_shown_where_the_rows_are_stated(capsys, monkeypatch) -> None:
    monkeypatch.setattr(output, "PATIENCE", -1.0)
    times = itertools.count(100.0, 10.0)
    pace = output.Pace(10_000)
    assert [pace.left(done, next(times)) for done in (4_000, 5_000, 9_000, 2_000)] == [
        " of 10,000",
        " of 10,000, about 50 s left",
        " of 10,000, about 4 s left",
        " of 10,000",  # read once more
    ]
    with output.counting(quiet=False, total=lambda: 9_000) as show:
        show(3_000)
    assert "counted 3,000 rows of 9,000" in capsys.readouterr().err


def test_work_that_counts_nothing_is_shown_once_it_takes_long(capsys, monkeypatch) -> None:
    monkeypatch.setattr(output.sys.stderr, "isatty", lambda: True)
    with output.working("comparing", quiet=False):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "PATIENCE", 0.01)
    with output.working("comparing", quiet=True):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    shown, bar = threading.Event(), output._bar
    monkeypatch.setattr(output, "_bar", lambda started: _told(bar(started), shown))
    with pytest.raises(ValueError, match="refused"), output.working("comparing", quiet=False):  # noqa: PT012
        assert shown.wait(60)
        raise ValueError("refused")
    assert "comparing" in capsys.readouterr().err
    monkeypatch.setattr(output.sys.stderr, "isatty", lambda: False)
    with output.working("comparing", quiet=False):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]


@contextlib.contextmanager
def _told(bar, shown):
    with bar as update:
        yield lambda text: (update(text), shown.set())
