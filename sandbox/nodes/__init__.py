"""Node objects for the pools of a stack, as a cluster's API server would show them."""
