"""Tests of slipway.verify."""
