"""The network of the worked examples of [Sivaram98]: ours, as the paper shows its own in pictures alone."""

from itertools import pairwise

from wormcast.algorithms import topology

__all__ = ["DESTINATIONS", "SOURCE", "example", "node", "switch_of", "switches_of"]

LINKS = "1-2 1-4 1-6 1-7 3-5 3-9 4-6 4-8 5-6 5-10"

SWITCHES = range(1, 11)


def example(folder, more=""):
    """Ten switches from 1 to 10, the root 6, with two nodes each: as a network file; ``more`` are further links.

    Each switch has its ports in the order of the switches that they lead to.
    """
    pairs = sorted(tuple(map(int, link.split("-"))) for link in f"{LINKS} {more}".split())
    joined = [[f'"s{end}"' for end in pair] for pair in pairs]
    file = folder / "example.toml"
    file.write_text(f"""
switches = [{', '.join(f'"s{switch}"' for switch in SWITCHES)}]
nodes = [{', '.join(f'"s{switch}"' for switch in SWITCHES for _ in range(2))}]
links = [{', '.join(f'[{", ".join(ends)}]' for ends in joined)}]
root = "s6"
""")
    return topology(str(file))


def node(name):
    """The node of a name: ``"5a"`` is the first at switch 5, ``"5b"`` the second."""
    return 2 * (int(name[:-1]) - 1) + "ab".index(name[-1])


def switch_of(one):
    """The number of a node's switch."""
    return one // 2 + 1


def switches_of(nodes):
    """The numbers of the switches of some nodes, in their order, each once where they are neighbours."""
    found = [switch_of(one) for one in nodes]
    return found[:1] + [after for before, after in pairwise(found) if after != before]


SOURCE = node("10a")
DESTINATIONS = [node(f"{switch}{letter}") for switch in (1, 2, 3, 4, 5, 7, 8, 9) for letter in "ab"]
