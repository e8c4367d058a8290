"""The plan of an upgrade of Kubernetes: what has to be done before, in which order, what it costs, and the way back."""
