"""The kubernetes provider of the sandbox: manifests and Helm releases, applied to real API servers."""
