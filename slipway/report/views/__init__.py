"""Parts of a report, each made from what it is about: pure functions, one concern a file."""
