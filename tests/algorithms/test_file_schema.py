"""Schemas of users' files, compared with another validator; and the sentences of refusals."""

import datetime
import json
import random
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tools.fuzz.mutations import mutate
from tools.reference.formats import FORMATS
from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.algorithms.file_schema import ALLOWED, FileSchema, given
from wormcast.algorithms.parse_fault import FAULTS, parse_fault
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.setup import Origin
from wormcast.sim.experiments.load import Experiment, Traffic
from wormcast.sim.experiments.load.checkpoint import keep
from wormcast.sim.waves.record import checkpoint

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "sim/experiments/figure/catalogue"
DOCUMENTS = [file for file in CATALOGUE.glob("*.toml") if file.name != "plans.toml"]  # plans: no user writes them
NETWORKS = [file for file in DOCUMENTS if "switches" in tomllib.loads(file.read_text())]
FILES = {
    "network": [ROOT / "examples/networks/star.toml", *NETWORKS],
    "messages": [*(ROOT / "examples").glob("*.jsonl"), *CATALOGUE.glob("*.jsonl")],
    "sweep": [ROOT / "examples/boppana_8x8.toml", ROOT / "examples/compare.toml"],
    "energy": [*(ROOT / "examples/energy").glob("*.toml")],
    "figure": [ROOT / "examples/mine.toml", *(file for file in DOCUMENTS if file not in NETWORKS)],
}


def compile_formula(text):
    return compile(text, "formula", "eval")


def entries(file):
    """All that a schema is of in a file."""
    if file.suffix == ".toml":
        return [tomllib.loads(file.read_text())]
    return [json.loads(line) for line in file.read_text().splitlines()]


CASES = [(name, entry) for name, files in FILES.items() for file in files for entry in entries(file)]


def one_sentence(text):
    assert "\n" not in text
    assert len(text) < 1000
    return False


def allows(schema, entry):
    """Return whether our check allows the entry. A refusal must be one sentence."""
    try:
        schema.require(entry)
    except WormcastError as error:
        return one_sentence(str(error))
    return True


def test_every_example_is_allowed():
    assert {name for name, _ in CASES} == FORMATS.keys() - {"checkpoint"}
    for name, entry in CASES:
        FORMATS[name][0].require(entry)


@pytest.mark.parametrize("name", FORMATS)
def test_schemas_are_schemas_of_their_draft(name):
    document = json.loads(json.dumps(FORMATS[name][0].document))
    jsonschema.Draft4Validator.check_schema(document)


def test_another_validator_agrees_on_mutated_files():
    """With a fixed seed: on all of them, and many are allowed, many refused."""
    chance = random.Random(1998)
    others = {name: jsonschema.Draft4Validator(schema.document) for name, (schema, _) in FORMATS.items()}
    verdicts = []
    for _ in range(1500):
        name, entry = chance.choice(CASES)
        found = mutate(entry, chance)
        verdicts.append(allows(FORMATS[name][0], found))
        assert verdicts[-1] == others[name].is_valid(found), (name, found)
    assert 100 < sum(verdicts) < 1400


def test_a_manifest_that_is_written_is_allowed(tmp_path):
    network = topology("mesh:2x2")
    one = Experiment(network, find_scheme("individual", network), Traffic(0.05, multicast_fraction=0),
                     configuration=Configuration(), cycles=600, warmup=100, parts=[[1]])
    keep(one, Origin("individual"), tmp_path / "kept")
    content, _ = checkpoint.read(tmp_path / "kept")
    schema = FORMATS["checkpoint"][0]
    schema.require(content)
    jsonschema.Draft4Validator(schema.document).validate(content)
    assert not allows(schema, content | {"cycle": "0"})


SCHEMA = FileSchema("a file", {
    "type": "object", "required": ["a"], "additionalProperties": False,
    "definitions": {"end": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "minItems": 2,
                            "maxItems": 2, ALLOWED: "[switch, port]"}},
    "properties": {
        "a": {"type": "integer", "minimum": 1, "maximum": 9},
        "b": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "minItems": 1}]},
        "c": {"type": "array", "items": {"$ref": "#/definitions/end"}},
        "d": {"type": "object", "additionalProperties": {
            "type": "object", "title": "a part", "additionalProperties": False, "required": ["kind"],
            "properties": {"kind": {"enum": ["this", "that"]}, "size": {"type": "number", "minimum": 0,
                                                                       "exclusiveMinimum": True}}}},
        "e": {"not": {}, ALLOWED: "left out, as it has no meaning here"},
    }})


@pytest.mark.parametrize(("entry", "sentence"), [
    ([], "a file: [] is not valid. Allowed: a table."),
    ({}, "a is missing. Needed: a."),
    ({"A": 1}, "'A' is not a key of a file. Allowed: a, b, c, d."),
    ({"a": 1.0}, "a: 1.0 is not valid. Allowed: a whole number from 1 to 9."),
    ({"a": True}, "a: true is not valid. Allowed: a whole number from 1 to 9."),
    ({"a": 10}, "a: 10 is not valid. Allowed: a whole number from 1 to 9."),
    ({"a": 1, "b": "x"}, "b: 'x' is not valid. Allowed: a number or a list, each a number."),
    ({"a": 1, "b": [1, 2.5, "x"]}, "b[2]: 'x' is not valid. Allowed: a number."),
    ({"a": 1, "b": []}, "b: [] is not valid. Allowed: 1 or more entries."),
    ({"a": 1, "c": [[1, "x"], [1]]}, "c[1]: [1] is not valid. Allowed: [switch, port]."),
    ({"a": 1, "d": {"x.y": 3}}, "d.x.y: 3 is not valid. Allowed: a table."),
    ({"a": 1, "d": {"one": {}}}, "d.one: kind is missing. Needed: kind."),
    ({"a": 1, "d": {"one": {"kind": "some"}}}, "d.one.kind: 'some' is not valid. Allowed: this, that."),
    ({"a": 1, "d": {"one": {"kind": "this", "size": 0}}}, "d.one.size: 0 is not valid. Allowed: a number above 0."),
    ({"a": 1, "d": {"{a}": {"kind": "this", "more": 0}}}, "d.{a}: 'more' is not a key of a part. Allowed: kind, size."),
    ({"a": 1, "e": 4}, "e: 4 is not valid. Allowed: left out, as it has no meaning here."),
])
def test_sentences(entry, sentence):
    with pytest.raises(WormcastError) as refused:
        SCHEMA.require(entry)
    assert str(refused.value) == sentence


def test_what_is_given_is_shortened():
    with pytest.raises(WormcastError) as refused:
        SCHEMA.require({"a": "x" * 10_000})
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize(("value", "text"), [
    (datetime.date(2020, 1, 1), "2020-01-01"), (datetime.datetime(2020, 1, 1, 7, 30), "2020-01-01T07:30:00"),
    (datetime.time(7, 30), "07:30:00"), (None, "null"), ([True, None], "[true, null]"), ("None", "'None'"),
])
def test_values_are_shown_as_files_write_them(value, text):
    assert given(value) == text


def failed(parse, text):
    try:
        parse(text)
    except FAULTS as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(("parse", "text", "sentence"), [
    (json.loads, "[1,\n2,\n x]", "it cannot be read from character 2 of line 3 on ('x]')"),
    (json.loads, "[1,\n", "it ends too early"),
    (json.loads, "1" * 5000, "a number has too many digits"),
    (json.loads, "[" * 100_000, "it has too many brackets inside one another"),
    (bytes.decode, b"a\xff", "byte 1 is not UTF-8"),
    (tomllib.loads, "a = " + "1" * 5000, "a number has too many digits"),
    (tomllib.loads, "a = " + "[" * 10_000, "it has too many brackets inside one another"),
    (tomllib.loads, "a = ?", "Invalid value (at line 1, column 5)"),
    (compile_formula, "1 < < 2", "it cannot be read from character 5 of line 1 on ('< 2')"),
    (compile_formula, "1 <", "it ends too early"),
    (compile_formula, "(" * 300, "it has too many brackets inside one another"),
])
def test_faults_of_texts_in_plain_words(parse, text, sentence):
    assert parse_fault(failed(parse, text)) == sentence
