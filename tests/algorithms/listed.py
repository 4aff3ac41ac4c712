"""Any plain list of worms as a scheme."""

import numpy as np

from wormcast.algorithms import AT_ONCE, E_CUBE, AddressList, ConsumptionClasses, Scheme, Worms


class Listed(Scheme):
    """A scheme made of a function of the reference: (shape, source, destinations) -> (sender, after, visits)."""

    description = "for tests"
    provenance = "tests"
    kinds = ("mesh",)
    header = AddressList

    def __init__(self, name, function, classes=":next", relation=E_CUBE):
        self.name = name
        self.function = function
        self.consumption = ConsumptionClasses.parse(classes)
        self.relation = relation

    def classes_on(self, topology):
        return self.consumption

    def worms(self, topology, messages):
        message_offsets, source, rank, offsets, visits = [0], [], [], [0], []
        for message, sender in enumerate(messages.sources.tolist()):
            for place, (_, _, worm) in enumerate(self.function(topology.shape, sender, messages.of(message))):
                source.append(sender)
                rank.append(place)
                visits += worm
                offsets.append(len(visits))
            message_offsets.append(len(source))
        return Worms(
            np.array(message_offsets, np.int64), np.array(source, np.int32), np.array(rank, np.int32),
            np.full(len(source), AT_ONCE), np.array(offsets, np.int64), np.array(visits, np.int32),
        )
