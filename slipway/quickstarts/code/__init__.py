"""Programs of the quickstarts. They run in containers and import what their image has (PyTorch 2.7)."""
