"""Request to stop work that runs in threads."""

__all__ = ["Stop"]


class Stop:
    """Request to stop work at its next step, for good.

    Threads read ``requested`` between their steps. A signal handler may make the request.
    """

    def __init__(self) -> None:
        self.requested = False
