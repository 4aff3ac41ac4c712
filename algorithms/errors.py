"""The one exception root of the project, and how others' errors are told."""

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FAILURES", "MessageError", "WormcastError", "others_code", "told"]

#: What a user's own code may raise that is told as a refusal: it is not to end the program either. Ctrl-C is none.
FAILURES = (Exception, SystemExit)


class WormcastError(ValueError):
    """Bad input, in one sentence: what was given, what is allowed, where.

    Every refusal that a user can cause is raised as this class, so that the command line turns it into
    exit code 2 and a library user catches one name.
    """


class MessageError(WormcastError):
    """A message that cannot be sent.

    Parameters
    ----------
    where : str
        How the sentence names it.
    message : int
        Its place among those given.
    reason : str
        The sentence without the name.
    """

    def __init__(self, where: str, message: int, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.message = message
        self.reason = reason


def told(error: BaseException, module: str) -> str:
    """Tell another's error within a sentence: its type and its first line, and where in this module it arose."""
    sentence = f"{type(error).__name__}: {error}".splitlines()[0]
    places = [f", {Path(frame.f_code.co_filename).name}:{line}" for frame, line in
              traceback.walk_tb(error.__traceback__) if frame.f_globals.get("__name__") == module]
    return sentence + "".join(places[-1:])


@contextlib.contextmanager
def others_code(refusal: str, module: str) -> Iterator[None]:
    """Refuse what code of others raises in here, `SystemExit` included; a `WormcastError` of theirs stays as it is.

    Parameters
    ----------
    refusal : str
        The sentence, without what was raised.
    module : str
        Where they have written it, see `told`.
    """
    try:
        yield
    except WormcastError:
        raise
    except FAILURES as error:
        raise WormcastError(f"{refusal} ({told(error, module)})") from error
