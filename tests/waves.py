"""Reads a waveform: what each signal shows at a given time."""

from bisect import bisect_right
from dataclasses import dataclass

__all__ = ["PERIOD", "Wave", "differences", "read"]

#: Femtoseconds of a cycle; cycle c has its middle at c periods.
PERIOD = 1_000_000


@dataclass
class Wave:
    """One signal: ``kind`` and ``size`` as declared, and its changes in the order of time."""

    kind: str
    size: int
    times: list[int]
    values: list[str]

    def at(self, time):
        """Return the signal's value at this time."""
        return self.values[bisect_right(self.times, time) - 1]


def read(path):
    """Return all signals of a file by their names, scopes joined by dots."""
    scopes, names, changes = [], {}, {}
    time = 0
    with open(path) as file:
        lines = iter(file)
        for line in lines:
            match line.split():
                case ["$scope", _, scope, "$end"]:
                    scopes.append(scope)
                case ["$upscope", "$end"]:
                    scopes.pop()
                case ["$var", kind, size, ident, name, "$end"]:
                    full = ".".join((*scopes, name))
                    assert full not in names
                    names[full] = (kind, int(size), ident)
                case ["$enddefinitions", "$end"]:
                    break
        for line in lines:
            if line[0] == "#":
                assert int(line[1:]) >= time
                time = int(line[1:])
            elif line[0] != "$":
                value, ident = line.split() if line[0] in "bs" else (line[0], line[1:].strip())
                times, values = changes.setdefault(ident, ([], []))
                # the library writes what is constant first in the shortest form
                values.append(value.lstrip("b").lstrip("0") or "0" if value[0] == "b" else value)
                times.append(time)
    return {name: Wave(kind, size, *changes[ident]) for name, (kind, size, ident) in names.items()}


def differences(ours, theirs, cycles, names, period=PERIOD):
    """Every name that two files do not declare alike, and the first cycle in which it shows different things."""
    found = []
    for name in names:
        mine, other = ours[name], theirs[name]
        if (mine.kind, mine.size) != (other.kind, other.size):
            found.append((name, "declared differently"))
        cycle = next((cycle for cycle in cycles if mine.at(cycle * period) != other.at(cycle * period)), None)
        if cycle is not None:
            found.append((name, cycle, mine.at(cycle * period), other.at(cycle * period)))
    return found
