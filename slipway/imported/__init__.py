"""A copy of a cluster as a folder of YAML, by a positive list of fields, and the same cluster in the sandbox."""
