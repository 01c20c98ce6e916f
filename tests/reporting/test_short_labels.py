"""Labels that are cut stay different, and no longer than they may be."""

import re

from hypothesis import given
from hypothesis import strategies as st

from dpress.reporting.short_labels import ELLIPSIS, short_labels

WORDS = st.lists(st.sampled_from(["north", "south", "of the", "river", "2013", "x"]), min_size=1, max_size=14)


@given(st.lists(st.one_of(st.text(max_size=60), WORDS.map(" ".join)), unique=True, max_size=40), st.integers(12, 30))
def test_no_two_labels_are_equal_after_cutting(texts, longest):
    labels = short_labels(texts, longest)
    assert len({*labels}) == len(texts)
    assert all(len(label) <= longest for label in labels)
    for text, label in zip(texts, labels, strict=True):
        assert label == text or ELLIPSIS in label or len(text) <= longest


def test_a_label_is_cut_where_it_tells_nothing_apart():
    names = [f"Federal Information Processing Standard {place}" for place in (1, 12, 121)]
    assert short_labels(names) == [f"Federal{ELLIPSIS}{place}" for place in (1, 12, 121)]
    assert short_labels(["Southwest Airlines Company Incorporated", "JetBlue"]) == [
        f"Southwest Airlines Comp{ELLIPSIS}",
        "JetBlue",
    ]
    assert short_labels(["a" * 30, "a" * 30]) == ["a" * 23 + ELLIPSIS] * 2  # the same text is the same label


def test_without_the_care_they_would_be_equal():
    """The negative control: labels cut at their end alone."""
    names = [f"Federal Information Processing Standard {place}" for place in range(9)]
    assert len({re.sub("(?s)(.{23}).*", r"\1", name) for name in names}) == 1
