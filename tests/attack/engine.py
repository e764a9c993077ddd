#!/usr/bin/python3
"""An engine that lies: it stands before a real one, and gives answers of its own.

	engine.py SOCKET REAL_SOCKET REPORT

Of the requests of each kind every third one gets the next answer of the list
that was not given yet, the others go to the engine. REPORT has a line for each
that was given. While there is a file REPORT.pid the only lie is that containers
run, and that this process is their process 1. Ends by SIGTERM.
"""
import json
import os
import random
import re
import signal
import socket
import socketserver
import sys
import threading

path, real, report = sys.argv[1:]
KINDS = {
    "version": r"^GET (/v[\d.]+)?/version",
    "info": r"^GET (/v[\d.]+)?/info",
    "image": r"^GET .*/images/[^ ]+/json",
    "images": r"^GET .*/images/json",
    "create": r"^POST .*/containers/create",
    "start": r"^POST .*/containers/[^/]+/start",
    "wait": r"^POST .*/containers/[^/]+/wait",
    "inspect": r"^GET .*/containers/[^/]+/json",
    "list": r"^GET .*/containers/json",
    "events": r"^GET .*/events",
    "remove": r"^DELETE .*/containers/",
    "save": r"^GET .*/images/[^ ]+/get",
    "load": r"^POST .*/images/load",
}
MIB = 1 << 20
lock = threading.Lock()


def head(*lines, status="200 OK"):
    lines = ("HTTP/1.1 " + status, "Content-Type: application/json") + lines
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def whole(body, status="200 OK"):
    body = body if isinstance(body, bytes) else body.encode()
    return head("Content-Length: %d" % len(body), status=status) + body


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


# Each takes the connection and the true answer, and sends what it likes.
def say(data):
    return lambda out, true: out.sendall(data)


def endless(first, part):
    def run(out, true):
        out.sendall(first)
        for _ in range(512 * MIB // len(part)):
            out.sendall(part)

    return run


def bytewise(out, true):
    for byte in whole(true)[:400]:
        out.sendall(bytes([byte]))


def midway(out, true):
    out.sendall(whole(true)[: -len(true) // 2 or None])


def with_leaves(value, other):
    if isinstance(value, dict):
        return {key: with_leaves(item, other) for key, item in value.items()}
    if isinstance(value, list):
        return [with_leaves(item, other) for item in value]
    return other


def mutated(change):
    def run(out, true):
        try:
            value = json.loads(true)
        except ValueError:
            value = {}
        out.sendall(whole(json.dumps(change(value))))

    return run


def state(**more):
    return mutated(
        lambda value: dict(value, State=dict(value.get("State") or {}, **more))
        if isinstance(value, dict)
        else value
    )


def ids(value):
    evil = "../../../containers/x/json?a=\r\nX: y"
    if isinstance(value, list):
        return [ids(item) for item in value] + [{"Id": evil, "Names": [evil]}]
    if isinstance(value, dict):
        return {
            key: evil if key in ("Id", "ID", "Image", "Name") else item
            for key, item in value.items()
        }
    return value


LIES = {
    "headers without end": endless(b"HTTP/1.1 200 OK\r\n", b"X: %s\r\n" % (b"y" * 1000)),
    "one header without end": endless(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 65536),
    "chunks without end": endless(
        head("Transfer-Encoding: chunked"), chunk(b'"' + b"x" * MIB)
    ),
    "empty lines without end": endless(
        head("Transfer-Encoding: chunked"), chunk(b"\n" * 65536)
    ),
    "objects without end": endless(
        head("Transfer-Encoding: chunked"), chunk(b'{"a":{}}\n' * 1000)
    ),
    "a chunk of 2^64 bytes": say(
        head("Transfer-Encoding: chunked") + b"FFFFFFFFFFFFFFFFF\r\nx"
    ),
    "a huge length": say(head("Content-Length: 9223372036854775807") + b"{}"),
    "a length past all": say(head("Content-Length: 99999999999999999999") + b"{}"),
    "a negative length": say(head("Content-Length: -1") + b"{}"),
    "two lengths": say(head("Content-Length: 2", "Content-Length: 9") + b"{}"),
    "100,000 lists": say(whole("[" * 100000)),
    "100,000 maps": say(whole('{"State":' * 100000)),
    "a text of 64 MiB": say(whole(b'{"Id":"' + b"x" * (64 * MIB) + b'"}')),
    "a text of 15 MiB": say(whole(b'{"message":"' + b"x" * (15 * MIB) + b'"}')),
    "broken UTF-8": say(whole(b'{"Id":"\xff\xfe\xc0\xaf","State":{"Status":"\x80"}}')),
    "NULs": say(whole(b"\x00" * 1000)),
    "no JSON": say(whole("<html>")),
    "nothing": say(whole("")),
    "no HTTP": say(b"\x16\x03\x01" + b"x" * 1000),
    "a status of its own": say(whole("{}", status="999 x")),
    "a redirect": say(
        head("Location: http://127.0.0.1:1/", "Content-Length: 0", status="302 Found")
    ),
    "100 again and again": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 500),
    "an upgrade": say(head("Upgrade: tcp", "Connection: Upgrade", status="101 UPGRADED")),
    "zipped": say(head("Content-Encoding: gzip", "Content-Length: 2") + b"{}"),
    "500 with markup": say(
        whole('{"message":"\\u001b[31m\\u202e<script>%s"}' % ("e" * 5000), "500 x")
    ),
    "404": say(whole('{"message":"no such thing"}', "404 Not Found")),
    "409": say(whole('{"message":[]}', "409 Conflict")),
    "a byte at a time": bytewise,
    "half": midway,
    "closed at once": say(b""),
    "numbers for all": mutated(lambda value: with_leaves(value, -1e308)),
    "texts for all": mutated(lambda value: with_leaves(value, "x")),
    "null for all": mutated(lambda value: with_leaves(value, None)),
    "lists for all": mutated(lambda value: with_leaves(value, [[]])),
    "maps for all": mutated(lambda value: with_leaves(value, {"a": {}})),
    "true for all": mutated(lambda value: with_leaves(value, True)),
    "a list for a map": mutated(lambda value: [value]),
    "a text for a map": mutated(lambda value: "x"),
    "ids with ../": mutated(ids),
}
STATES = {
    "running and dead": state(Status="running", Running=False, Dead=True),
    "exited and running": state(Status="exited", Running=True, ExitCode=0),
    "a code of 2^40": state(Status="exited", Running=False, ExitCode=1 << 40),
    "a code below 0": state(Status="exited", Running=False, ExitCode=-1),
    "half a code": state(Status="exited", Running=False, ExitCode=0.5),
    "an unknown state": state(Status="\x1b[31m"),
    "times that are none": state(
        Status="exited", StartedAt="9999-99-99T99:99:99Z", FinishedAt="\x00"
    ),
    "an end before the start": state(
        Status="exited",
        StartedAt="2030-01-01T00:00:00Z",
        FinishedAt="1970-01-01T00:00:00Z",
    ),
    "out of memory, and not": state(Status="running", OOMKilled=True),
}
todo = {kind: list(LIES.items()) for kind in KINDS}
todo["inspect"] += list(STATES.items())
for lies in todo.values():
    random.Random(1).shuffle(lies)
asked = dict.fromkeys(KINDS, 0)


def next_lie(line):
    with lock:
        for kind, pattern in KINDS.items():
            if not re.search(pattern, line):
                continue
            asked[kind] += 1
            if asked[kind] % 3 or not todo[kind]:
                return None
            name, lie = todo[kind].pop()
            with open(report, "a") as file:
                file.write("%s: %s\n" % (kind, name))
            return lie
    return None


def named_process():
    try:
        with open(report + ".pid") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    return data


def forward(source, to):
    try:
        while True:
            part = source.recv(65536)
            if not part:
                break
            to.sendall(part)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        data = read_request(self.request)
        if not data:
            return
        line = data.partition(b"\r\n")[0].decode("latin-1")
        pid = named_process()
        if pid and re.search(KINDS["start"], line):
            self.request.sendall(head("Content-Length: 0"))
            return
        if pid and re.search(KINDS["inspect"], line):
            lie = state(Status="running", Running=True, Pid=pid)
        else:
            lie = None if pid else next_lie(line)
        # One request a connection, so that each is seen.
        data = data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(real)
            engine.sendall(data)
            if lie:
                self.lie(lie, line, engine)
                return
            up = threading.Thread(target=forward, args=(self.request, engine))
            up.daemon = True
            up.start()
            forward(engine, self.request)

    def lie(self, lie, line, engine):
        """What was asked for is done; what it says of it is ours."""
        true = b"{}"
        if re.match("GET (?!.*/(events|images/.*/get))", line):
            answer = b""
            while True:
                part = engine.recv(65536)
                if not part:
                    break
                answer += part
            true = answer.partition(b"\r\n\r\n")[2]
            if b"chunked" in answer.partition(b"\r\n\r\n")[0]:
                true = unchunk(true)
        try:
            lie(self.request, true)
        except OSError:
            pass


def unchunk(data):
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        out += data[: int(size or b"0", 16)]
        data = data[int(size or b"0", 16) + 2 :]
    return out


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
Server(path, Handler).serve_forever()
