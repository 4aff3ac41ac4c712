"""Developers' tools, not part of the wheel: benchmarks, cost tables, fuzzer, mutation test, reference pages."""
