"""Sets of values from a specification to a page: planned, asked, estimated, read back, and what is refused."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dpress import load_release
from dpress.attributes.coding import codes
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.specification.spec import load_spec
from dpress.document.design import decode, encode
from dpress.release.devices.device import device, intake
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan
from dpress.release.truth.check_text import lines
from dpress.release.truth.data_check import check
from dpress.release.truth.evaluate import evaluate
from dpress.reporting.page import page

VALUES = ["mail", "maps", "<b>", *(f"app{i}" for i in range(17))]  # two words of 16 bits
SETS = [["mail"]] * 6000 + [["maps", "app16"]] * 3000 + [[]] * 1000 + [["mail", "maps", "<b>", "app0"]] * 2000
PEOPLE = pa.table({"apps": pa.array(SETS, pa.list_(pa.string()))})


def spec(attribute: dict[str, Any] | None = None, privacy: dict[str, Any] | None = None, **release: Any) -> Any:
    own = {"cap": 3, "users": len(SETS)} | release.pop("parameters", {})
    return load_spec(
        {
            "attribute": [
                {"name": "apps", "kind": "categorical", "values": VALUES, **(attribute or {})},
                {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
            ],
            "privacy": {"model": "local", "epsilon": 2.0, **(privacy or {})},
            "release": {"kind": "sets", "attributes": ["apps"], "parameters": own, **release},
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, asked = tmp_path_factory.mktemp("sets"), plan(spec()).design
    perturb(asked, PEOPLE, out=place / "reports", rng=rng.seeded(3))
    estimate(asked, place / "reports", out=place / "release")
    return place / "release"


def test_counts_the_mean_set_size_and_the_page(folder: Path) -> None:
    release = load_release(folder)
    kept = {"mail": 6000 + 2000 * 3 / 4, "maps": 3000 + 1500, "<b>": 1500, "app16": 3000, "app9": 0}
    for name, count in kept.items():
        found = release.query(f'apps = "{name}"', confidence=0.999999)
        assert found.interval[0] <= count <= found.interval[1]
        assert found.note is not None
    assert release.query("total").value == len(SETS)
    size = release.query("set size", confidence=0.999999)
    assert size.interval[0] <= 1.5 <= size.interval[1]  # 6000 + 3000 * 2 + 2000 * 3, over 12000
    metrics = evaluate(release, PEOPLE)
    assert metrics["largest_bias_of_the_cap"] == 500
    assert metrics["mean_set_size"] == pytest.approx(20 / 12)
    html = page(release)
    assert "<b>app" not in html
    assert "of 20 that are listed<" in html
    assert 'data-list="0"' in html
    assert 'id="live"' not in html  # queries are the command's
    assert "This page cannot tell the error of other queries" in html
    for wrong in ("apps in (mail, maps)", "apps != mail", "share apps = mail"):
        with pytest.raises(ValueError, match="sets"):
            release.query(wrong)


def test_lists_texts_and_devices_are_coded_alike(tmp_path: Path) -> None:
    design = plan(spec()).design
    assert decode(encode(design)) == design
    texts = pa.table({"apps": [" ; ".join(one) if one else None for one in SETS]})
    for number, data in enumerate((PEOPLE, texts, PEOPLE.to_pandas())):
        perturb(design, data, out=tmp_path / f"reports{number}", rng=rng.seeded(4))
    first, *others = [estimate(design, tmp_path / f"reports{number}").kept.tolist() for number in range(3)]
    assert others == [first, first]
    own = device(design)
    given = (["mail", "app16"], "mail;app16", ("app16", "mail", "mail"), {"mail", "app16"})
    assert {own.codes({"apps": one}) for one in given} == {(1, 1 << 3)}
    assert {own.codes({"apps": one}) for one in ([], "", None, float("nan"))} == {(0, 0)}
    report = intake(design).accept(own.answer(own.codes({"apps": VALUES}), rng=rng.seeded(5)))
    assert report.report_type == 0


def test_a_value_that_is_not_listed_is_refused_or_counted_and_never_shown(tmp_path: Path) -> None:
    strange = pa.table({"apps": ["mail;secret", "maps"]})
    for asked in (lambda: perturb(spec(), strange, out=tmp_path / "r"), lambda: codes(_schema(), {"apps": ["secret"]})):
        with pytest.raises(SchemaMismatch, match="attribute apps") as refused:
            asked()
        assert "secret" not in str(refused.value)
    design = plan(spec({"other": "else", "null": "no answer"})).design
    assert codes(design.schema, {"apps": ["mail", "secret"]}) == (1, 1 << 4)
    assert codes(design.schema, {"apps": None}) == (0, 1 << 5)
    assert perturb(design, strange, out=tmp_path / "more") == 2
    html = page(estimate(design, tmp_path / "more"))
    assert "of 20 that are listed and “else” and “no answer”<" in html
    assert "a set of the 20 listed values and “else” and “no answer”, which" in html


def _schema() -> Any:
    return plan(spec()).design.schema


def test_check_tells_what_the_cap_loses() -> None:
    found = check(spec(), PEOPLE)
    sets = found.findings["sets"].figures
    assert (sets.empty, sets.above, sets.unlisted) == (1000, 2000, 0)
    assert sets.kept == pytest.approx(18 / 20)
    assert found.passed
    assert any("cap = 3 is exceeded by 2,000" in line for line in lines(found))
    assert check(spec(), pa.table({"apps": ["mail;secret"] * 10})).refused == ("apps",)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"privacy": {"model": "central"}}, 'asks devices .model = "local".'),
        ({"attributes": ["apps", "sex"]}, "no table crosses with others; got apps, sex"),
        ({"parameters": {"cap": 21}}, r"parameters.cap: expected at most 20"),
        ({"parameters": {"cap": 0}}, r"parameters.cap: expected an integer >= 1"),
        ({"parameters": {"cap": None}}, r"parameters.cap: this kind of release needs it"),
        ({"parameters": {"separator": "a"}}, "no value may hold the separator"),
        ({"attribute": {"other": "drop"}}, "tells that its value is one of them"),
        ({"attribute": {"values": "discover"}}, "values must be listed"),
        ({"method": "krr"}, "'krr' counts no sets; privset does"),
        ({"postprocess": ["norm_sub"]}, "counts of sets add up to nothing"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(changed: dict[str, Any], words: str) -> None:
    with pytest.raises((NotSupported, ValueError), match=words) as refused:
        plan(spec(**changed))
    assert "\n" not in str(refused.value)
