"""The integer noise distributions: both sample exactly and know their variance, quantiles, mass and loss."""

from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

Noise = DiscreteLaplace | DiscreteGaussian
