"""Checks of workloads at preview: pods by their manifest, the rest by the arguments."""
