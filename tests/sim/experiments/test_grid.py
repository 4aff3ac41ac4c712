"""Points of a sweep, and the lines that they are drawn as."""

from wormcast.sim.experiments.option_grid import Sweep

SWEEP = Sweep("small", {"seeds": 2}, {"vcs": [4, 1, 2], "scheme": ["u-mesh", "dual-path"], "rate": [0.2]})


def test_points_are_named_by_what_is_swept():
    points = SWEEP.points(lambda given, name: (name, given))
    assert [name for name, _ in points][:2] == ["vcs 4, scheme u-mesh, rate 0.2", "vcs 4, scheme dual-path, rate 0.2"]
    assert points[0][1] == {"seeds": 2, "vcs": 4, "scheme": "u-mesh", "rate": 0.2}


def test_line_has_the_points_that_differ_in_one_option_by_its_numbers_or_in_the_order_given():
    assert SWEEP.lines("vcs") == [({"scheme": "u-mesh", "rate": 0.2}, [2, 4, 0]),
                                  ({"scheme": "dual-path", "rate": 0.2}, [3, 5, 1])]
    assert SWEEP.lines("scheme") == [({"vcs": 4, "rate": 0.2}, [0, 1]), ({"vcs": 1, "rate": 0.2}, [2, 3]),
                                     ({"vcs": 2, "rate": 0.2}, [4, 5])]


def test_columns_are_swept_options_as_given_then_others_as_resolved():
    assert list(SWEEP.columns({"rate": 0.2, "scheme": "x", "vcs": 1}, {"vcs": 9, "buffer": 4}).items()) == [
        ("vcs", 1), ("scheme", "x"), ("rate", 0.2), ("buffer", 4)]
