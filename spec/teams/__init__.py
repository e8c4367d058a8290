"""Teams: labels of what they own, and what a share of a pool is in resources."""
