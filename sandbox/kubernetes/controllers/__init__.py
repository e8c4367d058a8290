"""Controllers of add-ons: real processes beside a cluster whose own pods only KWOK plays."""
