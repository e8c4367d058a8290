"""Tests of the plan of an upgrade."""
