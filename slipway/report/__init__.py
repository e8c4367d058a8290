"""A stack on one page, and in one comment: what will change, what it costs, what is wrong with it."""
