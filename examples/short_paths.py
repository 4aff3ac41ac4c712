"""Dual-path with at most four stops a worm: more start-ups, but a destination waits for at most three others."""

from wormcast.algorithms import HAMILTONIAN, ConsumptionClasses, PlainScheme


class ShortPaths(PlainScheme):
    name = "short-paths"
    description = "dual-path, at most four destinations a worm"
    relation = HAMILTONIAN
    pairs_are_complete = True  # the rest of a worm at a stop is a worm that the stop could send
    stops = 4

    def classes_on(self, topology):
        # as in dual-path: worms to higher labels never share a channel with worms to lower labels
        return ConsumptionClasses((("up",), ("down",)))

    def visits(self, topology, source, destinations):
        labels = topology.hamiltonian_labels
        up = sorted((node for node in destinations if labels[node] > labels[source]), key=labels.__getitem__)
        down = sorted((node for node in destinations if labels[node] < labels[source]), key=labels.__getitem__)[::-1]
        return [half[at:at + self.stops] for half in (up, down) for at in range(0, len(half), self.stops)]
