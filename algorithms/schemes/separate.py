"""Separate addressing: the source sends every destination a unicast."""

from .individual import Individual

__all__ = ["Separate"]


class Separate(Individual):
    """Send each destination a worm of its own: what broadcasts on tori are compared with.

    The worms are those of `Individual`, under the name that [Hou] and others know them by.

    Cost: as many t_s as destinations; with all ports the network goes on with one while the next is prepared.
    Source: [Hou], section 3, figure 3(a); the paper leaves the order of sending open.
    """

    name = "separate"
    kinds: tuple[str, ...] = ("torus", "ring")
    description = "one unicast worm a destination, all sent by the source: individual, as broadcasts know it"
    provenance = "Hou, Wang and Hsu 1998, 3 (order of sending: ours)"
