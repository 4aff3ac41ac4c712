"""What is run: hardware options, and the network that they and a topology make."""
