# flagperf_differences.py - what programs are given by FlagPerf and by us: each
# difference, by the name that regatta-flagperf(7) has for it.
#
#	flagperf_differences.py record FOLDER	a program's text: it writes what
#			it was given into a file of FOLDER
#	flagperf_differences.py compare FOLDER STUBS	has records of both
#			sides, theirs/ and ours/; runs: docker run lines of
#			theirs; plain: mountinfo of any container; alone:
#			commands of theirs on the hosts, beside containers.
#			STUBS is the folder that theirs has in PATH
#	flagperf_differences.py page FILE FOUND NAME...	what is in the manual
#			page and not in FOUND, lines of compare, and the other
#			way round. NAMEs are those that no program shows
#	flagperf_differences.py container FILE	the differences of containers in
#			the manual page
#
# compare prints lines "NAME" and "NAME VARIABLE"; a difference that has no name
# here is a line "unknown: ...". FlagPerf's first host is 10.77.0.11, its other one
# 10.77.0.12, its port 29501.
#
# The section of the page has a list with an item for each name, ".It Sy NAME"; in
# it, variables are ".Ev NAME", where * stands for anything. A list in it has those
# of containers.
#
# What a shell sets in passing is no difference (shell_own), nor are two ways to
# write one path, nor the time in the name of a folder of logs.
import fnmatch
import json
import os
import re
import sys

RECORD = """
import json, os, sys, tempfile
config = None
for word in sys.argv:
    if word.endswith("ds_config_tmp.json"):
        config = json.load(open(word))
mounts = [line.split()[3:6] for line in open("/proc/self/mountinfo")]
file, name = tempfile.mkstemp(dir=%r)
with os.fdopen(file, "w") as out:
    json.dump({"argv": sys.argv, "python": sys.orig_argv[1:-len(sys.argv)],
               "cwd": os.getcwd(), "env": dict(os.environ), "config": config,
               "mounts": mounts, "output": os.readlink("/proc/self/fd/1")}, out)
"""
shell_own = {"_", "SHLVL", "OLDPWD"}
FIRST, OTHER, PORT = "10.77.0.11", "10.77.0.12", 29501


def path(text):
    text = re.sub(r"/result/+run\d{14}", "/result/RUN", text)
    return re.sub("//+", "/", text).rstrip("/")


# ---- steps that make a text of ours and one of theirs equal, by their names ---


def nodes(text, record):
    first = FIRST if record["side"] == "theirs" else record["env"]["MASTER_ADDR"]
    text = text.replace(first, "FIRST")
    return re.sub(r"10\.77\.0\.1[12]\b", "OTHER", text)


def port(text, record):
    first = PORT if record["side"] == "theirs" else int(record["env"]["MASTER_PORT"])
    text = re.sub(r"\b%d\b" % first, "PORT", text)
    return re.sub(r"\b%d\b" % (first + 1), "PORT+1", text)


def hosts(text, record):
    script = os.path.join(record["cwd"], record["argv"][0])
    if record["side"] == "theirs" and re.search(
            "/benchmarks/[^/]+/(flagscale|tensorflow2)/", script):
        return re.sub("^((--hosts=)?%s),%s$" % (FIRST, OTHER), r"\1", text)
    return text


def ds_config(text, record):
    return os.path.basename(text) if text.endswith("/ds_config_tmp.json") else text


STEPS = {step.__name__: step for step in (hosts, nodes, port, ds_config)}


def after(steps, text, record):
    for name in steps:
        text = STEPS[name](text, record)
    return path(text)


def named(his, mine, them, us):
    """The names of what makes the texts differ; None: something else does."""
    if after(STEPS, his, them) != after(STEPS, mine, us):
        return None
    found = set()
    for name in STEPS:
        others = [other for other in STEPS if other != name]
        if after(others, his, them) != after(others, mine, us):
            found.add(name)
    return found


def variables(them, us, prepared):
    """Differences of the environments; prepared: names that prepare may have."""
    prepare = "/prepare_in_container.py" in us["argv"][0]
    for name in sorted((set(them["env"]) | set(us["env"])) - shell_own):
        his, mine = them["env"].get(name), us["env"].get(name)
        if his == mine:
            continue
        if his is None:
            if not prepare:
                yield "variables " + name
            elif name in prepared:
                yield "prepare"
            else:
                yield "unknown: prepare: %s=%s" % (name, mine)
            continue
        names = mine is not None and named(his, mine, them, us)
        if names:
            yield from names
        elif name == "PADDLE_TRAINER_ID" and mine == us["env"]["RANK"]:
            yield "paddle"
        elif name == "PATH" and mine == "/regatta/bin:" + his:
            yield "ssh"
        else:
            yield "unknown: %s: %s, ours %s" % (name, his, mine)


def program(them, us, prepared):
    """Differences of a program; None: they are not the same program."""
    if (len(them["argv"]) != len(us["argv"]) or them["cwd"] != us["cwd"] or
            them["config"] != us["config"] or them["python"] != us["python"]):
        return None
    found = set()
    for his, mine in zip(them["argv"], us["argv"]):
        names = named(his, mine, them, us)
        if names is None:
            return None
        found |= names
    found |= set(variables(them, us, prepared))
    if us["output"].startswith("/regatta/out/"):
        found.add("output")
    elif us["output"] != them["output"]:
        found.add("unknown: output: %s, ours %s" % (them["output"], us["output"]))
    return found


# ---- what does not belong to one program --------------------------------------


def mounts(folder, ours):
    """Mounts of ours that no container has by itself, against theirs. What a
    profile mounts is below a folder "files", read-only."""
    with open(folder + "/plain") as file:
        plain = {line.split()[4] for line in file}
    with open(folder + "/runs") as file:
        lines = [set(re.findall(r" -v ([^ :]+:[^ ]+)", line)) for line in file]
    theirs = {tuple(map(os.path.normpath, volume.split(":"))) for volume in lines[0]}
    if any(line != lines[0] for line in lines):
        yield "unknown: theirs: cases with different mounts"
    for record in ours:
        missing = set(theirs)
        for root, point, options in record["mounts"]:
            same = [pair for pair in theirs if pair[1] == point]
            if same and same[0][0].endswith(root) and options.startswith("rw"):
                missing -= {same[0]}
            elif point in ("/regatta/bin/ssh", "/regatta/bin/scp"):
                yield "ssh"
            elif (point in ("/regatta/in", "/regatta/out")
                  or point.startswith("/regatta-")):
                yield "folder"
            elif root.endswith("/files" + point) and options.startswith("ro"):
                yield "profile"
            elif point not in plain:
                yield "unknown: mount: %s %s %s" % (root, point, options)
        for pair in missing:
            yield "unknown: no mount: %s:%s" % pair


def on_hosts(folder):
    """Commands that theirs ran beside the containers; none of ours did."""
    with open(folder + "/alone") as file:
        for line in file:
            if "_monitor.py" in line:
                yield "monitors"
            elif "drop_caches" in line:
                yield "caches"
            else:
                yield "unknown: on hosts: " + line.strip()


def weight(found):
    return len([line for line in found if line.startswith("unknown")]), len(found)


def compare(folder, stubs):
    sides = {}
    for side in "theirs", "ours":
        names = sorted(os.listdir(folder + "/" + side))
        sides[side] = [json.load(open("%s/%s/%s" % (folder, side, name)))
                       for name in names]
        for record in sides[side]:
            record["side"] = side
    for record in sides["theirs"]:
        record["env"]["PATH"] = record["env"]["PATH"].replace(stubs + ":", "", 1)
        del record["env"]["PYTHONPATH"]
    found = set(mounts(folder, sides["ours"])) | set(on_hosts(folder))
    prepared = {name for record in sides["ours"] for name in record["env"]
                if "/prepare_in_container.py" not in record["argv"][0]}
    left = list(sides["ours"])
    for them in sides["theirs"]:
        best = None
        for us in left:
            now = program(them, us, prepared)
            if now is not None and (best is None or weight(now) < weight(best[0])):
                best = now, us
        if best is None:
            found.add("unknown: only theirs: %s in %s with %s" % (
                them["python"] + them["argv"], them["cwd"], them["config"]))
            continue
        found |= best[0]
        left.remove(best[1])
    for us in left:
        words = us["python"] + us["argv"]
        config = [word for option, word in zip(words, words[1:])
                  if option == "--flagperf_config"]
        if config and not os.path.exists(os.path.dirname(config[0]) + "/net.sh"):
            found.add("net.sh")
            continue
        found.add("unknown: only ours: %s in %s with %s" % (
            words, us["cwd"], us["config"]))
    return found


# ---- the page -------------------------------------------------------------------


def page(name, wanted):
    """Items of lists of that depth in the section, with the variables in each."""
    with open(name) as file:
        section = re.search(r"^\.Ss Differences from FlagPerf\n(.*?)^\.S[sh] ",
                            file.read(), re.M | re.S)
    depth, item = 0, None
    for line in section.group(1).splitlines():
        depth += line.startswith(".Bl ") - line.startswith(".El")
        if depth == wanted and line.startswith(".It Sy "):
            item = line[len(".It Sy "):]
            yield item
        elif line.startswith(".Ev ") and wanted == 1:
            for word in line.split()[1:]:
                if word not in (",", ".", ";"):
                    yield item + " " + word


def against_page(name, found, *elsewhere):
    with open(found) as file:
        found = set(file.read().splitlines())
    # A line of a variable stands for its item, too.
    found |= {line.split()[0] for line in found} | set(elsewhere)
    items = set(page(name, 1))
    for line in found:
        if not any(fnmatch.fnmatchcase(line, item) for item in items):
            yield "not in the page: " + line
    for item in items:
        if not fnmatch.filter(found, item):
            yield "only in the page: " + item


def main(command, *words):
    if command == "record":
        print(RECORD % words)
    elif command == "compare":
        print("\n".join(sorted(compare(*words))))
    elif command == "page":
        print("\n".join(sorted(against_page(*words))))
    elif command == "container":
        print("\n".join(sorted(page(words[0], 2))))
    else:
        sys.exit("flagperf_differences.py: " + command)


main(*sys.argv[1:])
