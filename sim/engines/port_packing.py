"""Packing of a component's ports into words, the inputs and outputs of its kernel."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amaranth.lib import wiring

__all__ = ["credit_word", "data_word", "words"]

#: Signals of a link that go from the receiver to the sender.
BACKWARD = ("credit", "arrived")


def credit_word(port: str) -> str:
    """Return the name of the word with the credits of a link port, and its reports (trees with tokens)."""
    return f"{port}.credit"


def data_word(port: str) -> str:
    """Return the name of the word with the data of a link port's flits."""
    return f"{port}.data"


def words(component: "wiring.Component") -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Group a component's ports: input words and output words, each a list of port names.

    A link port ``p`` becomes the word ``p`` (valid, virtual channel, head, tail, from bit 0), the word ``p.data`` and
    the word ``p.credit``. Every other port, and every token line, is a word of its own. Flags and data in separate
    words need no shifting: the router's kernel is twice as fast as with one word.
    """
    from amaranth.lib.wiring import In  # this import costs no time: the caller has a component, so Amaranth is loaded

    inputs: dict[str, list[str]] = {}
    outputs: dict[str, list[str]] = {}
    for name, member in component.signature.members.items():
        if member.is_port:
            (inputs if member.flow is In else outputs)[name] = [name]
            continue
        receives = member.flow is In
        if "flit" not in member.signature.members:
            (inputs if receives else outputs)[name] = [f"{name}.{part}" for part in member.signature.members]
            continue
        forward, backward = (inputs, outputs) if receives else (outputs, inputs)
        forward[name] = [f"{name}.valid", f"{name}.vc", f"{name}.flit.head", f"{name}.flit.tail"]
        forward[data_word(name)] = [f"{name}.flit.data"]
        backward[credit_word(name)] = [f"{name}.{part}" for part in member.signature.members if part in BACKWARD]
    return inputs, outputs
