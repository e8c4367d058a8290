"""Acceptance of a running cluster: short Jobs on every pool and in every team, and a report of what they prove."""
