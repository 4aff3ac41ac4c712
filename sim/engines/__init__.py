"""Engines: interchangeable simulators of a network. All engines have equal signals on every link in every cycle."""
