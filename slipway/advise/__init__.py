"""Changes of a stack file that cost less at equal waits, found by replays of a trace (ADR 0144)."""
