#!/usr/bin/python3
"""FlagPerf trees that no honest person has, given to `regatta import flagperf`,
and what that made of them to `regatta plan`.

	tree.py REGATTA FOLDER

Each must end by itself, within a limit of memory, and in words; nothing of a
tree is executed, nothing outside it is read, nothing in it is changed.
Prints TAP's lines without numbers, and counts.
"""
import os
import re
import socket
import subprocess
import sys

regatta, bed = sys.argv[1:]
MEMORY_MIB = 1536  # of the largest process; with the sanitizers' own
LIMIT_S = 300
FAULT = re.compile("AddressSanitizer|LeakSanitizer|runtime error:|Assertion")
# What a terminal obeys, and what hides or turns text.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
SECRET = "the-word-of-another-file"
attempts = bad = peak = 0

MARK = os.path.join(bed, "executed")
OUTSIDE = os.path.join(bed, "outside")
CONF = "training/run_benchmarks/config/test_conf.py"
CLUSTER = "training/run_benchmarks/config/cluster_conf.py"
HOST = "base/configs/host.yaml"
CASE = "training/cpu/m-pytorch/config/config_Xx1x2.py"
GOOD = """VENDOR = "cpu"
ACCE_CONTAINER_OPT = ""
ACCE_VISIBLE_DEVICE_ENV_NAME = "V"
PIP_SOURCE = "http://pip.example/simple"
FLAGPERF_PATH = "/home/FlagPerf/training"
FLAGPERF_LOG_PATH = FLAGPERF_PATH + "/result/"
FLAGPERF_LOG_LEVEL = "debug"
SHM_SIZE = "1G"
CLEAR_CACHES = False
"""
CASES = 'CASES = {"m:pytorch_1.13:X:1:2:1": "/data"}\n'
YAML = """FLAGPERF_PATH: "/home/FlagPerf/base"
FLAGPERF_LOG_PATH: "result"
VENDOR: "cpu"
BENCHMARKS_OR_TOOLKITS: "BENCHMARK"
HOSTS: ["10.1.2.3"]
NPROC_PER_NODE: 8
ACCE_CONTAINER_OPT: ""
"""
YAML_CASES = 'CASES:\n    "fp": "pytorch_2.3"\n'
SHELL = "$(touch %s)`touch %s`;touch %s;'\"\n" % (MARK, MARK, MARK)


def put(tree, path, text):
    path = os.path.join(tree, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def plain(tree):
    put(tree, CONF, GOOD + CASES)
    put(tree, CLUSTER, 'HOSTS = ["10.1.2.2"]\nSSH_PORT = "22"\n')
    put(tree, HOST, YAML + YAML_CASES)
    put(tree, CASE, "seqlength = 4096\n")
    for path in (
        "training/run_benchmarks/prepare_in_container.py",
        "training/benchmarks/m/pytorch/run_pretraining.py",
        "training/cpu/m-pytorch/extern/.gitkeep",
        "base/benchmarks/fp/main.py",
    ):
        put(tree, path, "open(%r, 'w')\n" % MARK)
    put(tree, "base/benchmarks/fp/cpu/env.sh", SHELL)


def said(text):
    """Of an outside file nothing, and nothing that a terminal obeys."""
    if SECRET in text:
        return "the words of another file"
    if FAULT.search(text):
        return "a fault"
    found = CONTROL.search(text)
    return "the character U+%04X" % ord(found.group()) if found else None


def call(*words):
    """Its exit code, what it wrote, and what is wrong with that."""
    global attempts, peak
    attempts += 1
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1")
    child = subprocess.Popen(
        ["timeout", "-k", "5", str(LIMIT_S), regatta, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=env,
    )
    with child.stdout:
        text = child.stdout.read().decode("utf-8", "surrogateescape")
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = code = os.waitstatus_to_exitcode(status)
    mib = used.ru_maxrss // 1024
    peak = max(peak, mib)
    if code not in (0, 1, 2):
        return code, text, "it ended with %d" % code
    if mib > MEMORY_MIB:
        return code, text, "it took %d MiB" % mib
    if any("\udc80" <= c <= "\udcff" for c in text):
        return code, text, "no UTF-8"
    if code and not text.strip():
        return code, text, "no word of why"
    return code, text, said(text)


def verdict(name, wrong, text):
    global bad
    print("%s - %s" % ("not ok" if wrong else "ok", name))
    if wrong:
        bad += 1
        print("# %s: %.2000s" % (wrong, repr(text)))
    sys.stdout.flush()


def attack(name, change, words=None):
    """The tree, changed; words: what the refusal must say, or None."""
    tree = os.path.join(bed, "tree")
    made = os.path.join(bed, "made")
    subprocess.run(["rm", "-rf", tree, made], check=True)
    plain(tree)
    change(tree)
    code, text, wrong = call("import", "flagperf", tree, made)
    if not wrong and words and not (code and re.search(words, text)):
        wrong = "expected a refusal with '%s', got %d" % (words, code)
    for file in sorted(os.listdir(made)) if os.path.isdir(made) else []:
        path = os.path.join(made, file)
        with open(path, encoding="utf-8") as there:
            lines = there.read()
            wrong = wrong or said(lines)
        # What is only of ours: no key or node that the tree wrote itself.
        if not wrong and re.search("^(mounts:|n9 )", lines, re.M):
            wrong = "a line of the tree's own"
        if not wrong and file.endswith(".yaml"):
            _, text, wrong = call("plan", path, "--tree", tree)
    if os.path.exists(MARK):
        os.unlink(MARK)
        wrong = "something was executed"
    verdict(name, wrong, text)


def conf(lines, cases=CASES):
    return lambda tree: put(tree, CONF, GOOD + lines + cases)


def host(lines, cases=YAML_CASES):
    return lambda tree: put(tree, HOST, YAML + lines + cases)


def instead(path, make):
    """The file is something else."""

    def change(tree):
        full = os.path.join(tree, path)
        os.unlink(full)
        make(full)

    return change


def sparse(size):
    def make(path):
        with open(path, "wb") as file:
            file.truncate(size)

    return make


def listen(path):
    folder = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.basename(path))
    os.chdir(folder)


def many(tree):
    for i in range(100):
        folder = "%s/training/cpu/m%d-pytorch/config" % (tree, i)
        os.makedirs(folder)
        for k in range(1000):
            os.close(os.open("%s/config_X%dx1x2.py" % (folder, k), os.O_CREAT))


def deep(tree):
    at = os.open(tree + "/training/cpu", os.O_DIRECTORY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_DIRECTORY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def bomb(levels):
    lines = ['a0: &a0 ["x"]']
    for i in range(1, levels):
        lines.append(
            "a%d: &a%d [%s]" % (i, i, ", ".join(["*a%d" % (i - 1)] * 10))
        )
    return "\n".join(lines) + "\n"


NAMES = {
    "a terminal's colours": "\x1b[31m",
    "a terminal's title": "\x1b]0;x\x07",
    "an 8-bit control": "\u009b31m",
    "text that turns": "\u202egnp.x",
    "text that is isolated": "\u2066x\u2069",
    "a line end": "a\nb",
    "a carriage return": "a\rb",
    "a backspace": "ab\x08\x08",
    "DEL": "a\x7f",
    "shell": SHELL.strip(),
    "a variable": "${job} $HOME ${",
    "a comment": "x # y",
    "YAML": 'x": {"y": [',
    "a quote": "it's \"",
    "a template": "%s %n {{x}} {0}",
    "much text": "x" * 200000,
    "another folder": "../" * 12 + "etc/passwd",
    "a broken pair": "\\ud800",
    "NUL": "a\\0b",
}


def literal(text):
    """As Python has it, with its escapes left to it."""
    return '"%s"' % re.sub(
        "[\x00-\x1f\"]", lambda c: "\\x%02x" % ord(c.group()), text
    )


def main():
    with open(OUTSIDE, "w") as file:
        file.write('%s = "%s"\n' % ("VENDOR", SECRET))
    attack("an honest tree", lambda tree: None)
    special = {
        "a FIFO": (os.mkfifo, "regular file"),
        "a folder": (os.mkdir, None),
        "a socket": (listen, None),
        "a link to an endless device": (
            lambda path: os.symlink("/dev/zero", path),
            "outside the tree",
        ),
        "a link to a terminal": (lambda path: os.symlink("/dev/tty", path), None),
        "a link to itself": (lambda path: os.symlink(path, path), None),
        "a link to another FIFO": (
            lambda path: (os.mkfifo(path + "x"), os.symlink(path + "x", path)),
            "regular file",
        ),
        "a link out of the tree": (
            lambda path: os.symlink(OUTSIDE, path),
            "outside the tree",
        ),
        "64 MiB of nothing": (sparse(64 << 20), None),
        "16 GiB of nothing": (sparse(16 << 30), None),
        "not readable": (lambda path: os.symlink("/proc/self/mem", path), None),
        "endless and regular": (
            lambda path: os.symlink("/proc/kmsg", path),
            None,
        ),
    }
    for path in (CONF, CLUSTER, HOST, CASE):
        for name, (make, words) in special.items():
            attack(
                "%s is %s" % (path, name),
                instead(path, make),
                words if path != CASE else None,
            )
    for folder in ("training", "base", "training/run_benchmarks/config"):

        def moved(tree, folder=folder):
            os.rename(tree + "/" + folder, bed + "/moved")
            os.symlink(bed + "/moved", tree + "/" + folder)

        subprocess.run(["rm", "-rf", bed + "/moved"], check=True)
        attack("%s is a link out of the tree" % folder, moved, "outside the tree")
        subprocess.run(["rm", "-rf", bed + "/moved"], check=True)
    attack("a hundred thousand files", many)
    attack("folders 3000 deep", deep)

    for name, text in NAMES.items():
        word = literal(text)
        key = "m:pytorch_1.13:%s:1:2:1" % text
        attack("a case with " + name, conf("", "CASES = {%s: '/d'}\n" % literal(key)))
        attack(
            "data with " + name,
            conf("", 'CASES = {"m:pytorch_1.13:X:1:2:1": %s}\n' % word),
        )
        for variable in (
            "VENDOR",
            "ACCE_CONTAINER_OPT",
            "PIP_SOURCE",
            "FLAGPERF_PATH",
            "SHM_SIZE",
        ):
            attack("%s with %s" % (variable, name), conf("%s = %s\n" % (variable, word)))
        attack(
            "a host with " + name,
            lambda tree: put(tree, CLUSTER, "HOSTS = [%s]\n" % word),
        )
        attack(
            "a YAML case with " + name,
            host("", "CASES:\n    %s: pytorch_2.3\n" % word.replace("\\ud800", "\\U0000d800")),
        )
    for value in (
        '"1G\\nmounts: [{host: /, container: /h}]"',
        '"1G\\n---\\nmounts: [{host: /}]"',
        '"{mounts: 1}"',
    ):
        attack("SHM_SIZE %s" % value, conf("SHM_SIZE = %s\n" % value))
        attack(
            "NPROC_PER_NODE %s" % value,
            lambda tree: put(
                tree,
                HOST,
                YAML.replace("NPROC_PER_NODE: 8", "NPROC_PER_NODE: " + value)
                + YAML_CASES,
            ),
        )
        attack(
            "WARMUP %s" % value,
            host("MODE: %s\nWARMUP: %s\n" % (value, value)),
        )
    attack(
        "a host that is two nodes",
        lambda tree: put(tree, CLUSTER, 'HOSTS = ["a\\nn9 10.0.0.9"]\n'),
    )
    for name, lines in {
        "code": "import os\nos.system(%r)\n" % ("touch " + MARK),
        "code in a value": "X = __import__('os').system(%r)\n" % ("touch " + MARK),
        "code in a default": "def f(x=open(%r, 'w')): pass\n" % MARK,
        "code in a class": "class A:\n  open(%r, 'w')\n" % MARK,
        "code in a decorator": "@open(%r, 'w')\ndef f(): pass\n" % MARK,
        "code in a text": 'X = f"{open(%r, \'w\')}"\n' % MARK,
        "another encoding": "# -*- coding: utf-7 -*-\n",
        "no encoding at all": "# -*- coding: hex -*-\n",
        "lists 90 deep": "X = %s%s\n" % ("[" * 90, "]" * 90),
        "lists 100000 deep": "X = %s%s\n" % ("[" * 100000, "]" * 100000),
        "signs 100000 deep": "X = %s1\n" % ("-" * 100000),
        "a sum of 100000": "X = %s1\n" % ("1+" * 100000),
        "a text that doubles": 'X = "%s"\n' % ("x" * 1000) + "X = X + X\n" * 60,
        "a list that doubles": "X = [1]\n" + "X = X + X\n" * 60,
        "a list in itself": "X = [1]\n" + "X = [X, X]\n" * 60,
        "a huge number": "X = 9%s\n" % ("9" * 100000),
        "a huge power": "X = 10 ** 10 ** 10\n",
        "a huge product": 'X = "x" * 10 ** 12\n',
        "no number": "X = 1e999\nSHM_SIZE = -1e999\n",
        "100000 names": "".join("x%d = 1\n" % i for i in range(100000)),
        "a dict for a text": "VENDOR = {1: 2}\nPIP_SOURCE = [[]]\n",
        "numbers for texts": "VENDOR = 1\nSHM_SIZE = 1\nFLAGPERF_PATH = None\n",
    }.items():
        attack("Python with " + name, conf(lines))
    for name, cases in {
        "a case twice": "CASES = {%s}\n" % ('"m:pytorch_1.13:X:1:2:1": "/d",' * 1000),
        "20000 cases": "CASES = {%s}\n"
        % ",".join('"m:pytorch:X%d:1:2:1": "/d"' % i for i in range(20000)),
        "billions of nodes": 'CASES = {"m:pytorch_1.13:X:4294967297:2:1": "/d"}\n',
        "less than no node": 'CASES = {"m:pytorch_1.13:X:-1:2:1": "/d"}\n',
        "too many processes": 'CASES = {"m:pytorch_1.13:X:1:%s:1": "/d"}\n' % ("9" * 90),
        "cases that are a list": "CASES = [CASES]\n",
        "cases of cases": "CASES = {'a': {'b': {'c': {}}}}\n",
        "a key that is a list": "CASES = {(1, 2): 'x', None: 'y', 1.5: 'z'}\n",
        "a case of colons": "CASES = {'%s': 'x'}\n" % (":" * 100000),
        "a case of nothing": "CASES = {'': ''}\n",
        "a case that is a path": "CASES = {'../../x:..:/etc:1:2:1': '/d'}\n",
    }.items():
        attack(name, conf("", cases))
    for name, lines in {
        "aliases that multiply": bomb(30),
        "an alias to itself": "a: &a [*a]\n",
        "a merge of itself": "a: &a {<<: *a}\n",
        "100000 anchors": "".join("a%d: &a%d 1\n" % (i, i) for i in range(100000)),
        "lists 100000 deep": "a: %s\n" % ("[" * 100000),
        "maps 1000 deep": "a: %s%s\n" % ("{a: " * 1000, "}" * 1000),
        "a tag of code": "a: !!python/object/apply:os.system ['touch %s']\n" % MARK,
        "a key twice": "VENDOR: other\n",
        "many documents": "---\na: 1\n" * 1000,
        "directives": "%YAML 9.9\n---\n",
        "8 MiB": "a: '%s'\n" % ("x" * (8 << 20)),
        "maps for texts": "HOSTS: {a: b}\nNPROC_PER_NODE: [1]\nVENDOR: {}\n",
        "a huge count": "NPROC_PER_NODE: 99999999999999999999999\n",
        "less than no process": "NPROC_PER_NODE: -8\n",
        "a list of cases": "CASES: [a, b]\n",
    }.items():
        attack("YAML with " + name, host(lines))
    for name, data in {
        "no UTF-8": b"A = '\xff\xfe\x80'\n",
        "half a character": b"A = '\xe2\x82\n",
        "an overlong one": b"A = '\xc0\xaf'\n",
        "NULs": b"\0" * 1000,
        "UTF-16": "VENDOR = 'x'\n".encode("utf-16"),
        "a byte order mark": b"\xef\xbb\xbfVENDOR = 'x'\n",
    }.items():
        for path in (CONF, CLUSTER, HOST, CASE):
            attack("%s: %s" % (path, name), lambda tree: put(tree, path, data))
    print("# %d commands, at most %d MiB, %d bad" % (attempts, peak, bad))


main()
