"""Helm releases: finding the chart, checking its values, applying its objects."""
