"""What is run: options of hardware and traffic, and the network that they and a topology make."""
