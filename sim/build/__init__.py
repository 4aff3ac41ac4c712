"""Hardware options, random traffic, and composition of a network from hardware options and a topology."""
