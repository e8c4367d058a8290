"""Resources as rules read them: their types, and properties that are known, unknown or missing."""
