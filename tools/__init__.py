"""What developers run: benches, tables of costs, the reference pages. It is not in the wheel."""
