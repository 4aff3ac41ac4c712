"""Optional requirements: tools and packages of wormcast's extras."""

import importlib
from types import ModuleType

from wormcast.algorithms.errors import WormcastError

__all__ = ["ToolMissing", "require"]


class ToolMissing(WormcastError):
    """A tool or package of an extra is not installed.

    Attributes
    ----------
    tool, install : str
        Name, and the command that installs it.
    """

    def __init__(self, tool: str, extra: str):
        self.tool = tool
        self.install = f'pip install "wormcast[{extra}]"'
        super().__init__(f"{tool} is not installed: {self.install}")


def require(module: str, extra: str) -> ModuleType:
    """Import a module of the package that an extra installs; raise `ToolMissing` if it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ToolMissing(module.partition(".")[0], extra) from error
