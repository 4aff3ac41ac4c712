"""Contract of the streams between a network interface and its host: rules, errors, and meanings of the stream ports.

docs/streams.md has the same errors; a test compares them with these declarations.
"""

from collections.abc import Iterator
from typing import NamedTuple

from amaranth.lib import stream, wiring

from wormcast.hw.streams import AxisInterface, AxisSignature, StreamInterface

from .docstrings import member_meaning
from .ports import ComponentPort, ports

__all__ = ["HOST_ERRORS", "HostError", "is_stream", "stream_member_meaning", "stream_tables"]


class HostError(NamedTuple):
    """An error of a host, by its field in ``send_fault``: what is wrong, and what happens then."""

    field: str
    error: str
    effect: str


#: Errors of hosts, in the order of the bits of ``send_fault``.
HOST_ERRORS = (
    HostError("unknown_set", "a message to a set that is not written, or to no node",
              "the message is accepted and dropped"),
    HostError("too_long", "a message of more than `--message-flits` beats",
              "all worms end after `--message-flits` beats with a flit that has both marks; receivers get the message "
              "as damaged"),
    HostError("bad_set", "a set that does not exist is written, or one with more than `--set-flits` header flits",
              "the set has no worms"),
)

class StreamRule(NamedTuple):
    """A rule of streams: subject, text, and the form of destination sets that it is for (empty: both)."""

    subject: str
    text: str
    form: str = ""


#: Words in braces, for example ``{send}``, stand for names of streams and their members.
STREAM_RULES = (
    StreamRule("handshake", "A beat passes in each cycle in which `{valid}` and `{ready}` are 1. While `{valid}` is 1 "
               "and `{ready}` is 0, `{valid}` and the beat stay as they are. A sender does not wait for `{ready}` "
               "before it sets `{valid}`."),
    StreamRule("message to send", "The beats of `{send}` up to `{last}`: 1 to {most} beats. The destination set, in "
               "`{to}`, is read in the first beat. Headers are made by the hardware."),
    StreamRule("mask", "Bit n of `{to}` is 1 for a message to node n. The bit of the sending node is ignored.", "mask"),
    StreamRule("set", "The beats of `{table}` up to `{last}`: first the number of the set, then the header flits of "
               "its worms. A set has worms from the cycle after its last beat on. Do not write a set while a message "
               "to it is sent. Reset empties the table.", "table"),
    StreamRule("received message", "The beats of a consumption channel up to `{last}`. Beats of different channels "
               "interleave, beats of one channel do not. Accept every beat in the end: a host that holds back a "
               "channel until another message ends can cause a deadlock."),
    StreamRule("reset", "Streams are empty, and messages under way are lost; `{ready}` can be 1 in the cycle after "
               "reset. Reset all nodes of a network together."),
)


def is_stream(component: wiring.Component, name: str) -> bool:
    """Return whether a member of a component is a stream."""
    members = component.signature.members
    if name not in members or not members[name].is_signature or members[name].dimensions:
        return False
    signature = members[name].signature
    plain = signature.flip() if isinstance(signature, wiring.FlippedSignature) else signature
    return isinstance(plain, stream.Signature | AxisSignature)


def stream_member_meaning(port: ComponentPort) -> str:
    """Return the meaning of a member of a stream, for either kind of names."""
    if port.path[-1] == "payload":
        return "The beat."
    if port.path[-1] in ("tid", "tdest", "tuser"):
        return "Described with the stream."
    name = port.path[-1] if port.path[-1].startswith("t") else f"t{port.path[-1]}"
    return member_meaning(AxisSignature, name) or ""


def stream_tables(component: wiring.Component) -> Iterator[str]:
    """Yield the sections of the rules of streams and of the errors of hosts, in Markdown; nothing without streams."""
    if not isinstance(component, StreamInterface | AxisInterface):
        return
    axis = isinstance(component, AxisInterface)
    inner = component.inner if isinstance(component, AxisInterface) else component
    names = {port.path[0] for port in ports(component)}
    table = "s_axis_table" if axis else "table"
    form = "table" if table in names else "mask"
    words = {"send": "s_axis", "valid": "tvalid", "ready": "tready", "last": "tlast",
             "to": "tdest" if form == "table" else "tuser"} if axis else {
                 "send": "send", "valid": "valid", "ready": "ready", "last": "last", "to": "to"}
    yield "\n## Rules of the streams\n\n| | rule |\n|---|---|\n"
    yield from (f"| {rule.subject} | {rule.text.format(**words, table=table, most=inner.sender.message)} |\n"
                for rule in STREAM_RULES if rule.form in ("", form))
    yield ("\n## Errors of the host\n\nEach bit of `send_fault` stays 1 until reset.\n\n"
           "| bit | error | effect |\n|---|---|---|\n")
    yield from (f"| {bit} `{one.field}` | {one.error} | {one.effect} |\n" for bit, one in enumerate(HOST_ERRORS)
                if form == "table" or one.field != "bad_set")
