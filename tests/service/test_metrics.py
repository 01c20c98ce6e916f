"""What whoever runs a service watches: names, meanings, sums that fit, and lines when something fails."""

import io
import json
import re
from pathlib import Path

import pytest
from tests.service.served import TYPE, changed, numbered, reports

from dpress.data.stored.sqlite_store import SqliteStore
from dpress.service.histogram import BOUNDS, Histogram
from dpress.service.outages import KEEPING, LOOKING, Outages

DEPLOY = Path(__file__).parents[2] / "deploy"
SAMPLE = re.compile(r'(dpress_\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\d+(?:\.\d+)?(?:e-?\d+)?)')
SUFFIXES = re.compile(r"_(bucket|sum|count)$")


def read(text):
    """Return kinds by name and values by name and labels, of the text format; what is not of it is an error."""
    kinds, meanings, values = {}, {}, {}
    for line in text.splitlines():
        word, name, rest = [*line.removeprefix("# ").split(" ", 2), "", ""][:3]
        if word == "HELP":
            meanings[name] = rest
        elif word == "TYPE":
            assert meanings[name].endswith("."), name
            assert name not in kinds, name
            kinds[name] = rest
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            name, labels, value = found.groups()
            family = SUFFIXES.sub("", name) if name not in kinds else name
            assert kinds[family] in ("gauge", "counter", "histogram")
            assert (kinds[family] == "counter") == family.endswith("_total"), family
            assert (name, labels or "") not in values, line
            values[name, labels or ""] = float(value)
    return kinds, values


def asked_of(client):
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return read(answer.text)


def send(client, asked, body, media_type=TYPE):
    path = f"/v1/collections/{asked.id}/reports"
    return client.post(path, content=body, headers={"Content-Type": media_type})


@pytest.fixture
def sqlite(tmp_path):
    store = SqliteStore(tmp_path / "reports.db", create=True)
    yield store
    store.disconnect()


def test_what_happened_is_counted(application, asked, sqlite):
    client, _ = application(sqlite, asked)
    packed = reports(asked)
    packed[0] = changed(packed[0], round=1)
    assert send(client, asked, b"".join(packed)).status_code == 200
    assert send(client, asked, b"no reports").status_code == 400
    assert [send(client, asked, b"x", "text/plain").status_code for _ in range(2)] == [415, 415]
    kinds, values = asked_of(client)
    own = f'collection="{asked.id}",round="0"'
    assert values["dpress_reports", own] == 9
    assert values["dpress_reports_refused_total", f'{own},reason="another round"'] == 1
    assert values["dpress_open", own] == values["dpress_store_up", ""] == 1
    assert values["dpress_uploads_refused_total", 'status="400",reason="malformed"'] == 1
    assert values["dpress_uploads_refused_total", 'status="415",reason="unknown media type"'] == 2
    assert values["dpress_upload_seconds_count", ""] == 4
    assert values["dpress_commit_seconds_count", ""] == 1
    assert values["dpress_failures_total", 'during="keeping reports"'] == values["dpress_bytes_waiting", ""] == 0
    assert kinds["dpress_upload_seconds"] == kinds["dpress_commit_seconds"] == "histogram"


@pytest.mark.parametrize(
    "text",
    [
        "dpress_reports 1",
        "# TYPE dpress_reports gauge",
        "# HELP dpress_a A.\n# TYPE dpress_a counter\ndpress_a 1",
        '# HELP dpress_a A.\n# TYPE dpress_a gauge\ndpress_a{reason="a"b"} 1',
        "# HELP dpress_a A.\n# TYPE dpress_a gauge\ndpress_a 1\ndpress_a 1",
    ],
)
def test_what_is_not_of_the_format_is_found(text):
    with pytest.raises((AssertionError, KeyError)):
        read(text)


def test_durations_are_counted_up_to_each_bound():
    histogram = Histogram()
    for seconds in (BOUNDS[0], BOUNDS[1], BOUNDS[1] * 1.01, 2 * BOUNDS[-1]):
        histogram.observe(seconds)
    assert histogram.cumulative == [1, 2, *[3] * (len(BOUNDS) - 2), 4]
    with pytest.raises(KeyError), histogram.timed():
        raise KeyError
    assert (histogram.cumulative[-1], len(histogram.counts)) == (5, len(BOUNDS) + 1)


def test_a_reason_with_quotes_stays_one_label(application, asked, sqlite):
    client, collections = application(sqlite, asked)
    collections.store.add([], {(0, 'a "b" \\ c\nd'): 3})
    assert (
        "dpress_reports_refused_total",
        f'collection="{asked.id}",round="0",reason="a \\"b\\" \\\\ c\\nd"',
    ) in asked_of(client)[1]


def test_a_store_that_fails_is_counted_and_said_once(application, asked, sqlite, tmp_path, capsys):
    client, _ = application(sqlite, asked)
    (tmp_path / "reports.db").rename(tmp_path / "away.db")
    assert [send(client, asked, numbered(asked, 20 * one, 20)).status_code for one in range(3)] == [503] * 3
    _, values = asked_of(client)
    assert values["dpress_store_up", ""] == 0
    assert ("dpress_reports", f'collection="{asked.id}",round="0"') not in values
    assert values["dpress_failures_total", 'during="keeping reports"'] == 3
    assert values["dpress_uploads_refused_total", 'status="503",reason="not available"'] == 3
    (tmp_path / "away.db").rename(tmp_path / "reports.db")
    assert send(client, asked, numbered(asked, 60, 20)).status_code == 200
    assert asked_of(client)[1]["dpress_store_up", ""] == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if KEEPING in line]
    gone = (
        f"the store {tmp_path}/reports.db is gone (No such file or directory); put the same file back, or start again"
    )
    assert lines == [
        f"dpress: {KEEPING} fails: {gone}",
        f"dpress: {KEEPING} works again",
    ]


def test_lines_are_of_changes_and_quote_no_value():
    lines = io.StringIO()
    outages = Outages(lines)
    outages.works(KEEPING)
    for _ in range(3):
        outages.failed(KEEPING, OSError("the disk\nis full"))
    outages.failed(LOOKING, OSError("the disk is full"))
    outages.failed(KEEPING, OSError("gone"))
    outages.works(KEEPING)
    with pytest.raises(KeyError) as fault:
        {}["a value of somebody"]
    outages.failed(LOOKING, fault.value)
    assert lines.getvalue().splitlines()[:4] == [
        f"dpress: {KEEPING} fails: the disk is full",
        f"dpress: {LOOKING} fails: the disk is full",
        f"dpress: {KEEPING} fails: gone",
        f"dpress: {KEEPING} works again",
    ]
    assert re.fullmatch(rf"dpress: {LOOKING} fails: KeyError at test_metrics\.py:\d+", lines.getvalue().splitlines()[4])
    assert (outages.failures[KEEPING], outages.failures[LOOKING]) == (4, 2)


def test_lines_that_nobody_reads_stop_nothing():
    lines = io.StringIO()
    lines.close()
    outages = Outages(lines)
    outages.failed(KEEPING, OSError("gone"))
    outages.works(KEEPING)
    assert outages.failures[KEEPING] == 1


def named(expression):
    return {SUFFIXES.sub("", name) for name in re.findall(r"dpress_[a-z_]+", expression)}


def test_the_dashboard_and_the_alerts_ask_for_what_there_is(application, asked, sqlite):
    client, _ = application(sqlite, asked)
    kinds, _ = asked_of(client)
    board = json.loads((DEPLOY / "dashboard.json").read_text(encoding="utf-8"))
    shown = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    alerts = re.findall(r"expr: (.*)", (DEPLOY / "alerts.yml").read_text(encoding="utf-8"))
    assert set().union(*map(named, shown)) == set(kinds)
    assert len(alerts) == 5
    assert set().union(*map(named, alerts)) <= set(kinds)
    rated = set().union(
        *(named(part) for text in shown + alerts for part in re.findall(r"(?:rate|increase)\(([^)]*)", text))
    )
    assert {kinds[name] for name in rated} == {"counter", "histogram"}  # a gauge that falls is no rate
    places = [tuple(panel["gridPos"][name] for name in "xywh") for panel in board["panels"]]
    assert all(x + w <= 24 for x, _, w, _ in places)
    cells = [(x + i, y + j) for x, y, w, h in places for i in range(w) for j in range(h)]
    assert len(cells) == len(set(cells)), "two panels lie on each other"
    assert named("rate(dpress_nothing_total[5m])") - set(kinds)  # the control: another name is found
