"""What the script of a page reads: the release's numbers, and a form that gives every error; and the script itself."""

import hashlib
import json
import math
import re
import shutil
import subprocess
from base64 import b64decode

import numpy as np
import pyarrow as pa
import pytest
from tests.kinds.conftest import AGE, KINDS, make
from tests.kinds.reading import html_of
from tests.reporting.make_page_vectors import FILE, NAMES, STORED, made

from dpress.inference.interval import half_width
from dpress.query.load import load_release
from dpress.reporting import page_data, page_script
from dpress.reporting.facts import facts
from dpress.reporting.packed_numbers import packed
from dpress.reporting.page import page

GOLDEN = {one["name"]: one for one in json.loads(FILE.read_text(encoding="utf-8"))}


def test_every_form_is_among_the_vectors():
    forms = [one["data"]["error"] for one in GOLDEN.values()]
    maps = {axis["linear"] for one in forms if one["form"] == "product" for axis in one["axes"]}
    assert {one["form"] for one in forms} == {"product", "components", "cells", "reports", "pairs", "grids"}
    assert maps == {"equal", "tree", "haar", "dense", "sums"}


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_what_releases_answer(name):
    now, then = made(name), GOLDEN[name]
    assert json.loads(json.dumps(now["data"]))["attributes"] == then["data"]["attributes"]
    assert [one["query"] for one in now["queries"]] == [one["query"] for one in then["queries"]]
    for own, stored in zip(now["queries"], then["queries"], strict=True):
        assert ("refused" in own) == ("refused" in stored)
        assert own.get("within") == pytest.approx(stored.get("within"))
        found, known = (np.array(one.get("numbers", []), dtype=float) for one in (own, stored))
        np.testing.assert_allclose(found, known, rtol=1e-6, atol=1e-6, equal_nan=True)


def test_an_interval_that_is_corrected_for_selection_stands_on_the_page_as_it_is_stated():
    release = load_release(STORED / "strings_1" / "release")
    (found,) = re.findall(r'id="data">(.*?)</script>', page(release), re.DOTALL)
    (data,), (table,) = json.loads(found)["lists"], facts(release).views
    assert data["labels"][0]["names"] == list(table.axes[0].labels)
    ends = [unpacked(data["measured"][name]) for name in ("low", "high")]
    assert ends == [table.low.tolist(), table.high.tolist()]
    plain = [half_width(float(one) ** 2, 0.95, release.tail) for one in table.error]
    assert [(high - low) / 2 for low, high in zip(*ends, strict=True)] != pytest.approx(plain)


def unpacked(numbers):
    """Return numbers of a page's data."""
    return numbers if isinstance(numbers, list) else np.frombuffer(b64decode(numbers), "<f8").tolist()


def test_numbers_come_back_to_the_last_bit():
    odd = np.array([0.1, -1e-300, 1e300, np.pi])
    assert np.frombuffer(b64decode(packed(odd)), "<f8").tolist() == odd.tolist()
    assert packed(np.array([3.0, -2.0])) == [3, -2]


def test_the_page_allows_its_own_script_alone_and_asks_nobody():
    html = html_of("histogram")
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    (allowed,) = re.findall(r"script-src 'sha256-([^']+)'", html)
    assert b64decode(allowed) == hashlib.sha256(script.encode()).digest()
    assert "'unsafe-inline'; script-src" in html
    assert not re.search(r"\beval\b|\bFunction\(|fetch|XMLHttp|sendBeacon|import\(|innerHTML|WebSocket", script)
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    if node := shutil.which("node"):
        subprocess.run([node, "--check", "-"], input=script, text=True, check=True)


def test_data_with_markup_stay_data():
    attribute = {"kind": "categorical", "name": "a", "values": ["</script><b>", "<!--"]}
    own = facts(make("histogram", [attribute], data=pa.table({"a": ["<!--"] * 9})))
    text = page_data.page_data(own, own.views)
    assert text is not None
    assert "<" not in text
    assert json.loads(text)["attributes"][0]["names"] == ["</script><b>", "<!--"]


def test_what_no_formula_answers_offline_has_no_data_and_says_so():
    tree = make("ranges", [AGE], method="binary_tree")
    own = facts(tree)
    assert page_data.page_data(own, own.views) is None
    html = page(tree)
    assert "cannot tell the error of other queries" in html
    assert "<script" not in html


def test_a_page_has_the_smallest_tables_that_fit(monkeypatch):
    own = facts(KINDS["local"]())
    whole = own.views
    sizes = [view.count.size for view in whole]
    monkeypatch.setattr(page_data, "MOST_CELLS", sum(sizes) - 1)
    data = json.loads(page_data.page_data(own, whole))
    assert data["missing"] == 1
    assert len(data["tables"]) == len(data["error"]["variances"]) == len(sizes) - 1
    assert max(math.prod(own.schema.shape[axis] for axis in one["axes"]) for one in data["tables"]) < max(sizes)
    monkeypatch.setattr(page_data, "MOST_CELLS", 1)
    assert page_data.page_data(own, whole) is None


def test_a_module_that_is_missing_is_named():
    with pytest.raises(FileNotFoundError, match=r"nowhere\.js"):
        page_script.script("nowhere")


@pytest.mark.slow
def test_a_page_of_a_hundred_thousand_cells_is_small():
    axes = [{**AGE, "name": name, "bounds": [1, size]} for name, size in (("a", 74), ("b", 99), ("c", 13))]
    people = pa.table({"a": range(1, 51), "b": range(1, 51), "c": [1 + row % 13 for row in range(50)]})
    release = make("ranges", axes, data=people, method="hierarchy")
    assert next(release.answers.published()).count.size == 95_238
    html = page(release)
    assert "<script" in html
    assert len(html.encode()) < 1_500_000
