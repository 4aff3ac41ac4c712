"""State kept: captured as arrays by name, and put into files."""
