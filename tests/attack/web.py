#!/usr/bin/python3
"""What no browser sends, to the web server of a controller.

	web.py LOGIN_URL OTHER_URL PATH...

LOGIN_URL: as `regatta web` prints it, not used yet; OTHER_URL: that of another
key; PATH: pages that show what others wrote. Prints TAP's lines without numbers,
and counts.
"""
import html.parser
import random
import re
import select
import socket
import sys
import time
import urllib.parse

login = urllib.parse.urlsplit(sys.argv[1])
other_login = urllib.parse.urlsplit(sys.argv[2])
pages = sys.argv[3:]
at = (login.hostname, login.port)
WAIT_S = 120
SCRIPT = rb"script-src [^;]*(unsafe|\*|http)|default-src [^;]*unsafe"
CONNECTIONS_MAX = 256
STREAMS_MAX = 200
attempts = 0


def ok(good, name, words=""):
    print("%s - %s" % ("ok" if good else "not ok", name))
    if not good and words:
        print("# %.600s" % repr(words))
    sys.stdout.flush()


def connect():
    global attempts
    attempts += 1
    return socket.create_connection(at, WAIT_S)


def answer(connection):
    """All that comes, until it is closed; of an event stream the beginning."""
    parts = []
    try:
        while True:
            part = connection.recv(65536)
            if not part:
                break
            parts.append(part)
            if b"text/event-stream" in part:
                break
    except (ConnectionError, socket.timeout):
        pass
    return b"".join(parts)


def send(data):
    """The status of the last answer, 0: none; and all bytes."""
    with connect() as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        text = answer(connection)
    found = re.findall(rb"HTTP/1\.[01] (\d{3}) ", text)
    return int(found[-1]) if found else 0, text


def send_all(heads):
    """Statuses of all of them at once: the server waits up to 30 s for the rest
    of a head that is none."""
    seen, waiting = {}, {}
    for head in heads:
        connection = connect()
        try:
            connection.sendall(head)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        waiting[connection] = b""
    while waiting:
        ready = select.select(list(waiting), [], [], WAIT_S)[0]
        if not ready:
            return None
        for connection in ready:
            try:
                part = connection.recv(65536)
            except OSError:
                part = b""
            waiting[connection] += part
            if part and b"text/event-stream" not in waiting[connection]:
                continue
            found = re.findall(rb"HTTP/1\.[01] (\d{3}) ", waiting.pop(connection))
            status = int(found[-1]) if found else 0
            seen[status] = seen.get(status, 0) + 1
            connection.close()
    return seen


def request(path, *lines, method="GET"):
    head = [b"%s %s HTTP/1.1" % (method.encode(), raw(path)), b"Host: localhost"]
    head += [raw(line) for line in lines] + [b"Connection: close", b"", b""]
    return b"\r\n".join(head)


def raw(text):
    return text if isinstance(text, bytes) else text.encode()


def ask(path, *lines):
    """As send(), until the second has room for it."""
    while True:
        status, text = send(request(path, *lines))
        if status != 503:
            return status, text


def works(cookie=None):
    """An honest reader is answered, though not always at the first time: there
    may be more requests than one second has."""
    end = time.monotonic() + WAIT_S
    path, lines = ("/", ("Cookie: " + cookie,)) if cookie else ("/metrics", ())
    while time.monotonic() < end:
        status, text = send(request(path, *lines))
        if status == 200:
            return True
        if status != 503:
            return False
    return False


def enter(url):
    path = url.path + "?" + url.query
    first = send(request(path))
    return path, first, re.search(rb"Set-Cookie: (regatta=[0-9a-f]+);", first[1])


def log_in():
    path, first, cookie = enter(login)
    ok(first[0] == 303 and cookie, "the address lets in", first)
    again = [send(request(path))[0] for _ in range(20)]
    ok(set(again) <= {403, 503}, "once, however often it is sent again", again)
    return cookie.group(1).decode()


def wrong_cookies(cookie):
    name, value = cookie.split("=")
    seen = {}
    for text in (
        "",
        "regatta",
        "regatta=",
        name + "=" + value[:-1],
        name + "=" + value + "0",
        name + "=" + value.upper() + "G",
        name + "=" + value[::-1],
        name + "=" + "0" * len(value),
        name + "=" + "\x00" * len(value),
        name + "=" + "%" * 8000,
        ";" * 8000,
        "a=b;" * 2000,
        name + "=x; " + name + "=y",
        name + "=../../etc/passwd",
        name + "=' OR 1=1 --",
        name + '="',
        "\xff\xfe=\x80",
    ):
        status, _ = ask("/", b"Cookie: " + text.encode("latin-1"))
        seen[status] = seen.get(status, 0) + 1
    for _ in range(150):
        status, _ = ask("/", "Cookie: regatta=%064x" % random.getrandbits(256))
        seen[status] = seen.get(status, 0) + 1
    ok(200 not in seen, "no wrong cookie lets in: %s" % seen, seen)


def paths(cookie):
    wrong = []
    seen = {}
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/..%252f..%252fetc/passwd",
        "/..\\..\\etc\\passwd",
        "/%c0%ae%c0%ae/etc/passwd",
        "//etc/passwd",
        "/style.css/../../etc/passwd",
        "/style.css%00.html",
        "/%00",
        "/%",
        "/%zz",
        "/%1b[31m",
        "/\x1b[31m",
        "/%E2%80%AE",
        "/<script>alert(1)</script>",
        "/%3Cscript%3Ealert(1)%3C/script%3E",
        "/job/1%20",
        "/job/+1",
        "/job/0x1",
        "/job/18446744073709551617",
        "/job/-1",
        "/log/1/0/-1",
        "/log/1/0/18446744073709551615",
        "/log/1/18446744073709551615/0",
        "/sweep/1/%s" % ("9" * 5000),
        "/live?page=../../etc/passwd",
        "/live?page=%3Cscript%3E",
        "/live?page=/live?page=/live",
        "/live?page=/metrics",
        "/live?page=%00&shape=%00",
        "/live",
        "/login?ticket=",
        "/login?ticket=" + "0" * 9000,
        "/login?ticket[]=1",
        "/?" + "a=b&" * 1500,
        "http://other.example/",
        "*",
        "other.example:443",
        b"/\xff\xfe\x80",
        b"/\x00/x",
        "/" + "a" * 100000,
        "/" + "/" * 5000,
        "/" + "%2e%2e/" * 1500,
    ]:
        status, text = ask(path, "Cookie: " + cookie)
        seen[status] = seen.get(status, 0) + 1
        body = text.partition(b"\r\n\r\n")[2]
        if b"root:" in body or b"<script>alert" in body or b"\x1b" in text:
            wrong.append((path, text))
        own = raw(path).replace(b"%00", b"\0").partition(b"\0")[0]
        if status == 200 and own not in (b"/", b"/style.css") and not own.startswith((b"/?", b"/live", b"http:", b"//")):
            wrong.append((path, text[:200]))
        if status >= 500:
            wrong.append((path, text[:200]))
    ok(not wrong, "no path leads elsewhere: %s" % seen, wrong)
    for status, text in [
        ask("/", "Cookie: " + cookie, "Host: evil.example"),
        ask("/login?ticket=x", "Host: evil.example", "Origin: null"),
        ask(
            "/",
            "Cookie: " + cookie,
            "Origin: https://evil.example",
            "X-Forwarded-Host: evil.example",
            "X-Original-URL: /login",
        ),
    ]:
        ok(
            b"evil.example" not in text
            and b"Access-Control" not in text
            and status in (200, 303, 400, 403),
            "a forged Host or Origin is not repeated: %d" % status,
            text,
        )


def heads(cookie):
    good = request("/metrics")
    all_heads = [
        b"",
        b"\r\n" * 10000,
        b"\x00" * 100000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00" * 1000,
        b"GET\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n\r\n",
        b"get /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"A" * 100000 + b" / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /metrics HTTP/1.1\n\n",
        b"GET /metrics HTTP/1.1\r\n Host: localhost\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n: y\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nA\x00B: y\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n",
        request("/metrics", *["H%d: x" % i for i in range(10000)]),
        request("/metrics", *["Cookie: a%d=b" % i for i in range(10000)]),
        request("/metrics", "X: " + "y" * 1000000),
        request("/metrics", "Content-Length: 99999999999999999999999"),
        request("/metrics", "Content-Length: -1"),
        request("/metrics", "Content-Length: 1", "Content-Length: 2") + b"ab",
        request("/metrics", "Transfer-Encoding: chunked") + b"FFFFFFFFFFFFFFFFF\r\n",
        request("/metrics", "Transfer-Encoding: chunked", "Content-Length: 5")
        + b"0\r\n\r\n" + good,
        request("/metrics", "Transfer-Encoding: x, chunked") + b"0\r\n\r\n",
        request("/metrics", "Expect: 100-continue", "Content-Length: 9"),
        request("/metrics", "Expect: " + "x" * 4000),
        request("/metrics", "Range: bytes=0-,0-,0-,0-,0-"),
        request("/metrics", "Accept: " + ",".join(["a/b;q=0.1"] * 800)),
        request("/metrics", "Upgrade: websocket", "Connection: Upgrade"),
        request("/live?page=/", "Last-Event-ID: " + "9" * 4000),
    ] + [
        request("/", "Cookie: " + cookie, method=method)
        for method in ("POST", "PUT", "DELETE", "TRACE", "CONNECT", "OPTIONS")
    ]
    rest = random.Random(1)
    for _ in range(160):
        broken = bytearray(good)
        for _ in range(rest.randint(1, 8)):
            broken[rest.randrange(len(broken))] = rest.randrange(256)
        all_heads.append(bytes(broken))
    seen = send_all(all_heads)
    wrong = seen is None or [s for s in seen if s >= 500 and s not in (501, 503, 505)]
    ok(not wrong and works(), "heads that are none: %s" % seen, wrong)


def pipelined():
    many = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 499 + request("/metrics")
    done = []
    for _ in range(4):
        with connect() as connection:
            connection.sendall(many)
            text = answer(connection)
        done.append(len(re.findall(rb"HTTP/1\.1 (?:200|503) ", text)))
    ok(works(), "500 requests in one write, four times: %s answered" % done)


def slow(cookie):
    """More connections than there is room for, that say a byte at a time."""
    held = []
    head = request("/metrics")

    def drip(step):
        for i, connection in enumerate(held):
            try:
                connection.sendall(head[i % 7 + step : i % 7 + step + 1])
            except OSError:
                pass

    for i in range(2 * CONNECTIONS_MAX):
        connection = connect()
        connection.sendall(head[: i % 7])
        held.append(connection)
    good = []
    for step in range(10):
        drip(step)
        good.append(works(cookie))
    ok(all(good), "%d slow ones keep nobody out" % len(held), good)
    for connection in held:
        connection.close()
    # They ask, and take no answer.
    held = []
    for _ in range(2 * CONNECTIONS_MAX):
        connection = connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.sendall(head)
        held.append(connection)
    ok(works(cookie), "nor do those that take no answer")
    for connection in held:
        connection.close()


def flood(cookie, other):
    """More requests of one key than a second has, and then one of another."""
    many = request("/style.css", "Cookie: " + cookie).replace(b"Connection: close\r\n", b"")
    refused, seen = 0, []
    for _ in range(6):
        with connect() as connection:
            connection.sendall(many * 499 + request("/style.css", "Cookie: " + cookie))
            refused += b"HTTP/1.1 503 " in answer(connection)
        seen.append(send(request("/style.css", "Cookie: " + other))[0])
    ok(refused and set(seen) == {200}, "who asks too much keeps no other key out", seen)


def streams(cookie, other):
    held, refused = [], 0
    end = time.monotonic() + WAIT_S
    while len(held) < STREAMS_MAX and time.monotonic() < end:
        connection = connect()
        connection.sendall(
            b"GET /live?page=/ HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n"
            % cookie.encode()
        )
        if b" 200 " in connection.recv(4096):
            held.append(connection)
        else:
            refused += 1
            connection.close()
    ok(len(held) == STREAMS_MAX, "%d event streams are open" % len(held))
    more = 0
    for _ in range(100):
        with connect() as connection:
            connection.sendall(
                b"GET /live?page=/ HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n"
                % cookie.encode()
            )
            if b" 200 " in connection.recv(4096):
                more += 1
    ok(more == 0, "and none more", more)
    ok(works(cookie), "pages are there meanwhile")
    gone = sum(bool(select.select([c], [], [], 0)[0] and not c.recv(65536)) for c in held)
    ok(gone == 0, "and the streams stay", gone)
    with connect() as connection:
        connection.sendall(
            b"GET /live?page=/ HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n"
            % other.encode()
        )
        ok(b" 200 " in connection.recv(4096), "another key gets one of them")
    for connection in held:
        connection.close()
    ok(works(cookie), "and afterwards")
    # Nothing is written to them, so only their going away can tell.
    refused = opened = 0
    while opened < 2 * STREAMS_MAX and time.monotonic() < end:
        with connect() as connection:
            connection.sendall(
                b"GET /live?page=/nodes HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n"
                % cookie.encode()
            )
            answer = connection.recv(4096)
            opened += b" 200 " in answer
            refused += not answer
    ok(refused == 0, "streams that end make room for %d others" % opened, refused)


OURS = (
    {"http-equiv": "refresh", "content": "10"},
    {"rel": "stylesheet", "href": "/style.css"},
)


class Reader(html.parser.HTMLParser):
    """Names of what a page has that could run."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.wrong = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("img", "iframe", "object", "embed", "base", "form", "link", "meta"):
            ours = attrs in OURS or (tag == "meta" and "http-equiv" not in attrs)
            if not ours:
                self.wrong.append("%s %s" % (tag, attrs))
        if tag == "script" and attrs.get("src") != "/script.js":
            self.wrong.append("script")
        for name, value in attrs.items():
            if name.startswith("on") or (value or "").strip().lower().startswith(
                ("javascript:", "data:", "//")
            ):
                self.wrong.append(name)

    def handle_data(self, data):
        # A page says such a character, if at all, in words of its own.
        found = re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", data
        )
        if found:
            self.wrong.append("U+%04X" % ord(found.group()))


def shown(cookie):
    for page in pages:
        status, text = ask(page, "Cookie: " + cookie)
        reader = Reader()
        reader.feed(text.partition(b"\r\n\r\n")[2].decode("utf-8", "surrogateescape"))
        ok(
            status == 200 and not reader.wrong,
            "%s shows what others wrote as text" % page,
            (status, reader.wrong),
        )
        ok(
            b"default-src 'none'" in text and not re.search(SCRIPT, text),
            "%s: nothing in it could run" % page,
        )
        status, text = ask(page)
        ok(status == 403, "%s: nothing without a login" % page, status)


def main():
    cookie = log_in()
    other = enter(other_login)[2].group(1).decode()
    shown(cookie)
    wrong_cookies(cookie)
    paths(cookie)
    heads(cookie)
    pipelined()
    slow(cookie)
    flood(cookie, other)
    streams(cookie, other)
    print("# %d connections" % attempts)


main()
