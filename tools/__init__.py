"""Developers' tools: benchmarks, cost tables, fuzzer, mutation test, reference pages. Not part of the wheel."""
