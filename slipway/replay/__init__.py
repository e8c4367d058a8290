"""Replays the jobs of a trace on a stack, in virtual time: who would wait, what would run, and what it would cost."""
