"""Components of the platform: each makes one part of it from settings and from handles of the parts it stands on."""
