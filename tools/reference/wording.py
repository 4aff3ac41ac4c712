"""Conversion of expressions in the source to texts, with the names of values in place of the values."""

import ast
import re
from collections.abc import Mapping

from wormcast.algorithms.phrases import plural

__all__ = ["replaced", "worded"]

#: Attributes that texts show by the name of their object: ``scheme.name`` becomes ``{scheme}``.
OF_A_THING = ("name", "title", "value", "id")

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Pow: "^", ast.BitOr: "or"}


def worded(node: ast.expr) -> str:
    """Return the text of an expression, with ``{name}`` for a value and ``(one|other)`` for alternatives."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(worded, parts))
        case ast.Constant(value=number):
            return str(number)
        case ast.FormattedValue(value=value):
            return worded(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_text(left) or _is_text(right):
            return worded(left) + worded(right)
        case ast.Call(func=ast.Name(id="located"), args=[sentence, _]):
            return worded(sentence)
        case ast.IfExp(body=body, orelse=other):
            texts = dict.fromkeys((worded(body), worded(other)))
            return f"({'|'.join(texts)})" if len(texts) > 1 else worded(body)
        case ast.Subscript(value=ast.Tuple(elts=texts)) if all(map(_is_text, texts)):
            return f"({'|'.join(map(worded, texts))})"
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=values):
            for value in values:
                text = text.replace("{}", "{" + _name(value) + "}", -1 if isinstance(value, ast.Starred) else 1)
            return text
        case ast.Call(func=ast.Name(id="count"), args=[value, ast.Constant(value=str(noun))]):
            return f"{{{_name(value)}}} ({noun}|{plural(noun)})"
        case _:
            return "{" + _name(node) + "}"


def replaced(text: str, values: Mapping[str, str]) -> str:
    """Replace each ``{name}`` by its text in ``values``."""
    return re.sub(r"\{([^{}]*)\}", lambda place: values.get(place[1], place[0]), text)


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_text(left) or _is_text(right)
        case ast.IfExp(body=body, orelse=other):
            return _is_text(body) and _is_text(other)
        case ast.Subscript(value=ast.Tuple(elts=texts)):
            return all(map(_is_text, texts))
        case _:
            return False


def _name(node: ast.expr) -> str:
    """Return the name of a value; for the result of a function, the name of its first argument."""
    match node:
        case ast.Name(id=name):
            return name.strip("_").lower()
        case ast.Constant(value=value):
            return str(value)
        case ast.Attribute(attr="__name__"):
            return "type"
        case ast.Attribute(value=thing, attr=attribute):
            of_self = isinstance(thing, ast.Name) and thing.id == "self"
            return _name(thing) if attribute in OF_A_THING and not of_self else attribute.strip("_").lower()
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.FormattedValue(value=value):
            return _name(value)
        case ast.UnaryOp(operand=value) | ast.BoolOp(values=[value, *_]) | ast.IfExp(body=value):
            return _name(value)
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            return f"number of {_name(value)}"
        case ast.Call(func=ast.Name(id="map"), args=[_, value]):
            return _name(value)
        case ast.Call(args=[value, *_]) if not isinstance(value, ast.Constant):
            return _name(value)
        case ast.Call(func=ast.Attribute(value=value)) if not (isinstance(value, ast.Name) and value.id == "self"):
            return _name(value)
        case ast.Call(func=function):
            return _name(function)
        case ast.ListComp(generators=[first, *_]) | ast.GeneratorExp(generators=[first, *_]):
            return _name(first.iter)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return ", ".join(map(_name, parts))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in SIGNS:
            return f"{_name(left)} {SIGNS[type(sign)]} {_name(right)}"
        case _:
            return ast.unparse(node)
