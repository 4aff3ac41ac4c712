"""Hardware options, traffic, and the network that they and a topology make."""
