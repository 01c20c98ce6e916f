"""A release that fails anywhere between the charge and the last file is finished by the same call, for nothing.

Steps are enumerated by running: every place in the package that calls anything, from the moment on at which noise is
about to be paid for, until the release is there. At each of them memory, or the disk, is made to end.
"""

import errno
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.seeded.seeded_stream import drawing

import dpress
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded, SchemaMismatch
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.data.specification.spec import from_dict
from dpress.ledger.ledger import Ledger
from dpress.query.load import load_release
from dpress.release.curator import unfinished
from dpress.release.curator.publish import publish
from dpress.release.curator.unfinished import place_of
from dpress.release.plan.plan import plan

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
SOURCE = str(Path(dpress.__file__).parent)
START = "draws"
WRITERS = ("folder.py", "unfinished.py", "store.py", "paid.py")  # where a disk can be full
AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}
WORD = {"name": "word", "kind": "categorical", "values": "discover"}
PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0.0, 1.0], [0.0, 1.0]]}
RELEASES = {
    "histogram": ([AGE, SEX], {"kind": "histogram"}, {}),
    "ranges": ([AGE], {"kind": "ranges"}, {}),
    "statistics": ([AGE, SEX], {"kind": "statistics", "parameters": {"by": ["sex"], "mean": ["age"]}}, {}),
    "names": ([WORD], {"kind": "names", "parameters": {"users": 300}}, {"delta": 1e-4}),
    "microdata": ([AGE, SEX], {"kind": "microdata", "parameters": {"users": 300}}, {}),
    "spatial": ([PLACE], {"kind": "spatial", "parameters": {"users": 100}}, {}),
}
FEW, MANY = 9, 24  # steps of a kind at which something fails


def table(rows=300):
    i = range(rows)
    return pa.table(
        {
            "age": [k * k % 10 for k in i],
            "sex": ["FM"[k % 3 == 0] for k in i],
            "word": ["bread" if k % 3 else "salt" for k in i],
            "lon": [k % 10 / 10 for k in i],
            "lat": [k % 7 / 7 for k in i],
        }
    )


class Steps:
    """Notes every place of the package that calls something once noise is to be paid for, and may fail at one."""

    def __init__(self, at=None, cause=MemoryError):
        self.at, self.cause, self.seen, self.on = at, cause, {}, False

    def __call__(self, frame, event, _argument):
        if event == "call" and frame.f_code.co_name == START and frame.f_code.co_filename == unfinished.__file__:
            self.on = True
        if not self.on or event not in ("call", "c_call") or not frame.f_code.co_filename.startswith(SOURCE):
            return
        step = (frame.f_code.co_filename, frame.f_lineno, event)
        self.seen.setdefault(step, len(self.seen))
        if step == self.at:
            self.on, self.at = False, None
            raise self.cause

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)


class Attempt:
    """One release in a folder of its own, whose noise is named after its kind."""

    def __init__(self, kind, folder):
        attributes, release, privacy = RELEASES[kind]
        self.kind, self.folder = kind, folder
        spec = {"attribute": attributes, "privacy": {"epsilon": 1} | privacy, "release": release}
        self.plan = plan(from_dict(spec))
        pq.write_table(table(), folder / "rows.parquet")

    def ledger(self, name):
        """Return a ledger that can pay once."""
        return Ledger.create(self.folder / f"{name}.db", limit=ApproxDP(epsilon=1, delta=1e-3), unit=Unit())

    def publish(self, name, ledger):
        return publish(self.plan, self.folder / "rows.parquet", out=self.folder / name, ledger=ledger)

    def fails(self, number, step, cause, expected):
        """Fail at a step; publish again, and compare what is there with what would have been."""
        name, out = f"{number}", self.folder / f"{number}"
        ledger = self.ledger(name)
        with drawing(self.kind):
            try:
                with Steps(step, cause):
                    self.publish(name, ledger)
            except (MemoryError, OSError, SchemaMismatch) as error:
                charged = ledger.summary().entries != ()
                noted = " ".join([str(error), *getattr(error, "__notes__", [])])
                assert "finishes it without another" in noted or not charged or out.exists(), step
            else:
                return "not reached"  # what was called once is remembered
        if not out.exists():
            self.publish(name, ledger)  # real randomness now: the noise is that which was kept
        if not charged:
            return "not charged"
        assert load_release(out).kept.tolist() == expected, step
        (entry,) = ledger.summary().entries
        assert entry.confirmed
        return "finished" if not place_of(out).exists() else "left behind"


@pytest.fixture
def attempt(tmp_path):
    return lambda kind: Attempt(kind, tmp_path)


def steps_of(attempt):
    """Return what is published where nothing fails, and every step on the way."""
    with drawing(attempt.kind), Steps() as steps:
        expected = attempt.publish("whole", attempt.ledger("whole")).kept.tolist()
    return expected, [*steps.seen]


def planted(attempt, most):
    expected, steps = steps_of(attempt)
    assert len(steps) > 100
    chosen = steps[:: max(1, len(steps) // most)]
    outcomes = [attempt.fails(number, step, MemoryError, expected) for number, step in enumerate(chosen)]
    full = [step for step in steps if Path(step[0]).name in WRITERS]
    for number, step in enumerate(full[:: max(1, len(full) // (most // 3))], start=len(chosen)):
        outcomes.append(attempt.fails(number, step, OSError(errno.ENOSPC, "No space left on device"), expected))
    return outcomes


@pytest.mark.parametrize("kind", ["histogram", "names"])
def test_what_fails_after_the_charge_is_finished_with_the_same_noise_for_nothing(attempt, kind):
    assert planted(attempt(kind), FEW).count("finished") > FEW // 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ranges", "statistics", "microdata", "spatial"])
def test_what_fails_at_any_step_is_finished(attempt, kind):
    assert planted(attempt(kind), MANY).count("finished") > MANY // 2


def begun(attempt, ledger):
    """Stop a release after its charge, and return the folder that is kept of it."""
    _, steps = steps_of(attempt)
    step = next(step for step in steps if step[0].endswith("folder.py"))
    with pytest.raises(MemoryError), Steps(step):
        attempt.publish("out", ledger)
    return place_of(attempt.folder / "out")


def test_what_is_kept_is_its_owners_alone_and_says_so(attempt):
    histogram = attempt("histogram")
    kept = begun(histogram, histogram.ledger("b"))
    assert {path.stat().st_mode & 0o777 for path in kept.iterdir()} == {0o600}
    assert kept.stat().st_mode & 0o777 == 0o700
    assert "private" in (kept / "PRIVATE.txt").read_text()


def test_other_rows_and_another_design_never_get_the_noise_that_is_kept(attempt):
    histogram = attempt("histogram")
    ledger = histogram.ledger("b")
    kept = begun(histogram, ledger)
    planned, histogram.plan = histogram.plan, Attempt("ranges", histogram.folder).plan
    with pytest.raises(OSError, match="begun with another design, and may have been charged"):
        histogram.publish("out", ledger)
    histogram.plan = planned
    pq.write_table(table(301), histogram.folder / "rows.parquet")
    with pytest.raises(OSError, match=rf"begun with other rows, .*: delete {kept} to begin anew, for another charge"):
        histogram.publish("out", ledger)
    assert not (histogram.folder / "out").exists()
    for path in kept.iterdir():
        path.unlink()
    kept.rmdir()
    with pytest.raises(BudgetExceeded):
        histogram.publish("out", ledger)
    assert not kept.exists()


def test_a_file_that_is_named_from_another_folder_is_the_same_file(attempt, monkeypatch):
    histogram = attempt("histogram")
    ledger = histogram.ledger("b")
    kept = begun(histogram, ledger)
    monkeypatch.chdir(histogram.folder)
    assert publish(histogram.plan, "rows.parquet", out="out", ledger=ledger).kept.size == 20
    assert not kept.exists()
    assert ledger.summary().spent["epsilon"] == 1


def test_what_a_killed_process_left_half_written_is_deleted_with_what_was_kept(attempt):
    histogram = attempt("histogram")
    ledger = histogram.ledger("b")
    kept = begun(histogram, ledger)
    half, another = (kept.with_name(name) for name in (".out.writing-0a1b2c3d", ".out.database"))
    for folder in (half, another):
        folder.mkdir()
        (folder / "answers.parquet").touch()
    histogram.publish("out", ledger)
    assert (half.exists(), another.exists(), kept.exists()) == (False, True, False)


def test_a_ticket_of_another_charge_pays_nothing(attempt):
    histogram = attempt("histogram")
    kept = begun(histogram, histogram.ledger("b"))
    other = Ledger.create(histogram.folder / "c.db", limit=ApproxDP(epsilon=1, delta=1e-3), unit=Unit())
    ticket = json.loads((kept / "draw.json").read_text())["ticket"]
    other.reserve(PureDP(epsilon=0.5), Unit(), label="another", design="x", ticket=ticket)
    with pytest.raises(ValueError, match="paid for another release"):
        histogram.publish("out", other)


def test_what_is_kept_of_a_release_that_is_there_is_deleted_with_the_next(attempt):
    histogram = attempt("histogram")
    histogram.publish("out", None)
    left = place_of(histogram.folder / "out")
    left.mkdir()
    histogram.publish("next", None)
    assert not left.exists()
