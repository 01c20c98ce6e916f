"""Whatever a value is called, its release has a page, a chart, a record and CSV: a name is data, never a command."""

import json
import shlex
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from tests.kinds.conftest import make

from dpress.core.basics.visible import UNSEEN
from dpress.data.specification.spec import from_dict
from dpress.query.load import load_release
from dpress.release.curator.publish import publish
from dpress.reporting import charts
from dpress.reporting.page import page
from dpress.reporting.registry import as_yaml, record

COMMANDS = ['=HYPERLINK("http://x")', "+1", "-x", "@x"]  # of spreadsheets
NASTY = [
    *COMMANDS, "constructor", "toString", "__proto__", "hasOwnProperty", "a\x00b", "\x01\x1f", "\x1b[31m", "\x7f",
    "\u2028x", "\u202eabc", "\ufeffbom", "\ufdd0", "\uffff", "a\nb", "</script><script>alert(1)</script>", "<!--",
    "'; drop table x; --", "{{ 7*7 }}", "${a}", "datum.value", "%s%n", "../../x", "con", "\\", '"', "a,b;c\td",
    "]]>", "  lead", "", "a.b", "a:b", "a[0]", "*", "count", "and", "not", "null", "NaN", "x" * 300,
]  # fmt: skip
WORD = {"name": "word", "kind": "categorical", "values": NASTY}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
ROWS = pa.table(
    {
        "word": NASTY * 40,
        "sex": ["f", "m"] * (20 * len(NASTY)),
        "age": [place % 10 for place in range(40 * len(NASTY))],
    }
)
SURE, FOUND = {"epsilon": 50.0}, {"epsilon": 8.0, "delta": 1e-6}
KINDS = {
    "histogram": ([WORD], SURE, {}),
    "marginals": ([WORD, SEX], SURE, {"tables": [["word", "sex"]]}),
    "statistics": ([WORD, AGE], SURE, {"by": ["word"], "mean": ["age"]}),
    "names": ([{**WORD, "values": "discover"}], FOUND, {}),
    "queries": ([WORD, SEX], SURE, {"queries": ["word = toString", "word = con and sex = f"]}),
    "joint": ([WORD, SEX], SURE, {}),
    "microdata": ([WORD, SEX], SURE, {}),
}
ABORTED = -6


@pytest.fixture(scope="module", params=KINDS)
def release(request, tmp_path_factory):
    """A release, loaded from its folder, of values that programs take for commands."""
    attributes, privacy, parameters = KINDS[request.param]
    folder = tmp_path_factory.mktemp(request.param) / "release"
    release = {"kind": request.param, "attributes": [one["name"] for one in attributes], "parameters": parameters}
    publish(from_dict({"attribute": attributes, "privacy": privacy, "release": release}), ROWS, out=folder, csv=True)
    return load_release(folder), folder


@pytest.mark.slow
def test_a_value_is_read_back_and_has_a_page_and_a_record(release):
    loaded, _ = release
    if loaded.kind != "queries":
        listed = [name for name in NASTY if 0 < len(name) <= 256 or loaded.kind != "names"]  # others are no names
        counts = [loaded.query(f'word = "{name}"').value for name in listed]
        assert max(abs(count - 40) for count in counts) < 20
    drawn = page(loaded)
    assert UNSEEN.search(drawn.replace("\x1f", "").replace("\x0c", "")) is None
    assert "<script>alert" not in drawn
    assert "constructor" in drawn or loaded.kind == "queries"
    assert yaml.safe_load(as_yaml(record(loaded)))


@pytest.mark.slow
def test_no_cell_of_csv_is_a_formula(release):
    loaded, folder = release
    for path in folder.glob("*.csv"):
        parsed = pyarrow.csv.ParseOptions(newlines_in_values=True)
        for column in pyarrow.csv.read_csv(path, parse_options=parsed).itercolumns():
            texts = [text for text in column.to_pylist() if isinstance(text, str)]
            assert [text for text in texts if text.startswith(("=", "+", "@", "-x"))] == []
    whole = {text for name in loaded.tables for text in loaded.tables[name].to_arrow().column(0).to_pylist()}
    assert loaded.kind in {"queries", "joint"} or set(COMMANDS) <= whole


@pytest.mark.slow
def test_a_page_of_nasty_values_answers_in_a_browser(open_page, tmp_path):
    drawn = make("histogram", [WORD, SEX], SURE, data=ROWS)
    path = tmp_path / "report.html"
    path.write_text(page(drawn), encoding="utf-8")
    opened = open_page(path.as_uri())
    for name in ("__proto__", "constructor", "'; drop table x; --", "</script><script>alert(1)</script>"):
        asked = f'word = "{name}" and sex = f'
        opened.locator("#query").fill(asked)
        value, (low, high) = (answer := drawn.query(asked)).value, answer.interval
        told = opened.locator(".answer").text_content()
        assert told.startswith(f"{value:,.0f}, 95 % interval {low:,.0f} to {high:,.0f}")
        command = opened.locator(".ask pre").text_content().splitlines()[0]
        assert shlex.split(command) == ["dpress", "query", "FOLDER", asked]


def chart_of(label):
    """Return a program that draws a bar with this label."""
    return f"""
from dpress.reporting import charts
alt, labels = charts.load("altair"), charts.labels([{label!r}])
places = alt.Y("x:O", axis=alt.Axis(labelExpr=charts.label_of(labels)))
chart = alt.Chart(charts.data([{{"x": 0}}])).mark_point().encode(places).add_params(labels)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("label", "fault", "code"),
    [
        ("a\x00b", "charts.visible = lambda text: text", ABORTED),
        ("\uffff", "charts.visible = lambda text: text", ABORTED),
        ("constructor", "", 0),
        ("a\x00b", "", 0),
    ],
)
def test_drawing_ends_the_process_where_a_label_is_drawn_as_it_is(label, fault, code):
    program = f"{chart_of(label)}\n{fault}\nprint(len(charts.svg(chart, 'x', 'wide')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == code, done.stderr


@pytest.mark.slow
def test_an_attribute_may_be_called_as_what_every_object_has(monkeypatch):
    attributes = [{"name": name, "kind": "integer", "bounds": [0, 9], "title": "valueOf"} for name in ("constructor",)]
    rows = pa.table({"constructor": [place % 10 for place in range(100)]})
    made = make("histogram", attributes, SURE, data=rows)
    assert ">valueOf<" in page(made)
    monkeypatch.setattr(charts, "OF_EVERY_OBJECT", set())
    with pytest.raises(ValueError, match="Operator not defined"):
        page(made)


@pytest.mark.slow
def test_a_label_inside_an_expression_is_refused_by_the_drawing_program(monkeypatch):
    spelled = json.dumps({"0": "constructor"})
    monkeypatch.setattr(charts, "label_of", lambda _: f"({spelled})[datum.value]")
    with pytest.raises(ValueError, match="Operator not defined"):
        page(make("histogram", [WORD], SURE, data=ROWS))


@pytest.mark.parametrize("name", [" lead", "end ", "a\x00b", "a\x1bb", "\u202ea", "\ud800"])
def test_an_attribute_is_called_by_what_can_be_seen(name):
    plain = {
        "attribute": [{**SEX, "name": name}],
        "privacy": {"epsilon": 1.0},
        "release": {"kind": "histogram", "attributes": [name]},
    }
    with pytest.raises(ValueError, match="an attribute's name can be seen"):
        from_dict(plain)
