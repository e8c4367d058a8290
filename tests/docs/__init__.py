"""Tests of what the documentation says."""
