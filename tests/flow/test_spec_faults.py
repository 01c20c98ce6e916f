"""What is wrong in a specification has its line in every command."""

import pytest


@pytest.mark.parametrize("command", ["plan", "publish", "perturb", "estimate"])
def test_what_only_a_plan_finds_wrong_has_its_line(here, spec, folder, command):
    privacy = "epsilon = 1" if command in ("plan", "publish") else 'model = "local"\nepsilon = 1'
    lines = spec(privacy=privacy, release='kind = "marginals"\nparameters = { lenght = 3 }').read_text().splitlines()
    place = 1 + next(number for number, line in enumerate(lines) if line.startswith("parameters"))
    more = {"estimate": ["--reports", "none"]}.get(command, [])
    done = here(command, "spec.toml", *more, *([] if command == "plan" else ["--out", "out"]))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("dpress: spec.toml: $.release.parameters: unknown parameter 'lenght'")
    assert done.err.endswith(f"(at line {place}, column 1)\n")
    assert not (folder / "out").exists()


def test_a_line_is_told_once_where_the_file_is_read(here, spec):
    spec(privacy="epsilon = 0")
    assert here("plan", "spec.toml").err.count("(at line ") == 1


def test_what_a_check_finds_wrong_in_a_condition_has_its_line(here, spec, folder):
    """What another library says of the rows is withheld all the same."""
    path = spec()
    path.write_text(path.read_text().replace('"rows.csv"', '"rows.csv"\nwhere = "sex == F"'))
    done = here("check", "spec.toml")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "dpress: spec.toml: $.data.where: `==` is no operator; did you mean `sex = F`? (at line 3, column 1)\n"
    )
    (folder / "rows.csv").write_bytes(b"age,sex\n1,F\n\xff4711,F\n")
    spec()
    done = here("check", "spec.toml")
    assert done.code == 1
    assert "4711" not in done.err
