"""Scenarios that the clock drives: replayed on a stack, and compared with what is expected of them."""
