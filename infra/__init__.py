"""The Pulumi program of the platform: settings, dated facts, and the composition of the components."""
