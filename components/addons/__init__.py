"""Add-ons of the cluster: one module or package per add-on; chart versions are in `spec.catalog.charts`."""
