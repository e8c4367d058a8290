"""A report on a stack, as an HTML page and as a pull request comment: changes, cost, policy findings."""
