"""A plugin: records that are made fast, where what is looked at is not how near they are."""

from collections.abc import Iterator

import pytest

from dpress.inference.records import latent_classes


@pytest.fixture(scope="module")
def one_short_fit() -> Iterator[None]:
    """Fit one model of few rounds to the counts of `microdata`: what is fitted follows from them alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latent_classes, "affordable", lambda _: (1, 2))
        yield
