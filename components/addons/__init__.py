"""Add-ons of the cluster: one module or package per subject; chart versions are in `spec.catalog.software`."""
