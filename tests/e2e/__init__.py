"""Whole stacks in the sandbox, through the command a user types: the real engine, a real API server, moto."""
