"""Node objects: what the pools of a stack would bring into a cluster, as its API server shows them."""
