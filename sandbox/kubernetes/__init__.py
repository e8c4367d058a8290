"""The sandbox's kubernetes provider: applies manifests and Helm releases to real API servers."""
