"""The estimate while reports arrive is that of `dpress estimate`, whatever arrives when, twice, or not at all."""

import re
from html import unescape

import numpy as np
import pytest
from tests.service.pages.collections_of import SPECS, designed, packed, people

from dpress.core.reports.wire import ID_BYTES
from dpress.data.stored.report_store import Upload
from dpress.data.stored.store_url import open_store
from dpress.query.published_tables import PublishedTable
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import next_design
from dpress.reporting.page import page
from dpress.service.live import NOTHING, grown, release_so_far
from dpress.service.live_figures import figures
from dpress.service.served import Collections

USERS = 3000


class Store:
    """A store with one collection, and what was read of it so far."""

    def __init__(self, folder, design):
        self.url = f"sqlite:///{folder}/reports.db"
        self.store = open_store(self.url, create=True)
        self.served = Collections(self.store).add(design)
        self.sums = NOTHING

    def add(self, reports, together=250):
        pieces = [reports[start : start + together] for start in range(0, len(reports), together)]
        place = self.served.round.place
        self.store.add([Upload(place=place, reports=len(one), body=b"".join(one)) for one in pieces], {})

    def look(self):
        self.sums = grown(self.sums, self.store, self.served.round.place, self.served.intake)
        return release_so_far(self.sums, self.served.design, self.served.intake)


@pytest.fixture
def stored(tmp_path):
    return lambda design: Store(tmp_path, design)


@pytest.mark.parametrize("kind", ["tables", "joint", "maps"])
def test_what_arrives_piece_by_piece_gives_the_release_of_all(kind, stored, tmp_path):
    own = stored(designed(kind))
    reports = packed(own.served.design, people(kind, USERS), tmp_path)
    for end in (400, 1700, USERS):
        own.add(reports[own.sums.ids.size : end])
        live = own.look()
    whole = estimate(own.served.design, own.url)
    assert live.users == whole.users == USERS
    assert np.array_equal(live.kept, whole.kept[: live.kept.size])
    fitted = {"remarks": None} if live.detail == whole.detail else {"remarks": None, "opening": None}
    assert figures(live) | fitted == figures(whole) | fitted


@pytest.mark.parametrize("kind", [*SPECS])
def test_what_was_found_so_far_stands_in_the_sentences_of_the_report(kind, stored, tmp_path):
    own = stored(designed(kind))
    own.add(packed(own.served.design, people(kind, USERS), tmp_path))
    live = own.look()
    shown = figures(live)["opening"]
    assert shown[0] == f"{live.users:,} people reported."
    assert len(shown) > 1
    report = unescape(page(estimate(own.served.design, own.url)))
    assert (" ".join(shown) in report) == (kind != "joint")  # which is fitted only when it is released
    assert " ".join(shown[:2]) in report


def test_too_few_reports_for_an_opening_are_no_fault(stored, tmp_path):
    own = stored(designed("gaps"))
    own.add(packed(own.served.design, people("gaps", 12), tmp_path))
    (reported, age, sex) = figures(own.look())["opening"]
    assert reported == "12 people reported."
    assert re.match(r"The (median of|noise hides the median of) Age", age)
    assert re.search(r"the noise hides which group is the largest, and (none is|[12] of 4 (is|are)) told", sex)


@pytest.mark.parametrize("kind", ["tables", "joint", "maps"])
def test_the_figures_are_those_of_the_tables_that_a_release_writes(kind, stored, tmp_path):
    own = stored(designed(kind))
    own.add(packed(own.served.design, people(kind, USERS), tmp_path))
    parts = estimate(own.served.design, own.url).answers.by_attributes()
    written = {axes: one.table() for axes, one in parts if isinstance(one, PublishedTable)}
    compared = 0
    for shown in figures(own.look())["tables"]:
        if (table := written.get(tuple(shown["axes"]))) is not None:
            compared += 1
            for name in ("count", "low", "high"):
                assert np.allclose(shown[name], table[name], atol=0.001), name
    assert compared == len(written)


def test_an_attribute_of_a_pair_is_as_a_query_answers_it(stored, tmp_path):
    own = stored(designed("joint"))
    own.add(packed(own.served.design, people("joint", USERS), tmp_path))
    age, *_ = figures(own.look())["tables"]
    whole = estimate(own.served.design, own.url)
    for cell, label in enumerate(whole.schema.attribute("age").labels):
        answer = whole.query(f"age = {label}" if ".." not in label else f"age in {label}")
        expected = (answer.value, *answer.interval)
        assert (age["count"][cell], age["low"][cell], age["high"][cell]) == pytest.approx(expected, abs=0.001)


def test_reports_that_arrive_again_or_belong_elsewhere_are_counted_as_estimate_counts_them(stored, tmp_path):
    own = stored(designed("tables"))
    reports = packed(own.served.design, people("tables", USERS), tmp_path)
    elsewhere = [b"\x96\x02\xc4\x10" + bytes(16) + one[20:] for one in reports[:7]]
    own.add([*reports[:1000], *reports[300:400]])
    own.look()
    own.add([*reports[900:], *elsewhere, *reports[5:15]])
    live, whole = own.look(), estimate(own.served.design, own.url)
    assert live.rejected == whole.rejected == {"another collection": 7, "repeated": 210}
    assert figures(live) == figures(whole)


def test_ids_with_the_same_first_half_count_once(stored, tmp_path):
    own = stored(designed("tables"))
    reports = packed(own.served.design, people("tables", USERS), tmp_path)
    own.add([*reports, *reports[:200]])
    true = figures(own.look())
    own.sums = NOTHING
    other = [
        one[:22] + bytes(range(ID_BYTES - 1)) + bytes([place]) + one[38:] for place, one in enumerate(reports[:200])
    ]
    own.add(other, together=1)
    assert own.look().rejected["repeated"] == 200 + 199  # the same first half is taken for the same id
    assert figures(own.look()) != true


def test_nothing_is_read_twice_and_a_new_process_comes_to_the_same(stored, tmp_path, monkeypatch):
    own = stored(designed("tables"))
    reports = packed(own.served.design, people("tables", USERS), tmp_path)
    own.add(reports[:2000])
    own.look()
    read = []
    bodies = own.store.bodies
    monkeypatch.setattr(own.store, "bodies", lambda place, keys: read.extend(keys) or bodies(place, keys))
    own.add(reports[2000:])
    live = figures(own.look())
    assert len(read) == 4
    before = own.sums
    own.look()
    assert own.sums is before
    own.sums = NOTHING
    assert figures(own.look()) == live


def test_a_store_that_fails_midway_loses_nothing(stored, tmp_path, monkeypatch):
    own = stored(designed("tables"))
    reports = packed(own.served.design, people("tables", USERS), tmp_path)
    own.add(reports)

    def broken(place, keys):
        yield from own.store.bodies(place, keys[:3])
        raise OSError("gone")

    with monkeypatch.context() as patch:
        patch.setattr("dpress.service.live.TOGETHER", 1)
        store = type("Broken", (), {"keys": own.store.keys, "bodies": staticmethod(broken)})()
        with pytest.raises(OSError, match="gone"):
            grown(own.sums, store, 0, own.served.intake)
    assert figures(own.look()) == figures(estimate(own.served.design, own.url))


def test_without_reports_there_is_a_reason_and_no_figure(stored, tmp_path):
    own = stored(designed("tables"))
    with pytest.raises(ValueError, match="there are no reports"):
        own.look()
    own.add(packed(own.served.design, people("tables", 1), tmp_path))
    with pytest.raises(ValueError, match=r"no report is about '(age|sex)'"):
        own.look()


@pytest.mark.slow
def test_a_later_round_shows_all_rounds_so_far(stored, tmp_path):
    own = stored(designed("rounds"))
    rows = people("rounds", 20000)
    own.add(packed(own.served.design, rows, tmp_path))
    first = own.look()
    own.served = Collections(own.store).add(next_design(first))
    own.sums = NOTHING
    own.add(packed(own.served.design, rows, tmp_path, seed=6))
    live, whole = own.look(), estimate(own.served.design, own.url)
    assert live.users == whole.users > first.users
    assert figures(live) == figures(whole)
    assert figures(live)["before"] == first.users


def test_a_map_with_many_cells_is_shown_in_fewer_that_add_up(stored, tmp_path, monkeypatch):
    own = stored(designed("maps"))
    own.add(packed(own.served.design, people("maps", USERS), tmp_path))
    fine = figures(own.look())["tables"][0]
    side = int(len(fine["count"]) ** 0.5)
    monkeypatch.setattr("dpress.service.live_figures.MOST_CELLS", (side // 2) ** 2)
    coarse = figures(own.look())["tables"][0]
    blocks = np.array(fine["count"]).reshape(side // 2, 2, side // 2, 2).sum(axis=(1, 3))
    assert np.allclose(blocks.ravel(), coarse["count"], atol=0.01)
    assert np.less(coarse["low"], coarse["high"]).all()


def test_tables_with_too_many_cells_are_left_to_the_release(stored, tmp_path, monkeypatch):
    own = stored(designed("joint"))
    own.add(packed(own.served.design, people("joint", USERS), tmp_path))
    monkeypatch.setattr("dpress.service.live_figures.MOST_CELLS", 10)
    found = figures(own.look())
    assert [one["axes"] for one in found["tables"]] == [["age"], ["sex"], ["other"], ["sex", "other"]]
    assert found["remarks"][:2] == [
        "The release has the table of age and sex, too.",
        "The release has the table of age and other, too.",
    ]


def test_what_was_deleted_is_no_longer_in_the_sums(stored, tmp_path):
    own = stored(designed("tables"))
    reports = packed(own.served.design, people("tables", 900), tmp_path)
    own.add(reports[:600])
    assert own.look().users == 600
    own.store.expire([own.served.round.place])
    with pytest.raises(ValueError, match="there are no reports"):
        own.look()
    own.store.delete([own.served.round.place])
    own.served = Collections(own.store).add(own.served.design)
    own.add(reports[600:])
    assert (own.served.round.place, own.look().users) == (0, 300)  # the same place, and nothing of before
