"""What is run at every test, and what is left to ``make test-all``."""

from collections import Counter

import pytest

#: Tests of many parameters, of which every k-th is run at every test, and all where there is time.
THINNED = {
    "cli/test_wave_runs.py::test_paths_and_deliveries_are_those_of_the_plan_and_the_run": 3,
    "cli/test_waveform.py::test_worms_move_over_the_links_of_their_plan_and_no_others": 2,
    "hw/test_credit_faults.py::test_nothing_leaves_behind_a_false_credit": 3,
    "hw/test_decoders.py::test_table_decides_as_the_relation_says": 4,
    "hw/test_faults.py::test_bad_worm_is_dropped_and_reported": 3,
    "hw/test_faults.py::test_garbage_neither_wedges_nor_disturbs": 4,
    "hw/test_switch.py::test_one_worm_gets_depth_over_the_credit_loop": 3,
    "sim/experiments/load/test_conservation.py::test_all_that_is_created_arrives_once": 3,
    "sim/experiments/load/test_experiment.py::test_what_is_replayed_is_what_went_by": 3,
    "sim/experiments/load/test_utilisation.py::test_utilisation_is_flits_times_hops": 3,
    "sim/waves/record/test_worms.py::test_worms_have_what_their_flits_go_over": 3,
    "sim/test_capture.py::test_a_state_moves_to_a_machine_with_other_vectors": 3,
    "sim/test_capture.py::test_an_engine_goes_back_to_what_it_captured": 2,
    "sim/test_deadlock.py::test_a_deadlock_is_called_when_and_only_when_it_is_one": 3,
    "sim/test_deadlock.py::test_no_false_alarm": 2,
    "sim/test_deadlock_free.py::test_enough_channels_never_deadlock": 3,
    "sim/test_deadlock_free.py::test_too_few_channels_deadlock": 3,
    "sim/test_deadlock_free.py::test_with_enough_channels_the_same_is_delivered": 3,
    "sim/test_engines_agree.py::test_engines_agree_on_other_schemes": 2,
    "sim/test_fairness.py::test_no_header_waits_long": 3,
    "sim/test_flit_reference.py::test_latency_on_a_4x4_mesh": 3,
    "sim/test_flit_reference.py::test_saturation_of_a_4x4_mesh": 3,
    "sim/test_host.py::test_everything_is_delivered_in_packets": 3,
    "sim/test_link_counts.py::test_the_mean_hops_a_destination_on_the_links_of_8x8": 3,
    "sim/test_link_counts.py::test_the_papers_example_on_the_links": 3,
    "sim/test_meter.py::test_flits_and_worms_are_those_of_the_routes": 2,
    "sim/test_zero_load.py::test_dual_path_worms_on_an_8x8_mesh": 3,
    "sim/test_zero_load.py::test_every_worm_of_every_scheme": 3,
    "sim/test_zero_load.py::test_other_settings": 3,
    "sim/test_zero_load.py::test_packets_and_overheads": 3,
    "sim/test_zero_load.py::test_worms_that_share_no_link_leave_all_ports_at_once": 3,
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    seen = Counter()
    for item in items:
        name = item.nodeid.partition("[")[0].removeprefix("tests/")
        if name in THINNED and not item.get_closest_marker("slow"):
            if seen[name] % THINNED[name]:
                item.add_marker(pytest.mark.slow)
            seen[name] += 1
