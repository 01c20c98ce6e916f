"""Something new touches only files of its own: toys of each sort, in a path beside the package, are found and serve.

The toys are those of CONTRIBUTING.md, so that its examples are known to be whole.
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AGE = {"name": "age", "kind": "integer", "bounds": [0, 15]}
START = """
import json, sys
import dpress.attributes, dpress.kinds
from dpress.mechanisms import linear, oracle, protocol
toys = sys.argv[1]
for package in (dpress.attributes, dpress.kinds, linear, oracle, protocol):
    package.__path__.append(f"{toys}/{package.__name__.rpartition('.')[2]}")
import pyarrow as pa
import dpress
from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.data.specification.spec import from_dict
from dpress.audit.run import audit
rows = pa.table({"age": [3] * 300 + [9] * 200})
def asked(kind, method, model="central", **parameters):
    release = {"kind": kind, "method": method, "parameters": parameters}
    return from_dict({"attribute": [%s], "privacy": {"model": model, "epsilon": 2.0}, "release": release})
def undocumented():
    pages = [f"{sys.argv[2]}/docs/reference/{name}.md" for name in ("methods", "device-methods")]
    text = "".join(open(page).read() for page in pages)
    return sorted(name for name in catalog.cards() if f"\\n## {name}\\n" not in text)
def answers(release):
    return [release.query(text).value for text in ("total", "age in 2..5")]
""" % json.dumps(AGE)  # noqa: UP031  # braces stand for sets below


def example(starts: str) -> str:
    """Return the block of CONTRIBUTING.md that starts so."""
    blocks = re.findall(r"```\w+\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(starts)]
    return str(found)


def follow(starts: str, toys: Path) -> None:
    """Run the `sed` and `cp` of a block, for the toys' folder in the place of the package."""
    for kind in ("linear", "oracle", "kinds"):
        (toys / kind).mkdir(exist_ok=True)
    lines = [line for line in example(starts).splitlines() if line.startswith(("sed", "cp"))]
    assert lines
    for line in lines:
        moved = re.sub(r"src/dpress/(?:mechanisms/)?(linear|oracle|kinds)/(?=toy_)", rf"{toys}/\1/", line)
        assert moved != line
        subprocess.run(moved, shell=True, cwd=ROOT, check=True)  # noqa: S602  # a line of our own page


def done(toys: Path, statements: str) -> dict[str, object]:
    """Return what statements print, as JSON, in a process that finds the toys."""
    script = START + textwrap.dedent(statements)
    result = subprocess.run(
        [sys.executable, "-c", script, str(toys), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found: dict[str, object] = json.loads(result.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_a_new_strategy_is_listed_planned_published_audited_and_read(tmp_path: Path) -> None:
    follow("sed 's/privelet/", tmp_path)
    found = done(
        tmp_path,
        """
        spec = asked("ranges", "toy_wavelet")
        planned = dpress.plan(spec)
        out = sys.argv[1] + "/release"
        made = dpress.publish(planned, rows, out=out, rng=rng.seeded(1))
        print(json.dumps({
            "listed": "toy_wavelet" in catalog.cards(),
            "chosen": planned.chosen.method,
            "same": answers(dpress.load_release(out)) == answers(made),
            "kept": audit(catalog.card("toy_wavelet"), PureDP(epsilon=1)).kept,
            "undocumented": undocumented(),
        }))
        """,
    )
    expected = {"listed": True, "chosen": "toy_wavelet", "same": True, "kept": True}
    assert found == {**expected, "undocumented": ["toy_wavelet"]}  # what the test of the documents would ask for


@pytest.mark.slow
def test_a_new_oracle_serves_tables_maps_nodes_and_joint_distributions(tmp_path: Path) -> None:
    follow("sed 's/oue/", tmp_path)
    found = done(
        tmp_path,
        """
        from dpress.query.designs import mechanism_of
        place = {"name": "p", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 1], [0, 1]]}
        two = [{"name": name, "kind": "integer", "bounds": [0, 2]} for name in ("a", "b")]
        def of(attributes, kind, method, **parameters):
            release = {"kind": kind, "method": method, "parameters": parameters}
            privacy = {"model": "local", "epsilon": 2.0}
            design = dpress.plan(from_dict({"attribute": attributes, "privacy": privacy, "release": release})).design
            return sorted({one.__class__.__name__ for own in mechanism_of(design).types for one in own.oracles})
        spec = asked("histogram", "toy_bits", model="local")
        out = sys.argv[1] + "/reports.parquet"
        count = dpress.perturb(spec, rows, out=out, rng=rng.seeded(1))
        print(json.dumps({
            "reports": count,
            "near": abs(dpress.estimate(spec, out).query("age = 3").value - 300) < 150,
            "kept": audit(catalog.card("toy_bits"), PureDP(epsilon=1)).kept,
            "undocumented": undocumented(),
            "map": of([place], "spatial", "toy_bits", height=2),
            "nodes": of([place], "spatial", "gtr_top_down", height=2, oracle="toy_bits"),
            "rounds": of([place], "spatial", "ahead", height=2, rounds=1, oracle="toy_bits"),
            "pairs": of(two, "joint", "pairs", ways=2, oracle="toy_bits"),
            "whole": of(two, "joint", "toy_bits"),
        }))
        """,
    )
    serving = {key: ["ToyBits"] for key in ("map", "nodes", "rounds", "pairs", "whole")}
    assert found == {"reports": 500, "near": True, "kept": True, "undocumented": ["toy_bits"], **serving}


@pytest.mark.slow
def test_a_new_protocol_is_planned_asked_and_estimated(tmp_path: Path) -> None:
    (tmp_path / "protocol").mkdir()
    (tmp_path / "protocol/toy_protocol.py").write_text(example('"""`toy_protocol`'), encoding="utf-8")
    found = done(
        tmp_path,
        """
        spec = asked("histogram", "toy_protocol", model="local")
        design = dpress.plan(spec).design
        out = sys.argv[1] + "/reports.parquet"
        dpress.perturb(design, rows, out=out, rng=rng.seeded(1))
        print(json.dumps({
            "listed": "toy_protocol" in catalog.cards(),
            "weight": design.ask.report_types[0].weight,
            "near": abs(dpress.estimate(design, out).query("age = 3").value - 300) < 150,
            "kept": audit(catalog.card("toy_protocol"), PureDP(epsilon=1)).kept,
            "undocumented": undocumented(),
        }))
        """,
    )
    assert found == {"listed": True, "weight": 2, "near": True, "kept": True, "undocumented": ["toy_protocol"]}


@pytest.mark.slow
def test_a_new_kind_is_planned_published_queried_evaluated_and_shown(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    follow("cp -r src/dpress/kinds/tables", tmp_path)
    found = done(
        tmp_path,
        """
        out = sys.argv[1] + "/release"
        made = dpress.publish(asked("pile", "auto"), rows, out=out, rng=rng.seeded(1))
        back = dpress.load_release(out)
        page = dpress.report(back, sys.argv[1] + "/page.html").read_text()
        print(json.dumps({
            "rooms": "toy_counts" in catalog.kinds(),
            "kind": back.design.kind,
            "same": answers(back) == answers(made),
            "rows": dpress.evaluate(back, rows)["rows"],
            "page": "pile" in page,
            "checked": dpress.check(asked("pile", "auto"), rows).kept,
            "offered": "pile" in [wished.kind for wished in catalog.wished()],
        }))
        """,
    )
    shown = {"page": True, "checked": 500, "offered": True}
    assert found == {"rooms": True, "kind": "toy_counts", "same": True, "rows": 500.0, **shown}


@pytest.mark.slow
def test_a_new_type_of_column_is_planned_published_queried_evaluated_and_shown(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    (tmp_path / "attributes/toy_districts").mkdir(parents=True)
    (tmp_path / "attributes/toy_districts/__init__.py").touch()
    toy = example('"""`toy_district`')
    (tmp_path / "attributes/toy_districts/attribute.py").write_text(toy, encoding="utf-8")
    found = done(
        tmp_path,
        """
        home = {"name": "home", "kind": "toy_district", "town": "28"}
        age = {"name": "age", "kind": "integer", "bounds": [0, 15]}
        rows = pa.table({"home": ["28357"] * 300 + ["28199"] * 150 + ["10115"] * 40 + [None] * 10, "age": [3] * 500})
        def of(model, **parameters):
            release = {"kind": "marginals", "method": "auto", "parameters": parameters}
            privacy = {"model": model, "epsilon": 50.0}
            return from_dict({"attribute": [home, age], "privacy": privacy, "release": release})
        table, collection = of("central", ways=2), of("local")
        out = sys.argv[1] + "/release"
        made = dpress.publish(table, rows, out=out, rng=rng.seeded(1))
        back = dpress.load_release(out)
        def counts(release):
            texts = ("home = 283", "home = 281 and age in 2..5", "home = elsewhere", "home in (283, 281)")
            return [release.query(text).value for text in texts]
        reports = sys.argv[1] + "/reports.parquet"
        dpress.perturb(collection, rows, out=reports, rng=rng.seeded(1))
        page = dpress.report(back, sys.argv[1] + "/page.html").read_text()
        print(json.dumps({
            "counts": [round(value, -1) for value in counts(back)],
            "same": counts(back) == counts(made),
            "checked": dpress.check(table, rows).attributes[0].policies["outside"],
            "rows": dpress.evaluate(back, rows)["rows"],
            "page": "toy_district" in page,
            "collected": abs(dpress.estimate(collection, reports).query("home = 283").value - 300) < 50,
        }))
        """,
    )
    expected = {"counts": [300, 150, 50, 450], "same": True, "checked": "elsewhere", "rows": 500.0, "page": True}
    assert found == {**expected, "collected": True}
