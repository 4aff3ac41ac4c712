"""Engines: ways to run the same composed network; they agree on every link in every cycle."""
