"""Tests of the mutation testing."""
