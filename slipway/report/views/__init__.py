"""Parts of a report: pure functions, one subject per file."""
