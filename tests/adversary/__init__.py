"""What an adversary tries, as data."""
