"""Multicast schemes by name: ``SCHEMES["dual-path"]``.

A new scheme is one file with a subclass of `Scheme`, and one instance in the list of this file. Variants of a scheme
are in the scheme's file. Other packages add schemes by an entry point in the group ``wormcast.schemes``. `PlainScheme`
is the simplest base class.
"""

from ..registry import Registry
from .atbm import Atbm, TreeScheme, TreeSerial, TreeSynchronous
from .base import Scheme, ask, check_scheme, classes_of, require_new_names
from .binomial import Binomial
from .cmin import Cmin
from .cmin_halving import CminHalving
from .column_path import ColumnPath, ColumnPathLiteral
from .dcf import Dcf, Dcf2
from .dual_path import DualPath
from .e_mcast import EMcast
from .edn import Edn
from .gtdmpm import Gtdmpm
from .individual import Individual, Separate
from .k_binomial import KBinomial
from .mesh import MeshScheme
from .mixed import Mixed
from .multi_drop import PathGreedy, PathLessGreedy, SsrGreedy, SsrLessGreedy
from .multipath import Multipath, MultipathLmn
from .plain import PlainScheme
from .sp import SixPhase
from .tp import TwoPhase
from .tree import Tree
from .tseng import Tseng
from .u_mesh import UMesh
from .u_torus import UTorus
from .z import Z

__all__ = ["SCHEMES", "MeshScheme", "PlainScheme", "Scheme", "TreeScheme", "ask", "check_scheme", "classes_of",
           "require_new_names"]

SCHEMES: Registry[Scheme] = Registry(
    "scheme", Scheme, "wormcast.schemes", files=True)  # type: ignore[type-abstract]
for _scheme in (
    Individual(), DualPath(), Multipath(), MultipathLmn(), ColumnPath(), ColumnPathLiteral(), EMcast(), UMesh(),
    TwoPhase(), SixPhase(), Gtdmpm(), Separate(), Z(), Dcf(), Dcf2(), Edn(), Tseng(), UTorus(),
    Atbm(), TreeSynchronous(), TreeSerial(), Cmin(), CminHalving(),
    Binomial(), KBinomial(), SsrGreedy(), SsrLessGreedy(), PathGreedy(), PathLessGreedy(), Tree(), Mixed(),
):  # fmt: skip
    SCHEMES.add(_scheme.name, _scheme)
