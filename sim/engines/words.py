"""How a component's ports are packed into words, the same for every engine."""

from amaranth.lib import wiring

__all__ = ["credit_word", "words"]


def credit_word(port: str) -> str:
    """Name of the word that carries the credits of a link port."""
    return f"{port}.credit"


def words(component: wiring.Component) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Group a component's ports: input words and output words, each a list of port names.

    A link port ``p`` becomes the word ``p`` (valid, virtual channel, flit; valid at bit 0) and the word
    ``p.credit``; every other input is a word of its own.
    """
    inputs: dict[str, list[str]] = {}
    outputs: dict[str, list[str]] = {}
    for name, member in component.signature.members.items():
        if member.is_port:
            (inputs if member.flow is wiring.In else outputs)[name] = [name]
            continue
        receives = member.flow is wiring.In
        forward, backward = (inputs, outputs) if receives else (outputs, inputs)
        forward[name] = [f"{name}.valid", f"{name}.vc", f"{name}.flit"]
        backward[credit_word(name)] = [f"{name}.credit"]
    return inputs, outputs
