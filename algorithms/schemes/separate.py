"""Separate addressing: the source sends a unicast to every destination."""

from .individual import Individual

__all__ = ["Separate"]


class Separate(Individual):
    """Send each destination a worm of its own. Baseline for broadcasts on tori.

    The worms are those of `Individual`, under the name that [Hou] and others use.

    Cost: one t_s per destination. With nodes that use all ports at once, the network transports one worm while the host
    prepares the next.
    Source: [Hou], section 3, figure 3(a); the paper leaves the order of sending open.
    """

    name = "separate"
    kinds: tuple[str, ...] = ("torus", "ring")
    description = "one unicast worm for each destination, all sent by the source: a baseline of broadcasts"
    provenance = "Hou, Wang and Hsu 1998, 3 (order of sending: ours)"
