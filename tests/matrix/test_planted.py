"""Faults that the matrix has to find, planted again one by one; each is a kind of fault that lay between two parts."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.matrix import cases
from tests.matrix.axes import AXES
from tests.matrix.whole import verdict

from dpress.data import count_names
from dpress.inference.suppression import Display
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata.dp_prototypes import DpPrototypes
from dpress.mechanisms.microdata.graphical import Graphical
from dpress.query import folder, table_answers
from dpress.reporting import charts

UNGUARDED = """
import sys
from dpress.cli.main import main
from dpress.reporting import charts
charts._drawable = lambda plain: plain
main(sys.argv[1:])
"""
PLAIN = {axis: values[0] for axis, values in AXES.items()}
pytestmark = pytest.mark.slow


@pytest.fixture
def wrong(tmp_path):
    """What is wrong with a case that differs from the plainest in some values, in a line."""
    return lambda **case: " ".join(verdict(PLAIN | case, tmp_path / "case").wrong)


def test_names_that_depend_on_what_holds_them_are_found(wrong, monkeypatch):
    """A missing value makes another type of a pandas column; here names tell it."""
    texts_of = count_names.texts_of

    def of_its_type(name, batch):
        held = pa.scalar(f" {batch.schema.field(name).type}"[:4], pa.large_string())
        return pc.binary_join_element_wise(texts_of(name, batch), held, pa.scalar("", pa.large_string()))

    monkeypatch.setattr(count_names, "texts_of", of_its_type)
    found = wrong(room="names", column="any truths", missing="cell", loss="delta")
    assert "more names changed than one unit's rows can change" in found


def test_adjusted_counts_of_nobody_are_found(wrong, monkeypatch):
    """A curator's 0 users are taken for a public total of none."""
    adjust = table_answers.adjust
    monkeypatch.setattr(table_answers, "adjust", lambda *given, **more: adjust(*given, **more | {"users": 0}))
    found = wrong(room="ranges", column="integer", adjusted="top down")
    assert "adjusted counts add up to 0.0" in found
    assert "from the counts" in found


@pytest.mark.parametrize(
    ("where", "weaker"), [("another column", "score >= 0"), ("an attribute", "x in (North, East, South)")]
)
def test_rows_that_a_condition_leaves_out_and_that_are_counted_are_found(where, weaker, wrong, monkeypatch):
    """A condition that holds of some rows that it must not hold of."""
    monkeypatch.setattr(cases, "where_of", lambda _: weaker)
    assert "total" in wrong(room="histogram", where=where)


@pytest.mark.parametrize("method", ["dp_prototypes", "graphical"])
def test_records_that_are_too_many_are_found(method, wrong, monkeypatch):
    """As many records as `users` says where rows are few, or the like."""
    for mechanism in (DpPrototypes, Graphical):
        monkeypatch.setattr(mechanism, "release", twenty_times(mechanism.release))
    assert "records, of 4 rows" in wrong(room="microdata", method=method, beside="integer", missing="drop", rows=4)


def twenty_times(release):
    """A method whose records are there twenty times."""

    def more(self, rows, *, rng):
        found = release(self, rows, rng=rng)
        codes = np.tile(found.codes, (1, 20))
        return type(found)(**{name: getattr(found, name) for name in found.__dataclass_fields__} | {"codes": codes})

    return more


def test_values_in_the_expressions_of_a_chart_are_found(wrong, monkeypatch):
    """The labels of an axis become a part of a program."""

    def as_program(parameter):
        return f"({json.dumps(dict(enumerate(map(str, parameter.param.value))))})[datum.value]"

    monkeypatch.setattr(charts, "label_of", as_program, raising=False)
    assert "Vega-Lite" in wrong(room="histogram", column="nasty", read="page", budget="small")


def test_a_byte_that_ends_the_process_is_found(tmp_path, wrong):
    """The page of a release with a byte of zero in a value is drawn by a process of its own, which dies."""
    wrong(room="histogram", column="nul", budget="small")
    out = tmp_path / "case" / "run" / "out"
    arguments = [sys.executable, "-c", UNGUARDED, "report", str(out), "--out", str(tmp_path / "page.html")]
    assert subprocess.run(arguments, capture_output=True, check=False).returncode < 0


SENSITIVITIES = vars(MatrixMechanism)["_sensitivities"].func  # of all parts, before a fault is planted


def test_a_sensitivity_that_is_too_small_is_found(wrong, monkeypatch):
    """Half of what a unit changes: the noise is half as much, while the claim stays."""
    halves = property(lambda self: tuple(each / 2 for each in SENSITIVITIES(self)))
    monkeypatch.setattr(MatrixMechanism, "_sensitivities", halves)
    assert "with the same noise they differ by a loss of" in wrong(room="histogram", unit="person of three")


def test_a_relation_that_is_forgotten_is_found(wrong, monkeypatch):
    """A replaced row counts as one that is added: then two cells change for the price of one."""

    def of_one(self):
        least = 2 if self.unit.relation.value == "replace-one" else 1
        return tuple(each / least for each in SENSITIVITIES(self))

    monkeypatch.setattr(MatrixMechanism, "_sensitivities", property(of_one))
    assert "with the same noise they differ by a loss of" in wrong(room="histogram", relation="replace-one")


def test_a_copy_that_rounds_is_found(wrong, monkeypatch):
    """A copy as CSV that rounds what it holds."""
    as_written = folder.as_written

    def rounded(place, batch, *titles):
        found = as_written(place, batch, *titles)
        at = found.schema.get_field_index("count")
        if at < 0 or place.suffix != ".csv":
            return found
        return found.set_column(at, "count", pc.round(pc.add(found.column(at), 0.4)))

    monkeypatch.setattr(folder, "as_written", rounded)
    assert "in the copy of x.parquet as CSV" in wrong(room="ranges", column="integer", budget="small")


@pytest.mark.parametrize(
    ("shown", "fault", "message"),
    [
        (
            "hide",
            {"hidden": lambda _, value, *_more, **_words: np.zeros(value.shape, dtype=bool)},
            "that is to be hidden",
        ),
        ("round", {"rounded": lambda _, counts: counts}, "in the copy of x.parquet as CSV"),
    ],
)
def test_numbers_that_are_not_shown_as_stated_are_found(shown, fault, message, wrong, monkeypatch):
    """A rule that hides nothing, and a base to which nothing is rounded."""
    for name, planted in fault.items():
        monkeypatch.setattr(Display, name, planted)
    assert message in wrong(room="histogram", shown=shown, budget="small", rows=4)
