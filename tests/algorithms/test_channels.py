"""One spelling of resources."""

from dataclasses import replace

import numpy as np
import pytest

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.channels import Resource, class_channels, link_names


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        ("link:0>1:0", Resource.link("0>1", 0)),
        ("link:s3>s12#2:*", Resource.link("s3>s12#2", "*")),
        ("link:a:b>c:2-3", Resource.link("a:b>c", "2-3")),
        ("cons:7:1", Resource.cons(7, 1)),
        ("inj:7:3:1", Resource.inj(7, 3, 1)),
        ("retrans:7:0", Resource("retrans", "7", "0")),
        ("place:7:*", Resource.place(7, "*")),
        ("token:2:13", Resource("token", "2", "13")),
    ],
)
def test_is_written_and_read(text, resource):
    assert str(resource) == text
    assert Resource.parse(text) == resource


@pytest.mark.parametrize("text", ["", "link", "link:0>1", "lnk:0>1:0", "cons:x:0", "cons:1:", "cons:1:a", "inj:1:0",
                                  "inj:1:a:0", "token:1:-2", "link::0"])
def test_anything_else_is_refused(text):
    with pytest.raises(WormcastError, match=r"resource: .* is not valid. Allowed: link:U>V:vc, cons:NODE:i"):
        Resource.parse(text)


def test_links_are_named_by_their_switches():
    mesh = topology("mesh:1x3")
    assert link_names(mesh) == ("0>1", "1>2", "1>0", "2>1")
    named = replace(mesh, switch_names=("a", "b", "c"))
    assert link_names(named) == ("a>b", "b>c", "b>a", "c>b")


def test_parallel_links_are_numbered_from_0():
    mesh = topology("mesh:1x2")
    links = np.array([[0, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    assert link_names(replace(mesh, links=links)) == ("0>1#0", "0>1#1", "1>0")


@pytest.mark.parametrize(
    ("vcs", "classes", "written"),
    [(1, 1, ["0"]), (2, 1, ["*"]), (2, 2, ["0", "1"]), (4, 2, ["0-1", "2-3"]), (6, 3, ["0-1", "2-3", "4-5"])],
)
def test_channels_of_a_class(vcs, classes, written):
    assert [class_channels(vcs, classes, one) for one in range(classes)] == written
