"""What would fail later, found before anything is made: pods by their manifest, the rest by the arguments."""
