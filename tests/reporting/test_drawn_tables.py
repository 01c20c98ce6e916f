"""What a page draws of a table: labels that differ, numbers of its axis that stand apart."""

import itertools

import pyarrow as pa
import pytest
from tests.kinds.conftest import make

from dpress import report

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("width", [390, 1400])
def test_labels_of_a_drawn_table_differ_and_its_numbers_stand_apart(open_page, tmp_path, width):
    names = [f"The ward of the hospital beside the river at number {place}" for place in range(12)]
    column = {"name": "ward", "kind": "categorical", "values": names}
    rows = pa.table({"ward": [names[place % 12] for place in range(12_000)]})
    address = report(make("histogram", [column], data=rows), tmp_path / "page.html").as_uri()
    page = open_page(address, viewport={"width": width, "height": 900})
    page.evaluate(
        """() => {
          window.written = [];
          const fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            window.written.push([text, x, y, this.measureText(text).width]);
            return fill.call(this, text, x, y);
          };
        }"""
    )
    page.set_viewport_size({"width": {390: 370, 1400: 700}[width], "height": 900})
    for _ in range(100):  # until it is drawn again
        page.wait_for_timeout(50)
        if page.evaluate("window.written.length") >= 14:
            break
    written = page.evaluate("window.written")
    labels = {text for text, *_ in written if text.startswith("The ")}
    assert len(labels) == 12
    numbers = sorted({(x, wide) for text, x, _, wide in written if text.replace(",", "").isdigit()})
    assert len(numbers) > 1
    gaps = [right - left - (one + other) / 2 for (left, one), (right, other) in itertools.pairwise(numbers)]
    assert min(gaps) > 4


def test_the_end_of_a_long_label_is_seen_in_a_list_of_rows(open_page, tmp_path):
    """Cut at the end all of these would read alike; the whole label stays its text."""
    names = [f"The ward of the hospital beside the river at number {place}" for place in range(1200)]
    column = {"name": "ward", "kind": "categorical", "values": names}
    address = report(make("histogram", [column], data=pa.table({"ward": names})), tmp_path / "page.html").as_uri()
    page = open_page(address, viewport={"width": 1400, "height": 900})
    cell = page.locator(".rows td.label").first
    assert cell.text_content() in names
    ends, width = cell.bounding_box(), cell.locator(".cut > :last-child").bounding_box()
    assert width["x"] + width["width"] <= ends["x"] + ends["width"] + 1
    assert cell.locator(".cut > :first-child").evaluate("part => part.scrollWidth > part.clientWidth")
