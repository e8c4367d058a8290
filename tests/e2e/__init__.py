"""Whole stacks in the sandbox, through the user's command: the real engine, a real API server, moto."""
