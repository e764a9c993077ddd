# python_files.py - what Python files assign in literals, as JSON.
#
# Runs as `python3 -I -c SCRIPT FILE...`, Python 3.6 or later. The files are
# parsed, never executed. One line of JSON is printed for each file, in order:
# {"names": [[NAME, LINE, VALUE], ...]}, or {"error": WHY, "line": LINE,
# "code": ERRNO}. conf.h describes VALUE.
import ast
import errno
import json
import math
import os
import resource
import sys
import warnings

BYTES_MAX = 1 << 20
DEPTH_MAX = 64
NAMES_MAX = 4096
SIZE_MAX = 1 << 20  # values, and bytes of text, of one file
MEMORY_MAX = 1 << 30
SHOWN = 40  # bytes of source in a sentence

# Before Python 3.8 each kind of constant has a class of its own.
CONSTANTS = {"Constant": "value", "NameConstant": "value", "Num": "n", "Str": "s"}


class Refused(Exception):
    def __init__(self, code, line, why):
        super().__init__(why)
        self.answer = {"error": why, "line": line, "code": code}


class NotLiteral(Exception):
    def __init__(self, node):
        super().__init__()
        self.node = node


class Opaque:
    """A value that is more than a literal."""

    def __init__(self, line, found):
        self.line = line
        self.found = found


class Dict:
    def __init__(self):
        self.entries = {}  # of key, with its type: [key, line, value]


def is_text(text):
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


class File:
    def __init__(self, source):
        self.lines = source.splitlines()
        self.names = {}  # name: [line of its first assignment, value]
        self.size = 0

    def found(self, node):
        line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else b""
        text = line[max(node.col_offset, 0) :][: SHOWN + 4].decode("utf-8", "replace")
        while len(text.encode()) > SHOWN:
            text = text[:-1]
        return Opaque(node.lineno, text)

    def grow(self, line, size):
        self.size += size
        if self.size > SIZE_MAX:
            raise Refused(errno.E2BIG, line, "the values are larger than allowed")

    # Expressions.

    def number(self, node, value):
        try:
            if math.isfinite(value):
                return value if abs(value) < 1 << 53 else float(value)
        except OverflowError:
            pass
        raise NotLiteral(node)

    def constant(self, node, value):
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            return self.number(node, value)
        if isinstance(value, str) and is_text(value):
            self.grow(node.lineno, len(value))
            return value
        raise NotLiteral(node)

    def add(self, node, a, b):
        if isinstance(a, str) and isinstance(b, str):
            self.grow(node.lineno, len(a) + len(b))
            return a + b
        for kind in (list, tuple):
            if isinstance(a, kind) and isinstance(b, kind):
                self.grow(node.lineno, len(a) + len(b))
                return a + b
        if type(a) in (int, float) and type(b) in (int, float):
            return self.number(node, a + b)
        raise NotLiteral(node)

    def dict(self, node, depth):
        made = Dict()
        for key_node, item_node in zip(node.keys, node.values):
            if key_node is None:
                raise NotLiteral(item_node)
            key = self.value(key_node, depth)
            if isinstance(key, (list, tuple, Dict)):
                raise NotLiteral(key_node)
            try:
                item = self.value(item_node, depth)
            except NotLiteral as more:
                item = self.found(more.node)
                item.line = item_node.lineno
            entry = made.entries.setdefault(
                (type(key), key), [key, key_node.lineno, None]
            )
            entry[2] = item
        return made

    def value(self, node, depth=0):
        kind = type(node).__name__
        if depth > DEPTH_MAX:
            raise Refused(
                errno.E2BIG,
                node.lineno,
                "values nest deeper than the %d levels allowed" % DEPTH_MAX,
            )
        self.grow(node.lineno, 1)
        if kind in CONSTANTS:
            return self.constant(node, getattr(node, CONSTANTS[kind]))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self.value(node.operand, depth + 1)
            if type(number) in (int, float):
                return -number
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.sum(node, depth)
        if isinstance(node, (ast.List, ast.Tuple)):
            items = [self.value(item, depth + 1) for item in node.elts]
            return items if kind == "List" else tuple(items)
        if isinstance(node, ast.Dict):
            return self.dict(node, depth + 1)
        if isinstance(node, ast.Name) and node.id in self.names:
            value = self.names[node.id][1]
            if not isinstance(value, Opaque):
                return value
        raise NotLiteral(node)

    def sum(self, node, depth):
        """a + b + c, of which each + is a node below the one behind it."""
        parts = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts.append((node, node.right))
            node = node.left
        value = self.value(node, depth + 1)
        for whole, part in reversed(parts):
            value = self.add(whole, value, self.value(part, depth + 1))
        return value

    # Statements.

    def assign(self, name, line, value):
        if name not in self.names and len(self.names) == NAMES_MAX:
            raise Refused(
                errno.E2BIG, line, "more than %d names are assigned" % NAMES_MAX
            )
        self.names.setdefault(name, [line, None])[1] = value

    def forget(self, node, opaque):
        """The names that one statement changes may be anything from now on."""
        for part in [node] + list(expressions(node)):
            if isinstance(part, ast.ImportFrom) and part.names[0].name == "*":
                for name in self.names:
                    self.assign(name, node.lineno, opaque)
            for name, sure in changed(part):
                if name in self.names or sure:
                    self.assign(name, node.lineno, opaque)

    def skip(self, node, more=None):
        """What the statement does is not known, nor what is inside it."""
        self.forget(node, self.found(more or node))
        for inner in statements(node):
            self.skip(inner)

    def read(self, node):
        """NAME = VALUE or NAME += VALUE: True."""
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            targets = [node.target]
        else:
            return False
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            return False
        name = targets[0].id
        value = self.value(node.value)
        if isinstance(node, ast.AugAssign):
            before = self.names.get(name, [0, Opaque(0, "")])[1]
            value = self.add(node, before, value)
        self.assign(name, node.lineno, value)
        return True

    def statement(self, node):
        try:
            if not self.read(node):
                self.skip(node)
        except NotLiteral as more:
            self.skip(node, more.node)


def statements(node):
    """The statements right below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif not isinstance(child, ast.expr):
            yield from statements(child)


def expressions(node):
    """All that is below a node, but no statements."""
    todo = [node]
    while todo:
        for child in ast.iter_child_nodes(todo.pop()):
            if not isinstance(child, ast.stmt):
                todo.append(child)
                yield child


def base(node):
    """The name that a[...].b begins with, or None."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def changed(node):
    """Names that a node changes; True: it assigns them."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from targets_of(target)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        yield from targets_of(node.target)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        if isinstance(node.value.func, ast.Attribute):
            yield base(node.value.func), False
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, False
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name.split(".")[0]), False
    elif isinstance(node, ast.ExceptHandler):
        yield node.name, False
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, False
    elif isinstance(node, (ast.Attribute, ast.Subscript)):
        if not isinstance(node.ctx, ast.Load):
            yield base(node), False


def targets_of(target):
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from targets_of(part)
    elif isinstance(target, ast.Starred):
        yield from targets_of(target.value)
    elif isinstance(target, ast.Name):
        yield target.id, True


class Printer:
    """Values to JSON. A value that many names share is printed for each."""

    def __init__(self):
        self.size = 0

    def value(self, value):
        self.size += 1 + (len(value) if isinstance(value, str) else 0)
        if self.size > SIZE_MAX:
            raise Refused(errno.E2BIG, 1, "the values are larger than allowed")
        if isinstance(value, Opaque):
            return {"found": value.found, "line": value.line}
        if isinstance(value, Dict):
            return {
                "dict": [
                    [self.value(key), line, self.value(item)]
                    for key, line, item in value.entries.values()
                ]
            }
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return {"float": value} if isinstance(value, float) else value


def read_source(path):
    if os.path.exists(path) and not os.path.isfile(path):
        raise Refused(errno.EINVAL, 0, "found no regular file")
    with open(path, "rb") as file:
        source = file.read(BYTES_MAX + 1)
    if len(source) > BYTES_MAX:
        raise Refused(errno.E2BIG, 1, "larger than the 1 MiB allowed")
    return source


def read_file(path):
    source = read_source(path)
    file = File(source)
    for node in ast.parse(source).body:
        file.statement(node)
    show = Printer()
    return {
        "names": [
            [name, line, show.value(value)]
            for name, (line, value) in file.names.items()
        ]
    }


def answer(path):
    try:
        return read_file(path)
    except Refused as refused:
        return refused.answer
    except OSError as error:
        return {"error": error.strerror, "line": 0, "code": error.errno}
    except SyntaxError as error:
        why = "this is not valid Python: %s" % str(error.msg)[:100]
        return {"error": why, "line": error.lineno or 1, "code": errno.EINVAL}
    except ValueError as error:
        why = "this is not valid Python: %s" % str(error)[:100]
        return {"error": why, "line": 1, "code": errno.EINVAL}
    except (RecursionError, MemoryError):
        return {"error": "too deep or too large", "line": 1, "code": errno.E2BIG}


def main():
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    for path in sys.argv[1:]:
        print(json.dumps(answer(path)))


main()
