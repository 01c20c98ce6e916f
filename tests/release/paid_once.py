"""A curator, several processes, and whatever happens to folders and ledgers: what is seen was paid, each by itself.

What is provable depends on what is left. A ledger that was put back to an older copy knows nothing of what was charged
since: that is found where a release or a series beside the new one keeps its head, and nowhere else. So every file of a
ledger has a history here, which goes back with it; what lies in sight of a new release must be in the ledger.
"""

import functools
import json
import shutil
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.release.paid_draws import KINDS, MONTHS, ROWS, Draw, by_months, chain, planned, single, worst

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded, NotSupported, SchemaMismatch
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.rng import seeded
from dpress.ledger import ledger as ledgers
from dpress.ledger.ledger import Ledger
from dpress.query import folder as folders
from dpress.query import release as releases
from dpress.release.curator import paid
from dpress.release.curator import private_cap as caps
from dpress.release.curator import publish as whole
from dpress.release.periods import publish_period as periods
from dpress.release.periods.series import load_series

POINTS = ("counted", "charged", "drawn", "confirmed", "written", "kept")
REFUSED = (BudgetExceeded, NotSupported, OSError, SchemaMismatch, ValueError)


class Curator(RuleBasedStateMachine):
    """All that draws, while folders and ledgers are deleted, copied, moved and put back, and processes are killed."""

    person = False
    counters = ("separate", "tree", "smooth")

    def __init__(self):
        super().__init__()
        self.place, self.rng, self.time, self.names = Path(tempfile.mkdtemp()), seeded(1), 0, 0
        self.unit = Unit(column="uid") if self.person else Unit()
        self.using, self.at, self.patches = [], None, []
        for room in "ab":
            (self.place / room).mkdir()
        self.histories, self.kept_books, self.kept_folders, self.payers = {}, [], [], {}
        self.seen = Counter()
        self._patch(paid.Account, "opened", "counted", first=True)
        self._patch(Ledger, "reserve", "charged")
        self._patch(paid, "_drawn", "drawn")
        self._patch(Ledger, "spend", "confirmed")
        self._patch(folders, "_write_files", "written")
        self._patch(periods, "keep", "kept", first=True)
        self._replace(releases, "write_folder", self._writing(folders.write_folder))
        for module in (whole, paid, ledgers):
            self._replace(module, "now", lambda: f"{2024 + self.time}-01-01T00:00:00.000+00:00")
        self._replace(periods, "plan", planned)

    def _replace(self, where, name, new):
        patch = mock.patch.object(where, name, new)
        patch.start()
        self.patches.append(patch)

    def _patch(self, where, name, point, *, first=False):
        real = getattr(where, name)

        def wrapped(*args, **options):
            if first:
                self._reached(point)
            found = real(*args, **options)
            if not first:
                self._reached(point)
            return found

        self._replace(where, name, wrapped)

    def _writing(self, real):
        def wrapped(path, *args, **options):
            found = real(path, *args, **options)
            self._see(Path(path))
            return found

        return wrapped

    def _reached(self, point):
        if self.at is not None and self.at[0] == point:
            (_, happens), self.at = self.at, None
            happens()

    def _see(self, path):
        """Note what a new folder shows, whatever any ledger says of it."""
        spec, manifest = path.parent / "series.json", json.loads((path / "release.json").read_text())
        series = json.loads(spec.read_text())["id"] if spec.exists() else ""
        first, _, last = path.name.partition("_to_")
        months = MONTHS[MONTHS.index(first) : MONTHS.index(last or first) + 1] if series else []
        self._note(Draw(series=series, months=frozenset(months), epsilon=Fraction(manifest["charged"]["epsilon"])))

    def _note(self, draw):
        book, in_sight = self.using[-1]
        self.seen["drawn"] += 1
        if book is not None:
            self.payers[draw.series] = book
            assert in_sight <= {*chain(book)}, "drawn though the ledger lacks what lies beside: an older copy of it"
            self.histories[book].append(draw)

    def attempt(self, act, book, in_sight, happens=None):
        """Do what draws; it may be refused, or killed, or another process may come between."""
        self.using.append((book, in_sight))
        self.at = happens
        try:
            act()
            self.seen["done"] += 1
        except KeyboardInterrupt:
            self.seen["killed"] += 1
        except REFUSED as error:
            self.seen["refused"] += 1
            self.seen["older copy"] += "rows were cut off or rewritten" in str(error)
        finally:
            self.using.pop()
            self.at = None
        for path, history in self.histories.items():
            found = Ledger.open(path).summary()
            assert sum(one.confirmed for one in found.entries) >= len(history), "drawn twice, and paid once"
            assert found.limit.epsilon >= found.spent["epsilon"] >= worst(history, self.person), "paid too little"

    def heads(self, places):
        """Return the heads that some descriptions keep."""
        plain = [json.loads(path.read_text()) for path in places]
        return {one["ledger_head"]: one.get("ledger") for one in plain if one.get("ledger_head")}

    def beside(self, room, book):
        kept = self.heads([*room.glob("*/release.json"), *room.glob("*/series.json")])
        return {head for head, first in kept.items() if book is not None and first == chain(book)[0]}

    def within(self, folder):
        return set(self.heads([*folder.rglob("release.json"), *folder.glob("series.json")]))

    def books(self):
        return sorted(self.histories)

    def fresh(self, name):
        self.names += 1
        return f"{name}{self.names}"

    def series(self):
        return sorted(path.parent for path in self.place.glob("?/*/series.json"))

    def happening(self, draw, book):
        """Return what comes between two steps: nothing, a kill, or another process that uses the same ledger.

        The clock may have gone backwards, or far ahead.
        """
        self.time = draw(st.integers(-3, 3))
        what = draw(st.sampled_from(["nothing", "nothing", "kill", "process", "period"]))
        if what == "nothing":
            return None
        point, there = draw(st.sampled_from(POINTS)), self.series()
        if what == "kill":
            return point, self._killed
        if what == "process" or not there:
            return point, lambda: self._single("histogram", self.place / "b", book)
        return point, lambda: self._period(there[0], MONTHS[len(load_series(there[0]).periods) % 4], book, "tree")

    @staticmethod
    def _killed():
        raise KeyboardInterrupt

    def _single(self, kind, room, book, happens=None):
        asked = single(kind, person=self.person)
        out = room / self.fresh("release")
        publish = functools.partial(whole.publish, asked, ROWS, out=out, ledger=book, rng=self.rng)
        self.attempt(publish, book, self.beside(room, book), happens)

    def _period(self, folder, month, book, counter, happens=None):
        if (folder / "series.json").exists():
            counter = load_series(folder).calendar.counter
        spec = by_months(counter, person=self.person)
        remembered = self.within(folder)
        before = set(folder.glob("*/release.json"))

        def publish():
            periods.publish_period(spec, month, ROWS, out=folder, ledger=book, rng=self.rng)

        self.attempt(publish, book, remembered, happens)
        if book is None and (new := set(folder.glob("*/release.json")) - before):
            assert not remembered, "drawn without the ledger that paid for the rest"
            series = load_series(folder)
            assert {path.parent.name for path in new} <= {series.calendar.folder(one) for one in series.unguarded}

    @initialize(limit=st.sampled_from([1, 4, 9]))
    def begin(self, limit):
        """There is one ledger."""
        self.book("1", limit)

    def book(self, name, limit):
        path = self.place / f"{name}.db"
        Ledger.create(path, limit=ApproxDP(epsilon=limit, delta=0.5), unit=self.unit)
        self.histories[path] = []

    @rule(data=st.data(), kind=st.sampled_from(sorted(KINDS)), room=st.sampled_from("ab"))
    def publish(self, data, kind, room):
        """Publish all rows."""
        book = data.draw(st.sampled_from(self.books()))
        self._single(kind, self.place / room, book, self.happening(data.draw, book))

    @rule(data=st.data(), room=st.sampled_from("ab"), guarded=st.sampled_from([True, True, True, False]))
    def add(self, data, room, guarded):
        """Begin a series, or add a period to one: mostly the next one."""
        there = self.series()
        new = self.place / room / self.fresh("series")
        folder = data.draw(st.sampled_from([*there, *there, new]))
        done = len(load_series(folder).periods) if folder in there else 0
        month = MONTHS[min(done, 3)] if data.draw(st.integers(0, 3)) else data.draw(st.sampled_from(MONTHS))
        book = self.payer(data.draw, folder) if guarded else None
        counter = data.draw(st.sampled_from(self.counters))
        self._period(folder, month, book, counter, self.happening(data.draw, book))

    def payer(self, draw, folder):
        """Return mostly the ledger that paid last for a series."""
        last = self.payers.get(load_series(folder).id) if (folder / "series.json").exists() else None
        return draw(st.sampled_from([*[last] * (3 if last else 0), *self.books()]))

    @precondition(lambda self: self.series())
    @rule(data=st.data(), again=st.booleans())
    def delete_the_newest(self, data, again):
        """A folder of a span is deleted, mostly the newest; and perhaps it is published again at once."""
        folder = data.draw(st.sampled_from(self.series()))
        spans = sorted(folder.glob("*/release.json"), key=lambda path: path.parent.name[-7:])
        if spans:
            newest = data.draw(st.sampled_from([spans[-1], spans[-1], *spans])).parent
            shutil.rmtree(newest)
            if again:
                book = self.payer(data.draw, folder)
                self._period(folder, newest.name[-7:], book, "", self.happening(data.draw, book))

    @precondition(lambda self: self.series())
    @rule(data=st.data(), room=st.sampled_from("ab"), what=st.sampled_from(["copy", "keep", "put back", "move"]))
    def handle(self, data, room, what):
        """A series is copied to go on twice, kept, put back as it was, or moved."""
        if what == "put back" and self.kept_folders:
            copy, folder = data.draw(st.sampled_from(self.kept_folders))
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(copy, folder)
            return
        folder, target = data.draw(st.sampled_from(self.series())), self.place / room / self.fresh("series")
        if what == "move":
            folder.rename(target)
        else:
            target = target if what == "copy" else self.place / self.fresh("kept")
            shutil.copytree(folder, target)
            self.kept_folders += [(target, folder)] if what == "keep" else []

    @rule(data=st.data(), what=st.sampled_from(["copy", "keep", "keep", "put back", "put back", "new"]))
    def handle_books(self, data, what):
        """A ledger is copied, kept or put back; or there is another one."""
        book = data.draw(st.sampled_from(self.books()))
        target = self.place / f"{self.fresh('book')}.{'kept' if what == 'keep' else 'db'}"
        if what == "new" and len(self.histories) < 4:
            self.book(self.fresh("new"), 3)
        elif what == "put back" and self.kept_books:
            copy, target, history = data.draw(st.sampled_from(self.kept_books))
            shutil.copy(copy, target)
            self.histories[target] = [*history]
        elif what in ("copy", "keep"):
            shutil.copy(book, target)
            if what == "keep":
                self.kept_books.append((target, book, [*self.histories[book]]))
            else:
                self.histories[target] = [*self.histories[book]]

    def teardown(self):
        """Leave nothing behind."""
        for patch in reversed(self.patches):
            patch.stop()
        shutil.rmtree(self.place)
        TOTALS.update(self.seen)


TOTALS: Counter = Counter()


class CuratorOfPersons(Curator):
    """The same where persons are protected, and how many rows one keeps may be chosen for a price."""

    person = True
    counters = ("separate",)

    @rule(data=st.data())
    def choose_a_cap(self, data):
        """Choose how many rows a person keeps."""
        spec, book = single("histogram", person=True).spec, data.draw(st.sampled_from(self.books()))

        def choose():
            caps.private_cap(spec, ROWS, epsilon=0.25, largest=5, ledger=book, rng=self.rng)
            self._note(Draw(series="", months=frozenset(), epsilon=Fraction("0.25")))

        self.attempt(choose, book, set(), self.happening(data.draw, book))
