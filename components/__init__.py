"""Components of the platform: each declares one part of it from settings and from outputs of other components."""
