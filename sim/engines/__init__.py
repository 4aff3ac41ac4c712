"""Engines: interchangeable simulators of a composed network. They agree on every link in every cycle."""
