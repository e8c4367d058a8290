"""Teams: labels of their resources, and the resources of a share of a pool."""
