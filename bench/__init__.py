"""How fast, and as ratios: `make bench` prints it all; nothing here is asserted."""
