"""The compose file against what it runs: options, variables, ports and paths are those of the command and the image."""

import re
import shutil
import subprocess

import pytest
import yaml
from tests.flow.test_image import DOCKER, ROOT, instructions

from dpress.cli.serve import command

SECRETS = "/run/secrets/"


@pytest.fixture(scope="module")
def composed():
    return yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def collect(composed):
    return composed["services"]["collect"]


def parsed(words):
    """Return the parameters that the command reads from words, as click does it; refuses what it has not."""
    entry, *rest = words
    assert entry == command.name
    return command.make_context(entry, list(rest)).params


def test_every_option_is_one_of_the_command(collect):
    options = parsed(collect["command"])
    assert options["designs"] == (SECRETS + "design",)
    assert options["admin_token_file"] == SECRETS + "admin_token"
    assert (options["host"], options["public"]) == ("0.0.0.0", False)  # noqa: S104  # within the container
    with pytest.raises(Exception, match="No such option"):
        parsed([*collect["command"], "--no-such-option"])


def test_what_it_reads_is_handed_over_and_nothing_else(collect, composed):
    read = {word.removeprefix(SECRETS) for word in collect["command"] if word.startswith(SECRETS)}
    read |= {value.removeprefix(SECRETS) for value in collect["environment"].values() if value.startswith(SECRETS)}
    assert read == set(collect["secrets"])
    other = composed["services"]["store"]
    assert set(composed["secrets"]) == read | set(other["secrets"])
    assert set(composed["volumes"]) == {volume.partition(":")[0] for volume in other["volumes"]}


def test_no_secret_is_written_into_it(composed):
    assert all(set(secret) == {"file"} for secret in composed["secrets"].values())
    for service in composed["services"].values():
        named = [name for name in service["environment"] if "PASSWORD" in name or "TOKEN" in name]
        assert all(name.endswith("_FILE") for name in named)


def test_its_port_is_the_image_s_the_command_s_and_that_of_the_health_check(collect):
    outside, inside = collect["ports"][0].rsplit(":", 1)
    image = dict(instructions())
    assert inside == image["EXPOSE"] == str(parsed(collect["command"])["port"])
    assert outside.startswith("127.0.0.1:")  # never to everybody without a proxy
    check = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", image["HEALTHCHECK"])
    assert check.group(1) == inside
    source = (ROOT / "src" / "dpress" / "service" / "app.py").read_text(encoding="utf-8")
    assert f'@get("{check.group(2)}")' in source


def test_the_entry_point_and_what_is_writable_are_the_image_s(collect):
    steps = instructions()
    assert ("ENTRYPOINT", '["dpress"]') in steps
    assert collect["read_only"]
    (cache,) = re.findall(r"NUMBA_CACHE_DIR=(\S+)", dict(steps)["ENV"])
    assert [place for place in collect["tmpfs"] if cache.startswith(f"{place}/")]
    assert collect["cap_drop"] == ["ALL"]
    build = collect["build"]
    assert (DOCKER / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_it_waits_for_a_store_that_says_when_it_is_ready(collect, composed):
    ((name, waits),) = collect["depends_on"].items()
    assert waits["condition"] == "service_healthy"
    store = composed["services"][name]
    assert "healthcheck" in store
    assert store["healthcheck"]["test"][-1] == store["environment"]["POSTGRES_USER"]


def test_compose_itself_takes_the_file_and_refuses_a_fault(tmp_path):
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("needs Debian's package docker-compose")
    text = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
    for name in ("design.json", "admin_token", "postgres_password", "pg_service.conf"):
        (tmp_path / name).write_text("{}")
    for number, (written, code) in enumerate([(text, 0), (text.replace("read_only:", "readonly:"), 1)]):
        path = tmp_path / f"{number}.yaml"
        path.write_text(written, encoding="utf-8")
        done = subprocess.run([program, "--file", path, "config", "--quiet"], capture_output=True, check=False)
        assert done.returncode == code, done.stderr.decode()
