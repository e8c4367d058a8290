"""Components that join others: all node pools with what scales them, all cost guards."""
