# amaranth: UnusedElaboratable=no
# (components that are built only for a look at their ports are never elaborated)
"""Variants of the router: the networks that use a variant, its parameters, its component, its probe.

A new variant needs its files and a line in `ROUTERS`. docs/variants.md shows one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.headers import Header
from wormcast.algorithms.schemes import Scheme
from wormcast.algorithms.token_groups import NO_TOKEN, TokenGroups

from .deep.deep_probe import DeepProbe
from .deep.switch_spec import DeepSwitchSpec
from .input_probe import InputProbe, PathProbe
from .options import RouterOptions
from .router_kind import SwitchKind
from .switch_spec import SwitchSpec
from .tree.switch_spec import TreeSwitchSpec
from .tree.tree_probe import TreeProbe

if TYPE_CHECKING:
    from .switch import Switch

__all__ = ["ROUTERS", "RouterVariant", "probe_of"]


@dataclass(frozen=True)
class RouterVariant:
    """A variant of the router.

    Parameters
    ----------
    name : str
    fits : callable
        Returns true if routers with these options decode this header in this variant. The first variant of `ROUTERS`
        that fits is used.
    spec : type
        Class of the parameters of the variant's routers. The module of ``spec`` does not import Amaranth.
    build : callable
        Builds a router from the arguments of ``spec``. The router's module imports Amaranth, so ``build`` imports it
        only when called.
    probe : type
        Class of the probes of its input virtual channels.
    parameters : callable
        Returns the parameters of ``spec`` besides those that all variants have.
    """

    name: str
    fits: Callable[[RouterOptions, Header], bool]
    spec: type[SwitchSpec]
    build: "Callable[..., Switch]"
    probe: Callable[[Any, int, int], InputProbe]
    parameters: Callable[[RouterOptions, Scheme, TokenGroups | None, SwitchKind], dict[str, Any]]


def probe_of(router: SwitchSpec, port: int, vc: int) -> InputProbe:
    """Return the probe of one virtual channel at an input of a router."""
    variant = next(one for one in ROUTERS if isinstance(router, one.spec))
    return variant.probe(router, port, vc)


def _build_path(**parameters: Any) -> "Switch":
    from .switch import Switch

    return Switch(**parameters)


def _build_tree(**parameters: Any) -> "Switch":
    from .tree.switch import TreeSwitch

    return TreeSwitch(**parameters)


def _build_deep(**parameters: Any) -> "Switch":
    from .deep.switch import DeepSwitch

    return DeepSwitch(**parameters)


def _shallow(options: RouterOptions) -> dict[str, Any]:
    return {"storage": options.storage, "delays": options.delays, "consumption_links": options.consumption_links}


def _path(options: RouterOptions, scheme: Scheme, tokens: TokenGroups | None, kind: SwitchKind) -> dict[str, Any]:
    return {**_shallow(options), "readers": options.readers}


def _tree(options: RouterOptions, scheme: Scheme, tokens: TokenGroups | None, kind: SwitchKind) -> dict[str, Any]:
    return {
        **_shallow(options),
        "replication": scheme.replication or "asynchronous",
        "reports": tokens is not None,
        "tokens": tokens is not None and bool((tokens.group[kind.members] != NO_TOKEN).all()),
    }


#: Variants of the router; the first one that fits is used.
ROUTERS = [
    RouterVariant("deep", lambda options, header: options.deep, DeepSwitchSpec, _build_deep, DeepProbe,
                  lambda options, scheme, tokens, kind: {}),
    RouterVariant("tree", lambda options, header: header.router == "tree", TreeSwitchSpec, _build_tree,
                  TreeProbe, _tree),
    RouterVariant("path", lambda options, header: True, SwitchSpec, _build_path, PathProbe, _path),
]
