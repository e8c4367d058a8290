"""Manifests of a folder, tried in the sandbox, with what is expected of each."""
