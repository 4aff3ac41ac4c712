"""The page of refusals has the sentences that commands end with, and their exit codes."""

import ast
import re
from pathlib import Path

import pytest
from command import wormcast
from extras import hidden

import wormcast as package
from tools.reference import refusal_pages
from tools.reference.refusals import ROOMS, Refusal, find_refusals
from tools.reference.wording import worded
from wormcast.sim.cli.app import Exit

FOLDER = Path(package.__file__).parent


@pytest.fixture(scope="module")
def found():
    return find_refusals(FOLDER)


@pytest.mark.parametrize(("expression", "text"), [
    ("'no destination'", "no destination"),
    ("f'{self.path}: {len(names)} names'", "{path}: {number of names} names"),
    ("f'{topology.name} has {count!r}'", "{topology} has {count}"),
    ("f'its {\"next or \" if both else \"\"}last hop'", "its (next or |)last hop"),
    ("f'{what}: ' + 'none'", "{what}: none"),
    ("f'{what}: ' + ('none', 'two')[fault]", "{what}: (none|two)"),
    ("'{}: {} to {}'.format(self.name, *limits)", "{name}: {limits} to {limits}"),
    ("f'allowed are {\", \".join(map(str, self.allowed))} or 0 to {most - 1}'",
     "allowed are {allowed} or 0 to {most - 1}"),
    ("f'{type(value).__name__} of {MOST} is given by {_told(one[\"key\"])}'", "{type} of {most} is given by {key}"),
    ("sentence", "{sentence}"),
])
def test_wording(expression, text):
    assert worded(ast.parse(expression, mode="eval").body) == text


OWN = '''
class Lost(WormcastError):
    def __init__(self, node: int, why: str) -> None:
        self.help = f"ask {node}"
        super().__init__(f"node {node}: {why}, {self.help}")

class _Odd(Exception):
    pass

def look(nodes):
    try:
        for node in nodes:
            raise _Odd(f"{node} is odd")
    except _Odd as fault:
        raise WormcastError(f"nodes: {fault}") from None
    raise refused("none is given, allowed is one")

def refused(why):
    return WormcastError(f"look: {why}")

def lose(node):
    raise Lost(node, "it is away")

def say(node):
    return f"{node} is said to be away"

def keep(node):
    raise WormcastError(say(node))
'''


def test_sentences_of_a_module(tmp_path, monkeypatch):
    """Of errors that functions, classes and handlers make of texts."""
    for room in ROOMS:
        (tmp_path / room).mkdir()
    (tmp_path / "hw" / "own.py").write_text(OWN)
    (tmp_path / "algorithms" / "errors.py").write_text((FOLDER / "algorithms" / "errors.py").read_text())
    own = {}
    exec("from wormcast.algorithms.errors import WormcastError\n" + OWN, own)
    monkeypatch.setattr("tools.reference.refusals.class_of", lambda module, name: own.get(name) or getattr(
        package.algorithms.errors, name))
    sentences = {refusal.sentence: refusal.exit for refusal in find_refusals(tmp_path) if refusal.module == "hw/own.py"}
    assert sentences == dict.fromkeys(["nodes: {node} is odd", "look: none is given, allowed is one",
                                       "node {node}: it is away, ask {node}", "{node} is said to be away"],
                                      Exit.BAD_INPUT)


def matching(found, sentence):
    """Refusals that a sentence may be, those with most words first."""
    fitting = []
    for refusal in found:
        pieces = re.split(r"\{[^{}]*\}|\([^()]*\|[^()]*\)", refusal.sentence)
        if re.fullmatch(".*".join(map(re.escape, pieces)), sentence, re.DOTALL):
            fitting.append((sum(len(piece.split()) for piece in pieces), refusal))
    return [refusal for words, refusal in sorted(fitting, reverse=True) if words > 2]


FILES = {
    "bad.jsonl": '{"cycle": 0, "source": 0, "destinations": [0]}\n',
    "net.toml": "switches = 2\nnodes = [0, 0]\nlinks = [[0, 2]]\n",
    "sweep.toml": 'topology = "mesh:4x4"\nscheme = "dual-path"\nrates = [0.1]\n',
    "figure.toml": 'title = "none"\n',
}


@pytest.mark.parametrize("command", [
    "topology mesh:1x1", "topology ring:x", "topology net.toml", "topology no.toml",
    "topology mesh:4x4 --toml no/net.toml",
    "plan mesh:4x4 dual-path --source 16 --destinations 1", "plan mesh:4x4 dual-paht --source 0 --destinations 1",
    "plan torus:4x4 dual-path --source 0 --destinations 1", "plan torus:4x4 dcf --source 0 --destinations 1,2",
    "run mesh:4x4 dual-path --messages bad.jsonl", "run mesh:4x4 dual-path --source 0 --destinations 1 --vcs 99",
    "run mesh:4x4 dual-path --source 0 --destinations 1 --window 0:9", "run ring:4 tree --source 0 --destinations 1",
    "check mesh:4x4 dual-path --classes sideways", "check mesh:4x4 dual-path --tokens on",
    "load mesh:4x4 dual-path --rate 9", "load mesh:4x4 dual-path", "hunt mesh:4x4 dual-path --length 9:1",
    "sweep sweep.toml", "sweep no.toml", "figure none-such", "figure figure.toml", "continue bad.jsonl",
    "wave bad.jsonl", "wave no.vcd",
    "synth router --seeds -1", "synth router", "verilog router --kind router_9", "verilog router",
])
def test_a_sentence_of_a_command_is_on_the_page(command, found, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    code, out, err = wormcast(*command.split(), cwd=tmp_path, lacking=hidden())
    assert (code, out) in ((Exit.BAD_INPUT, ""), (Exit.TOOL_MISSING, "")), err
    fitting = matching(found, err.strip().removeprefix("wormcast: "))
    assert fitting, err
    assert fitting[0].exit == code


def test_every_error_is_read(found):
    """The longest words of all errors that are raised are in a sentence."""
    sentences = "\n".join(refusal.sentence for refusal in found)
    raised = [node.exc for room in ROOMS for path in (FOLDER / room).rglob("*.py")
              for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise)]
    errors = [call for call in raised if isinstance(call, ast.Call) and ast.unparse(call.func) in (
        "WormcastError", "LoweringError", "MessageError", "typer.BadParameter", "_Invalid", "Interrupted")]
    assert len(errors) > 300
    for call in errors:
        texts = [text for part in ast.walk(call) if isinstance(part, ast.Constant) and isinstance(part.value, str)
                 for text in part.value.split("{}")]
        assert max(texts, key=len, default="") in sentences, ast.unparse(call)


def test_the_page(found):
    [(name, page)] = refusal_pages().items()
    assert name == "refusals.md"
    assert {f"## {'/'.join(Path(refusal.module).parent.parts[:2])}" for refusal in found} <= set(page.splitlines())
    assert [line for line in page.splitlines() if line.count("|") - line.count(r"\|") == 4 and "`{.whole}" in line]
    assert Refusal("sim/cli/app.py", "interrupted", Exit.INTERRUPTED) in found
    assert Refusal("sim/common/requirements.py", '{module} is not installed: pip install "wormcast[{extra}]"',
                   Exit.TOOL_MISSING) in found
