"""Compositions of several components: all node pools with their autoscalers, all cost guards."""
