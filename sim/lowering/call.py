"""Calls of kernels, observers and native functions from compiled Python."""

from typing import Any

from wormcast.algorithms.compiled import intrinsic

__all__ = ["call_native", "call_observe", "call_step"]


@intrinsic
def call_step(typingctx: Any, address: Any, state: Any, inputs: Any, outputs: Any, n_padded: Any) -> Any:
    """Call the kernel at ``address``: one clock cycle of ``n_padded`` instances.

    Only compiled functions can call `call_step`. All five arguments are integers: the addresses of the kernel and of
    the state, input and output blocks, and the number of instances. The values of the arguments are not checked.
    """
    from llvmlite import ir
    from numba import types

    if not all(isinstance(kind, types.Integer) for kind in (address, state, inputs, outputs, n_padded)):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        word = ir.IntType(64)
        values = [context.cast(builder, arg, kind, types.int64) for arg, kind in zip(args, signature.args, strict=True)]
        function_type = ir.FunctionType(ir.VoidType(), [byte, byte, byte, word])
        function = builder.inttoptr(values[0], function_type.as_pointer())
        builder.call(function, [*(builder.inttoptr(value, byte) for value in values[1:4]), values[4]])
        return context.get_dummy_value()

    return types.void(address, state, inputs, outputs, n_padded), codegen


@intrinsic
def call_observe(typingctx: Any, address: Any, state: Any, inputs: Any, out: Any, n_padded: Any, first: Any) -> Any:
    """Call the observer at ``address``: compute the signals of the instances of one tile, from number ``first`` on.

    Only compiled functions can call `call_observe`. All arguments are integers: the addresses of the observer, of the
    state and input blocks and of the output, the number of instances, and the number of the tile's first instance. The
    values of the arguments are not checked.
    """
    from llvmlite import ir
    from numba import types

    kinds = address, state, inputs, out, n_padded, first
    if not all(isinstance(kind, types.Integer) for kind in kinds):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(64)
        values = [context.cast(builder, arg, kind, types.int64) for arg, kind in zip(args, signature.args, strict=True)]
        function_type = ir.FunctionType(ir.VoidType(), [byte, byte, byte, word, word])
        function = builder.inttoptr(values[0], function_type.as_pointer())
        builder.call(function, [*(builder.inttoptr(value, byte) for value in values[1:4]), *values[4:]])
        return context.get_dummy_value()

    return types.void(*kinds), codegen


@intrinsic
def call_native(typingctx: Any, entry: Any, table: Any) -> Any:
    """Call a native function, prepared by `Native.prepared`. The result is true if the function failed.

    Only compiled functions can call `call_native`. ``entry`` and ``table`` are the two integers in
    `NativeCall.pointers`. The two integers are not checked.
    """
    from llvmlite import ir
    from numba import types

    if not all(isinstance(kind, types.Integer) for kind in (entry, table)):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, status = ir.IntType(8).as_pointer(), ir.IntType(32)
        values = [context.cast(builder, arg, kind, types.int64) for arg, kind in zip(args, signature.args, strict=True)]
        function = builder.inttoptr(values[0], ir.FunctionType(status, [byte]).as_pointer())
        failed = builder.call(function, [builder.inttoptr(values[1], byte)])
        return builder.icmp_unsigned("!=", failed, status(0))

    return types.boolean(entry, table), codegen
