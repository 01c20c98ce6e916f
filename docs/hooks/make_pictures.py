"""Draw the pictures of the front page in a browser: the page of a release, a map, a live collection, the studio.

    python docs/hooks/make_pictures.py

Made-up people, true noise: the pictures differ a little each time. Needs Chromium and the extra [dev].
"""

# ruff: noqa: INP001  # mkdocs runs its neighbours by their paths

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from playwright.sync_api import Page, sync_playwright

import dpress

IMAGES = Path(__file__).parents[1] / "images"
WIDTH, HEIGHT = 1000, 720
PEOPLE = 40_000
MAP = """
[[attribute]]
name = "place"
kind = "location"
columns = ["x", "y"]
bounds = [[0.0, 10.0], [0.0, 8.0]]

[privacy]
epsilon = 1.0

[release]
kind = "spatial"
title = "Where made-up people are"
"""


def people() -> pa.Table:
    """Return places of made-up people: three towns."""
    rng = np.random.default_rng(1)  # noqa: TID251  # made-up rows, no noise
    towns = np.array([[2.5, 2.5], [7.0, 5.5], [5.0, 3.0]])[rng.integers(0, 3, PEOPLE)]
    x, y = (towns + rng.normal(0, 0.7, (PEOPLE, 2))).T
    return pa.table({"x": np.clip(x, 0, 10), "y": np.clip(y, 0, 8)})


@contextlib.contextmanager
def collection(folder: Path) -> Iterator[str]:
    """Yield the address of the live page of a collection that devices report to."""
    program = str(Path(sys.executable).with_name("dpress"))
    with (folder / "said").open("w+") as said:
        command = [program, "demo", "--collect"]
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)  # noqa: S603  # our own command
        try:
            for _ in range(120):
                time.sleep(0.5)
                addresses = re.findall(r"http://\S+", (folder / "said").read_text())
                if addresses:
                    break
            time.sleep(5)
            yield next(one for one in re.findall(r"http://\S+", (folder / "said").read_text()))
        finally:
            os.killpg(process.pid, signal.SIGTERM)


@contextlib.contextmanager
def studio(folder: Path) -> Iterator[str]:
    """Yield the address of a studio on the demo's made-up people."""
    program = str(Path(sys.executable).with_name("dpress"))
    source = str(next((folder / "demo").rglob("people.parquet")))
    command = [program, "studio", source, "--folder", str(folder / "studio"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own command
        yield json.loads(process.stdout.readline() if process.stdout else "")["page"]
        process.terminate()


def use_studio(page: Page, address: str) -> None:
    """Describe two columns and wish for a table."""
    page.set_viewport_size({"width": 1240, "height": 1000})
    page.goto(address)
    page.get_by_role("button", name="Look at its columns").click()
    page.get_by_label("use age (").check()
    ages = page.locator("fieldset[data-column=age]")
    for label, text in (("From", "0"), ("to", "84"), ("in so many bins", "17")):
        ages.get_by_label(label, exact=True).fill(text)
    page.get_by_label("use sex (").check()
    page.locator("fieldset[data-column=sex]").get_by_label("Its values").fill("Female\nMale")
    page.get_by_label("A row").check()
    page.get_by_role("button", name="Tables").click()
    page.locator("svg.bars").wait_for()
    page.locator("#what").evaluate("one => one.scrollIntoView()")
    page.wait_for_timeout(500)


def main() -> None:
    """Write the four pictures."""
    program = str(Path(sys.executable).with_name("dpress"))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})

        def draw(address: str, picture: str, wait: int = 1500, heading: str = "h1") -> None:
            page.goto(address)
            page.locator(heading).first.evaluate("one => one.scrollIntoView()")
            page.wait_for_timeout(wait)
            page.screenshot(path=IMAGES / picture)

        subprocess.run([program, "demo", "--out", str(folder / "demo")], check=True, capture_output=True)  # noqa: S603  # ours
        draw(next((folder / "demo").rglob("*.html")).as_uri(), "report.png")
        release = dpress.publish(dpress.load_spec(MAP), people(), out=folder / "map")
        draw(dpress.report(release, folder / "map.html").as_uri(), "map.png", heading="text=Where they are")
        with collection(folder) as address:
            draw(address, "collection.png", wait=20_000)
        with studio(folder) as address:
            use_studio(page, address)
            page.screenshot(path=IMAGES / "studio.png")
        browser.close()


if __name__ == "__main__":
    main()
