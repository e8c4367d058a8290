"""What an adversary tries, as data: `make adversary` prints how much of it is refused."""
