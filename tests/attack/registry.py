"""registry.py - a registry that lies: each repository is another lie.

Prints the port that it listens at. A lie's answer to what the engine asks for
(a manifest, a blob) is hostile; the rest of it is as small and true as it may be.
"""
import hashlib
import http.server
import json
import socketserver

MIB = 1 << 20
WORDS = "\x1b[2J\x1b]0;taken\x07\u202egnp.exe <script>alert(1)</script>\n{0}" * 3


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


CONFIG = json.dumps({"architecture": "amd64", "os": "linux", "config": {},
                     "rootfs": {"type": "layers", "diff_ids": [digest(b"")]}}).encode()
KIND = "application/vnd.docker.distribution.manifest.v2+json"


def manifest(**more):
    value = {"schemaVersion": 2, "mediaType": KIND, "config": {
        "mediaType": "application/vnd.docker.container.image.v1+json",
        "size": len(CONFIG), "digest": digest(CONFIG)}, "layers": [{
            "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
            "size": 32, "digest": digest(b"layer")}]}
    value.update(more)
    return json.dumps(value).encode()


def error(status, words):
    return status, json.dumps({"errors": [{"code": "DENIED", "message": words,
                                           "detail": words}]}).encode()


layer = {"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip"}
# NAME: the answer to the manifest; a blob is answered by BLOBS.
MANIFESTS = {
    "words": error(404, WORDS),
    "denied": error(403, WORDS),
    "broken": error(500, WORDS),
    "many": error(429, WORDS),
    "long": error(404, "x" * MIB),
    "lines": error(404, "a\nb\r\n" * 2000),
    "nothing": (200, b""),
    "garbage": (200, bytes(range(256)) * 20),
    "deep": (200, b"[" * 100000),
    "none": (200, b"null"),
    "huge": (200, b" " * (64 * MIB)),
    "types": (200, manifest(config=[], layers={"a": None})),
    "negative": (200, manifest(layers=[dict(layer, size=-5, digest=digest(b"a"))])),
    "giant": (200, manifest(layers=[dict(layer, size=1 << 62, digest=digest(b"a"))])),
    "path": (200, manifest(layers=[dict(layer, size=5, digest="sha256:../../etc")])),
    "local": (200, manifest(layers=[dict(layer, size=5, digest=digest(b"a"),
                                         urls=["file:///etc/passwd"])])),
    "layers": (200, manifest(layers=[dict(layer, size=5, digest=digest(b"%d" % i))
                                     for i in range(2000)])),
    "other": (200, manifest()),
    "cut": (200, manifest()),
    "wordy": (200, manifest()),
    "login": (401, b""),
}


class Registry(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        status, body = 200, b"{}"
        kind = "application/json"
        name = parts[2] if len(parts) > 2 else ""
        if len(parts) > 3 and parts[3] == "manifests":
            status, body = MANIFESTS.get(name, (404, b"{}"))
            kind = KIND if status == 200 else kind
        elif len(parts) > 3 and parts[3] == "blobs":
            status, body = {"other": (200, b"not what was asked for"),
                            "wordy": error(404, WORDS)}.get(
                                name, (200, CONFIG if digest(CONFIG) in self.path
                                       else b"no layer"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        if status == 401:
            self.send_header("WWW-Authenticate", 'Bearer realm="http://127.0.0.1:1/'
                             'x",service="%s"' % ("y" * 20000))
        cut = name == "cut" and len(parts) > 3 and parts[3] == "blobs"
        self.send_header("Content-Length", str(len(body) + (1000 if cut else 0)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = cut


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Registry)
print(server.server_port, *MANIFESTS, flush=True)
server.serve_forever()
