"""Labels, titles and units: for people only, matched by the values' texts, never ambiguous."""

from pathlib import Path
from typing import Any

import pytest

from dpress import load_design, load_spec, plan, save_design
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import Spec, as_dict, from_dict
from dpress.data.specification.toml import as_toml

SPEC = """
[[attribute]]
name = "smoker"
kind = "categorical"
values = [0, 1]
other = "unknown"
{labels}

[privacy]
epsilon = 1

[release]
kind = "histogram"
"""


def loaded(labels: str, folder: Path, **files: str) -> Spec:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    (folder / "spec.toml").write_text(SPEC.format(labels=labels), encoding="utf-8")
    return load_spec(folder / "spec.toml")


def smoker(spec: Spec) -> Categorical:
    (found,) = spec.attribute
    assert isinstance(found, Categorical)
    return found


def test_labels_match_values_by_their_text(tmp_path: Path) -> None:
    own = smoker(loaded('labels = { 0 = "no", 1 = "yes" }\ntitle = "Smokes"\nunit = "daily"', tmp_path))
    assert own.captions == ("no", "yes", "unknown")
    assert own.labels == ("0", "1", "unknown")
    assert [own.code(name) for name in ("no", "0", "yes", "unknown", "maybe")] == [0, 0, 1, 2, None]
    assert own.caption == "Smokes (daily)"


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_codebook_is_read_when_the_specification_is(tmp_path: Path, start: str) -> None:
    rows = f'{start}value,label\n1,"yes, daily"\n0,no\n9,refused to answer\n'
    spec = loaded('labels = "codebook.csv"', tmp_path, codebook=rows)
    assert smoker(spec).captions == ("no", "yes, daily", "unknown")
    (tmp_path / "codebook.csv").unlink()
    save_design(plan(spec).design, tmp_path / "design.json")
    assert load_design(tmp_path / "design.json").attributes == spec.attribute


def test_a_value_without_a_label_keeps_its_text(tmp_path: Path) -> None:
    assert smoker(loaded('labels = { 1 = "yes" }', tmp_path)).captions == ("0", "yes", "unknown")
    assert smoker(loaded("", tmp_path)).captions == ("0", "1", "unknown")


@pytest.mark.parametrize(
    ("labels", "files", "message"),
    [
        ('labels = { 2 = "x" }', {}, r"`labels` names '2', which is none of its values \(0, 1\)"),
        ('labels = { unknown = "x" }', {}, r"`labels` names 'unknown', which is none of its values \(0, 1\)"),
        ('labels = { 0 = "1" }', {}, "the label '1' of '0' is also another value, label or group"),
        ('labels = { 0 = "unknown" }', {}, "the label 'unknown' of '0' is also another value, label or group"),
        ('labels = { 0 = "no", 1 = "no" }', {}, "the label 'no' of '1' is also another value, label or group"),
        ('labels = { 0 = " " }', {}, "the label of '0' is empty"),
        ("labels = 3", {}, r"\$.attribute\[smoker\].labels: expected .*, got 3"),
        ("title = 3", {}, r"\$.attribute\[smoker\].title: expected a string, got 3"),
        ('labels = "book.csv"', {"book": "value,label\n0,1\n"}, "the label '1' of '0' is also another value"),
        ('labels = "book.csv"', {"book": "value;label\n0;no\n"}, "book.csv: expected a codebook with the header"),
        ('labels = "book.csv"', {"book": ""}, "book.csv: expected a codebook with the header"),
        ('labels = "book.csv"', {"book": "value,label\n0,no,never\n"}, "expected a value and a label in every row"),
        ('labels = "book.csv"', {"book": "value,label\n0,no\n0,never\n"}, "found more for '0'"),
        ('labels = "book.csv"', {"book": "value,label\n7,no\n"}, "book.csv: no row is about a value of smoker"),
        (
            'hierarchy = "groups.csv"\nlabels = { 0 = "any" }',
            {"groups": "value,level1\n0,any\n1,any\n"},
            "the label 'any' of '0' is also another value, label or group",
        ),
    ],
)
def test_labels_that_mislead_are_refused(labels: str, files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaMismatch, match=message) as caught:
        loaded(labels, tmp_path, **files)
    assert "\n" not in str(caught.value)
    assert "spec.toml" in str(caught.value)


def test_a_codebook_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_bytes(b"value,label\n0,\xff\n")
    with pytest.raises(SchemaMismatch, match=r"book.csv: expected a codebook, this is no CSV in UTF-8"):
        loaded('labels = "book.csv"', tmp_path)


@pytest.mark.parametrize("language", ["german", "de_DE", "", "d", '"><script>'])
def test_what_is_no_language_is_refused(language: str) -> None:
    plain: dict[str, Any] = as_dict(load_spec(SPEC.format(labels="")))
    plain["release"]["language"] = language
    with pytest.raises(SchemaMismatch, match=r"\$.release.language: expected a language tag"):
        from_dict(plain)


def test_words_travel_as_they_are_and_a_specification_without_them_keeps_its_hash(tmp_path: Path) -> None:
    worded = loaded('labels = { 0 = "no" }\ntitle = "Smokes"\nunit = "daily"', tmp_path)
    assert from_dict(as_dict(worded)) == worded
    assert load_spec(as_toml(as_dict(worded))).hash == worded.hash
    plain = as_dict(loaded("", tmp_path))
    assert not {"title", "unit", "labels"} & set(plain["attribute"][0])
    assert not {"title", "source", "contact", "language"} & set(plain["release"])
