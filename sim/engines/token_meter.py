"""Invariant: each token ring holds exactly one token."""

import numpy as np
import numpy.typing as npt

from .bulk import BulkEngine

__all__ = ["require_tokens", "token_counts"]


def token_counts(engine: BulkEngine) -> dict[tuple[int, int], npt.NDArray[np.int64]]:
    """Count the tokens of each ring: held, on a line, or about to start. Returns {(stage, group): int64 [lanes]}."""
    network = engine.network
    there = np.zeros((network.lanes, network.topology.switches), np.int64)
    for kind, router in network.routers.items():
        if router.has_tokens:
            taken, given, started = (engine.register(kind, f"token.{name}").reshape(network.lanes, -1).astype(np.int64)
                                     for name in ("in_use", "token_out__token", "started"))
            first = network.kinds[kind].straps["strap_first"].reshape(network.lanes, -1).astype(np.int64)
            there[:, network.switch_kinds[kind].members] = taken + given + first * (1 - started)
    return {ring: there[:, switches].sum(axis=1) for ring, switches in network.rings.items()}


def require_tokens(engine: BulkEngine) -> None:
    """Check that each ring holds exactly one token.

    Raises
    ------
    RuntimeError
        A ring holds no token, or several: a bug of this package.
    """
    for (stage, group), counts in token_counts(engine).items():
        for lane in np.flatnonzero(counts != 1)[:1]:
            raise RuntimeError(f"token:{stage}:{group}: {counts[lane]} tokens are not valid in lane {lane}")
