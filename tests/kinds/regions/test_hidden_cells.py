"""Regions of which too uncertain numbers are hidden: null and marked in files, `..` on the page, answered."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.kinds.reading import html_of_page, text
from tests.kinds.regions.towns import PEOPLE, SPEC, TREE

from dpress.core.basics import rng
from dpress.data.specification.spec import load_spec
from dpress.kinds.regions.answers import ANSWERING
from dpress.query.load import load_release
from dpress.release.curator.publish import publish

RULES = 'hide = ["cv > 0.05", "count < 100"]\nround = 5\n'
RECORDS = "records = true\n"


def made(folder, rules="", parameters=""):
    folder.mkdir()
    pyarrow.csv.write_csv(TREE, folder / "tree.csv")
    spec = SPEC.replace("[release]\n", f"[release]\n{rules}") + parameters
    (folder / "spec.toml").write_text(spec, encoding="utf-8")
    return publish(load_spec(folder / "spec.toml"), PEOPLE, rng=rng.seeded(5), out=folder / "out", csv=True)


@pytest.mark.parametrize("parameters", ["", RECORDS])
def test_files_hide_what_rules_say_and_everything_is_answered_as_without_them(tmp_path, parameters):
    plain = made(tmp_path / "plain", parameters=parameters)
    hiding = made(tmp_path / "hiding", RULES, parameters)
    again = load_release(tmp_path / "hiding" / "out")
    for name in plain.answers.tables:
        whole, table = (pq.read_table(tmp_path / each / "out" / name) for each in ("plain", "hiding"))
        count, error = whole["count"].to_numpy(), whole["standard_error"].to_numpy()
        mask = (error > 0.05 * np.abs(count)) | (count < 100)
        assert mask.any() == (name != "total.parquet")
        assert table["hidden"].to_pylist() == mask.tolist()
        for column in ("count", "standard_error", "low", "high", *(["adjusted"] if parameters else [])):
            shown = np.where(mask, np.nan, whole[column].to_numpy())
            assert np.array_equal(table[column].to_numpy(zero_copy_only=False), shown, equal_nan=True)
        written = pa.csv.read_csv(tmp_path / "hiding" / "out" / name.replace(".parquet", ".csv"))
        assert {value % 5 for value in written["count"].drop_null().to_pylist()} == {0}
    for query in ("town = A1x", "county = A1 and sex = f", "town = B1y and age = 3", "share sex = f where state = B"):
        asked = [release.query(query) for release in (plain, hiding, again)]
        assert len({(answer.value, answer.interval) for answer in asked}) == 1
        assert asked[1].note == asked[2].note
    if parameters:
        wholes = [ANSWERING.of(release).whole() for release in (plain, again)]
        assert all(np.array_equal(wholes[0][3][0, 1][:], whole[3][0, 1][:]) for whole in wholes)


def test_a_folder_that_hides_is_written_again_as_it_is(tmp_path):
    made(tmp_path / "hiding", RULES)
    load_release(tmp_path / "hiding" / "out").write(tmp_path / "again")
    for name in ("town.parquet", "noisy_counts.parquet"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "hiding" / "out" / name).read_bytes()


def test_the_page_marks_them_and_says_how_many_they_are(tmp_path):
    release = made(tmp_path / "hiding", RULES)
    words = text(html_of_page(release))
    tables = [ANSWERING.of(release).table(level, table) for level in range(4) for table in ((), (1,), (0, 1))][1:]
    assert f" of {sum(table.size for table in tables)} numbers: the standard error is more than 5 %" in words
    assert ".." in words
    assert "rounded to multiples of 5" in words


def test_a_level_in_the_way_of_the_mark_is_refused(tmp_path):
    pyarrow.csv.write_csv(TREE.rename_columns(["hidden", *TREE.column_names[1:]]), tmp_path / "tree.csv")
    spec = SPEC.replace('"state"', '"hidden"').replace('kind = "regions"\n', f'kind = "regions"\n{RULES}')
    (tmp_path / "spec.toml").write_text(spec, encoding="utf-8")
    with pytest.raises(ValueError, match="two columns 'hidden'; rename the level"):
        publish(load_spec(tmp_path / "spec.toml"), PEOPLE, rng=rng.seeded(5))
