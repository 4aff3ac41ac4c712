"""Developers' tools: benchmarks, cost tables, reference pages. Not part of the wheel."""
