"""The shipped bundles are those that the sources make, and small."""

import filecmp
import gzip
import json
import os
import re
import shutil
import subprocess

import pytest
from tests.client.devices import BUILT, ROOT, program

LARGEST = 12 * 1024 + 800
"""Bytes of the module, compressed; other builds of the compressor differ by a hundred or so. What an app may state is
checked and told by name in 400 of them."""

SOURCES = ROOT / "clients" / "js"
NAMES = ("client.mjs", "client.js")


def test_the_module_is_small():
    assert len(gzip.compress(BUILT.read_bytes(), 9)) <= LARGEST


def test_the_bundles_load_nothing_and_toss_no_weak_coins():
    for name in NAMES:
        text = BUILT.with_name(name).read_text(encoding="utf-8")
        assert not re.search(r"Math\.random|\beval\b|\bimport\b|\brequire\b", text), name
        assert "getRandomValues" in text


def test_the_module_needs_nothing_at_run_time():
    package = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())


def test_a_script_tag_gets_the_same_names():
    script = (
        "const vm = require('node:vm'), fs = require('node:fs');"
        f"const own = {{}}; vm.runInNewContext(fs.readFileSync({str(BUILT.with_name('client.js'))!r}, 'utf8'), own);"
        "console.log(Object.keys(own.dpress).sort().join());"
    )
    done = subprocess.run([program("node"), "-e", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Collection,indexed,local,memory"


@pytest.mark.slow
def test_the_bundles_are_those_of_the_sources(tmp_path):
    if shutil.which("npm") is None or not (SOURCES / "node_modules" / "esbuild").is_dir():
        pytest.skip("npm, or what it installs in clients/js, is not here: the bundles are not built again")
    subprocess.run([program("node"), "build.mjs", str(tmp_path)], cwd=SOURCES, check=True, env=os.environ | {"CI": "1"})
    assert filecmp.cmpfiles(tmp_path, BUILT.parent, NAMES, shallow=False) == (list(NAMES), [], [])
    changed = tmp_path / NAMES[0]
    changed.write_bytes(changed.read_bytes() + b"\n")
    assert filecmp.cmpfiles(tmp_path, BUILT.parent, NAMES, shallow=False)[1] == [NAMES[0]]
