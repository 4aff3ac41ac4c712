"""Mutants: what is changed in a source, and which tests run first."""

from tools.mutants import mutants_of, near_first

SOURCE = '''"""Two."""
def one(x: int = 0) -> "list[1]":
    if x < 10 and not x & 1:
        return f"{x + 1}"
    return x // 3
'''
CHANGED = ["def one(x: int = (1)) ->", "if (x <= 10) and", "if (x < 10 or not x & 1):", "and (x & 1):", "not (x | 1):",
           "not x & (2):", "return (x * 3)"]


def test_each_mutant_changes_one_place(tmp_path):
    texts = set()
    for mutant in mutants_of("one.py", SOURCE):
        (tmp_path / "one.py").write_text(SOURCE)
        mutant.apply(tmp_path)
        texts.add((tmp_path / "one.py").read_text())
    assert len(texts) == len(CHANGED)
    assert all(sum(change in text for text in texts) == 1 for change in CHANGED)
    assert all(len(set(text.splitlines()) - set(SOURCE.splitlines())) == 1 for text in texts)


def test_tests_near_a_file_run_first():
    tests = ["tests/algorithms/test_plan.py", "tests/cli/test_buffer.py", "tests/hw/test_buffer.py",
             "tests/hw/test_link.py", "tests/sim/lowering/test_kernel.py", "tests/sim/test_host.py"]
    assert near_first("hw/tree/buffer.py", tests) == [
        ["tests/hw/test_buffer.py"], ["tests/hw/test_link.py"],
        ["tests/sim/lowering/test_kernel.py", "tests/sim/test_host.py"],
        ["tests/algorithms/test_plan.py", "tests/cli/test_buffer.py"]]
    assert near_first("sim/lowering/kernel.py", tests)[:3] == [
        ["tests/sim/lowering/test_kernel.py"], ["tests/sim/test_host.py"],
        ["tests/algorithms/test_plan.py", "tests/cli/test_buffer.py", "tests/hw/test_buffer.py",
         "tests/hw/test_link.py"]]
