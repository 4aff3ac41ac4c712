"""Data of flits on the links between hosts and interfaces, in words of any size, compiled.

The size of a word is looked up in each access, so that the hosts' program is compiled once for flits of all widths.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.compiled import inlined, intrinsic

__all__ = ["PARTS", "SIZES", "get_part", "link_data", "put_part"]

#: Indices into the array of `link_data`.
ADDRESS, SIZE, PARTS, NODES = range(4)

#: Bytes of a word.
SIZES = 1, 2, 4, 8


def link_data(words: np.ndarray) -> npt.NDArray[np.int64]:
    """Describe an array of words for `get_part` and `put_part`: address, bytes of a word, numbers of parts and nodes.

    Parameters
    ----------
    words : unsigned [links, parts, nodes]
        Contiguous words, which must exist as long as the description is used.
    """
    assert words.flags.c_contiguous
    return np.array([words.ctypes.data, words.itemsize, *words.shape[1:]])


@inlined
def get_part(data, link, part, node):
    """Return a part of the data on a link, unsigned."""
    return _load(_address(data, link, part, node), data[SIZE])


@inlined
def put_part(data, link, part, node, value):
    """Put a part of the data on a link."""
    _store(_address(data, link, part, node), data[SIZE], np.uint64(value))


@inlined
def _address(data, link, part, node):
    return data[ADDRESS] + ((link * data[PARTS] + part) * data[NODES] + node) * data[SIZE]


@intrinsic
def _load(typingctx: Any, address: Any, size: Any) -> Any:
    """Return the word at an address, which is not checked, as an unsigned number of 64 bits."""
    from llvmlite import ir
    from numba import types

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = []
        for kind in _cases(builder, args[1]):
            word = builder.load(builder.inttoptr(args[0], kind.as_pointer()))
            found.append((builder.zext(word, ir.IntType(64)), builder.block))
        result = builder.phi(ir.IntType(64))
        for value, block in found:
            result.add_incoming(value, block)
        return result

    return types.uint64(address, size), codegen


@intrinsic
def _store(typingctx: Any, address: Any, size: Any, value: Any) -> Any:
    """Store the low bits of a number in the word at an address, which is not checked."""
    from numba import types

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for kind in _cases(builder, args[1]):
            builder.store(builder.trunc(args[2], kind), builder.inttoptr(args[0], kind.as_pointer()))
        return context.get_dummy_value()

    return types.void(address, size, value), codegen


def _cases(builder: Any, size: Any) -> Iterator[Any]:
    """Yield the type of a word of each size. Until the next type, ``builder`` adds to the code for this size."""
    from llvmlite import ir

    blocks = [builder.append_basic_block() for _ in SIZES]
    end = builder.append_basic_block()
    choice = builder.switch(size, blocks[-1])
    for count, block in zip(SIZES[:-1], blocks, strict=False):
        choice.add_case(size.type(count), block)
    for count, block in zip(SIZES, blocks, strict=True):
        builder.position_at_end(block)
        yield ir.IntType(8 * count)
        builder.branch(end)
    builder.position_at_end(end)
