"""Frequency oracles: devices report one perturbed value each, the collector estimates how many hold which."""
