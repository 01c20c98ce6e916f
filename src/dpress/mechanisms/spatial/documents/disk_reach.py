"""Between which counts rectangles lie that are seen through a disk: those whose disks lie in a window of reports.

reports in the window around a rectangle, and in that around what is outside it -> at most, at least.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.maps.grid import Grid, Rectangles, running_totals
from dpress.core.maps.linear import Array, Numbers
from dpress.mechanisms.spatial.documents.disk import Blur

ADDED = 2.0  # reports within and beyond a window that its variance supposes beyond those seen (Agresti, Coull 1998)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiskReach:
    """A report lies in a window W with q |W| for somebody far from it, and q |W| + (p - q) A if the disk is within it.

    A is the disk's area; whoever is near W but not within adds something in between. So of N reports y in W,
    (y - N q |W|) / ((p - q) A) is no less than the people whose disks W holds, give or take the noise of y, whose
    variance is at most y (1 - y / N). With W all reports around a rectangle that bounds its count from above; with W
    all that people elsewhere may report near them it bounds theirs, and from below the rectangle's.

    Args:
        blur: what reports are expected of which counts.
        reports: how often every output was reported.
        users: N.
    """

    blur: Blur
    reports: Array
    users: int

    def ends(self, rectangles: Rectangles, critical: float) -> tuple[Array, Array]:
        """Return what the count of every rectangle is at least and at most, give or take so many standard errors."""
        disk = self.blur.disk
        totals = running_totals(np.stack([disk.image(self.reports), disk.numbers >= 0]).astype(np.float64))
        around = [self._around(*ends) for ends in _axes(rectangles)]
        within = [self._within(*ends) for ends in _axes(rectangles)]
        inner, everything = _windows(totals, *within), totals[:, -1, -1][:, None]
        high = self._most(_windows(totals, *around), critical)
        low = self.users - self._most(everything - inner, critical)
        return np.clip(np.floor(low), 0, self.users), np.clip(np.ceil(high), 0, self.users)

    def cells(self, critical: float) -> tuple[Array, Array]:
        """Return that of every cell, images of shape (side, side)."""
        across, up = (places.ravel().astype(np.float64) for places in np.indices((self._side, self._side)))
        low, high = self.ends(Rectangles(across, across + 1, up, up + 1), critical)
        return low.reshape(self._side, -1), high.reshape(self._side, -1)

    @property
    def _side(self) -> int:
        return Grid(self.blur.disk.side).side

    def _around(self, low: Array, high: Array) -> tuple[Numbers, Numbers]:
        """Return along an axis the places of all reports near cells between two ends."""
        return np.floor(low).astype(int), np.ceil(high).astype(int) + 2 * self.blur.disk.radius

    def _within(self, low: Array, high: Array) -> tuple[Numbers, Numbers]:
        """Return the places of reports that are near no cell beyond the ends."""
        side, reach = self._side, 2 * self.blur.disk.radius
        first, last = np.ceil(low).astype(int), np.floor(high).astype(int)
        start = np.where(first == 0, 0, first + reach)
        end = np.where(last == side, side + reach, last)
        return start, np.maximum(start, end)

    def _most(self, windows: Array, critical: float) -> Array:
        """Return how many people's disks lie in windows, at most, by the reports and the places of each."""
        reports, size = windows
        near, far, users = float(self.blur.near), float(self.blur.far), self.users
        share = (reports + ADDED) / (users + 2 * ADDED)
        noise = critical * np.sqrt(users * share * (1 - share))
        return np.asarray((reports + noise - users * far * size) / ((near - far) * self.blur.disk.area))


def _axes(rectangles: Rectangles) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    return (rectangles.left, rectangles.right), (rectangles.bottom, rectangles.top)


def _windows(totals: Array, across: tuple[Numbers, Numbers], up: tuple[Numbers, Numbers]) -> Array:
    """Return the sums over windows of images whose running totals are given, shape (images, m)."""
    (left, right), (bottom, top) = across, up
    high = totals[:, right, top] - totals[:, left, top]
    return np.asarray(high - totals[:, right, bottom] + totals[:, left, bottom])
