"""Helm releases: the chart where it is at hand, its values checked, its objects applied."""
