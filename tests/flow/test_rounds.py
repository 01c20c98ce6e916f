"""A collection in rounds by the command line, from people to answers."""

import pytest

PLACE = """
[[attribute]]
name = "place"
kind = "location"
columns = ["x", "y"]
bounds = [[0.0, 8.0], [0.0, 8.0]]
"""
USERS = 4000


@pytest.mark.slow
def test_two_rounds_one_after_the_other(here, tmp_path):
    rows = "".join(f"{k * k % 97 / 24},{k * k * k % 89 / 24}\n" for k in range(USERS))
    (tmp_path / "people.csv").write_text(f"x,y\n{rows}")
    parameters = f'kind = "spatial"\n[release.parameters]\nusers = {USERS}\nheight = 4\nrounds = 2'
    (tmp_path / "first.toml").write_text(f'{PLACE}[privacy]\nmodel = "local"\nepsilon = 2.0\n[release]\n{parameters}\n')
    counts, asked = [], "first.toml"
    for number in (1, 2):
        done = here("perturb", asked, "--data", "people.csv", "--out", f"reports{number}", "--json")
        assert done.code == 0, done.err
        counts.append(done.json["count"])
        done = here("estimate", asked, "--reports", f"reports{number}", "--out", f"round{number}")
        assert done.code == 0, done.err
        assert "Method:  ahead" in done.out
        assert f"Reports: {counts[-1]:,} counted" in done.out
        asked = f"round{number}/next.json"
        wanted = f"Next:    dpress perturb {asked} --data FILE --out REPORTS" if number == 1 else "dpress report round2"
        assert wanted in done.out
    assert sum(counts) == USERS
    found = here("query", "round2", "x in 0..4", "--json").json[0]
    inside = sum(k * k % 97 / 24 < 4 for k in range(USERS))
    assert abs(found["value"] - inside) < 6 * found["standard_error"]
    refused = here("estimate", "round1/next.json", "--reports", "reports1", "--out", "mixed")
    assert refused.code == 1
    assert "left out: another collection" in refused.err
    assert not (tmp_path / "mixed").exists()
