"""What the page for whoever runs a collection says: the unit is sound and starts this program, a copy is whole."""

import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.flow.test_service_commands import told
from tests.service.served import design, numbered, post

from dpress.cli.collection import command as collection
from dpress.cli.serve import command
from dpress.data.stored.store_url import open_store
from dpress.document.design import encode

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "deploy" / "dpress.service"
PAGE = ROOT / "docs" / "how-to" / "run-a-collection.md"


def verified(name, text, folder):
    """Return what systemd says of a unit whose program is there."""
    program = folder / "dpress"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = folder / name
    path.write_text(text.replace("/usr/local/bin/dpress", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True, check=False)
    return [line for line in done.stderr.splitlines() if name in line]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
@pytest.mark.parametrize("name", ["dpress.service", "dpress-expire.service", "dpress-expire.timer"])
def test_systemd_has_nothing_to_say_of_the_units(tmp_path, name):
    for path in UNIT.parent.glob("dpress*"):
        shutil.copy(path, tmp_path)
    expiring = tmp_path / "dpress-expire.service"
    expiring.write_text(expiring.read_text().replace("/usr/local/bin/dpress", str(tmp_path / "dpress")))
    text = UNIT.with_name(name).read_text(encoding="utf-8")
    assert verified(name, text, tmp_path) == []
    assert verified(name, text.replace("Description=", "Describes="), tmp_path)  # a fault is found


def test_the_timer_expires_the_store_of_the_service():
    text = UNIT.with_name("dpress-expire.service").read_text(encoding="utf-8")
    (line,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    _, group, name, *arguments = shlex.split(line)
    assert (group, name) == ("collection", "expire")
    context = collection.commands[name].make_context(name, arguments)
    assert f"--store {context.params['store']} " in UNIT.read_text(encoding="utf-8")
    assert context.params["days"] == 30


def test_the_unit_starts_a_command_that_there_is():
    (line,) = re.findall(r"^ExecStart=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
    program, name, *arguments = shlex.split(line)
    assert (Path(program).name, name) == ("dpress", "serve")
    context = command.make_context("serve", arguments)
    assert context.params["designs"] == ("/etc/dpress/design.json",)
    assert context.params["store"] == "sqlite:////var/lib/dpress/reports.db"
    assert "LoadCredential=admin_token:" in UNIT.read_text(encoding="utf-8")
    assert context.params["admin_token_file"] == "%d/admin_token"
    with pytest.raises(click.NoSuchOption):
        command.make_context("serve", [*arguments, "--none"])


def test_the_unit_compiles_no_kernel_in_vain():
    """Numba writes machine code into memory: the unit forbids much, and not that."""
    text = UNIT.read_text(encoding="utf-8")
    assert not re.search(r"^MemoryDenyWriteExecute", text, re.MULTILINE)
    assert re.search(r"^Environment=NUMBA_CACHE_DIR=/var/cache/(\S+)", text, re.MULTILINE)[1] == "dpress"


@pytest.mark.slow
def test_a_copy_that_is_made_while_the_service_runs_is_whole(tmp_path, serving):
    asked = design()
    (tmp_path / "design.json").write_text(encode(asked))
    process = serving("design.json", "--store", "sqlite:///reports.db", "--json", "--quiet")
    port, path = told(process), f"/v1/collections/{asked.id}/reports"
    for number in range(3):
        assert post(port, path, numbered(asked, 20 * number, 20))[0] == 200
    (block,) = re.findall(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    copy = block.splitlines()[0].replace("python3", sys.executable)
    subprocess.run(["bash", "-euc", copy], cwd=tmp_path, check=True)
    assert post(port, path, numbered(asked, 60, 20))[0] == 200
    rehearsal = [sys.executable, "-m", *shlex.split(block.splitlines()[1])]  # SQLite knows a file by its number: alone
    done = subprocess.run(rehearsal, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "Reports: 60 counted" in done.stdout
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert open_store(f"sqlite:///{tmp_path}/reports.db").reports(0) == 80
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"reports.db{ending}").unlink(missing_ok=True)
    (tmp_path / "copy.db").rename(tmp_path / "reports.db")
    back = serving("design.json", "--store", "sqlite:///reports.db", "--json", "--quiet")
    assert post(told(back), path, numbered(asked, 80, 20))[0] == 200
    assert open_store(f"sqlite:///{tmp_path}/reports.db").reports(0) == 80
