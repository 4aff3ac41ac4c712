"""Layouts of the streams between a host and its network interface."""

from amaranth.lib import data

__all__ = ["delivery_beat", "header_flit", "message_beat", "set_beat"]


def message_beat(width: int, set_bits: int) -> data.StructLayout:
    """Return the layout of a beat of a message to send.

    ``data`` has ``width`` bits of payload. ``last`` marks the message's last beat. ``to`` is the destination set, a
    number or a mask of ``set_bits`` bits; only ``to`` of the message's first beat is read.
    """
    return data.StructLayout({"data": width, "last": 1, "to": set_bits})


def delivery_beat(width: int, node_bits: int, channel_bits: int) -> data.StructLayout:
    """Return the layout of a beat of a received message.

    ``data`` and ``last`` are as in `message_beat`. ``source`` is the node that sent the message. ``channel`` is the
    consumption channel: beats of different channels interleave, those of one channel do not. ``damaged`` marks the last
    beat of a message that an error has cut off; the data of this beat have no meaning.
    """
    return data.StructLayout({"data": width, "last": 1, "source": node_bits, "channel": channel_bits, "damaged": 1})


def set_beat(width: int) -> data.StructLayout:
    """Return the layout of a beat that writes a destination set.

    ``data`` of the first beat is the number of the set, ``data`` of the other beats are header flits, worm by worm.
    ``ends`` marks a worm's last header flit, ``last`` the last beat of the set.
    """
    return data.StructLayout({"data": width, "ends": 1, "last": 1})


def header_flit(width: int) -> data.StructLayout:
    """Return the layout of a header flit on its way to the sender.

    ``ends`` marks a worm's last header flit, ``last`` the last header flit of the set. A set without worms is a single
    beat with ``none``.
    """
    return data.StructLayout({"data": width, "ends": 1, "last": 1, "none": 1})
