# hostile_tars.py FOLDER OUTSIDE: tar files that no honest party packs, each of a
# folder of its own name ("@"): what leads to OUTSIDE, and what is too much.
import gzip, sys, tarfile

folder, outside = sys.argv[1:]
FILE, LINK, HARD = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
DIR = tarfile.DIRTYPE
UP = "../" * 40


def block(name, path, kind, link="", data=b"", size=None, pax=None):
    info = tarfile.TarInfo(path.replace("@", name))
    info.type, info.linkname = kind, link.replace("@", name)
    info.size = len(data) if size is None else size
    info.mode, info.devmajor, info.devminor = 0o6755, 1, 3
    info.pax_headers = {key: text.replace("@", name) for key, text in (pax or {}).items()}
    return info.tobuf(tarfile.PAX_FORMAT) + data + bytes(-len(data) % 512)


def start(name, open=open):
    tar = open(f"{folder}/{name}.tar", "wb")
    tar.write(block(name, "@", DIR))
    return tar


def make(name, *members, **more):
    with start(name) as tar:
        for member in members:
            tar.write(block(name, *member, **more))
        tar.write(bytes(1024))


make("absolute", (outside + "/absolute", FILE, "", b"x"))
make("up", ("@/" + UP + outside[1:] + "/up", FILE, "", b"x"))
make("dots", ("@/a/../../../b", FILE, "", b"x"))
make("link-out", ("@/l", LINK, outside, b""))
make("link-up", ("@/l", LINK, UP + outside[1:], b""))
make("through", ("@/l", LINK, outside, b""), ("@/l/x", FILE, "", b"x"))
make("two-links", ("@/a", DIR, "", b""), ("@/a/b", LINK, "..", b""),
     ("@/c", LINK, "a/b/../..", b""), ("@/c/x", FILE, "", b"x"))
make("folder-then-link", ("@/d", DIR, "", b""), ("@/d", LINK, outside, b""),
     ("@/d/x", FILE, "", b"x"))
make("file-then-link", ("@/f", FILE, "", b"x"), ("@/f", LINK, outside + "/f", b""),
     ("@/f", FILE, "", b"y"))
make("base-is-a-link", ("@", LINK, outside, b""), ("@/x", FILE, "", b"x"))
make("hard-out", ("@/h", HARD, "/etc/passwd", b""))
make("hard-up", ("@/h", HARD, UP + "etc/passwd", b""))
make("hard-to-link", ("@/l", LINK, "/etc/passwd", b""), ("@/h", HARD, "@/l", b""),
     ("@/h", FILE, "", b"x"))
make("hard-to-itself", ("@/h", HARD, "@/h", b""))
for name, kind in {"device": tarfile.CHRTYPE, "disk": tarfile.BLKTYPE,
                   "pipe": tarfile.FIFOTYPE, "unknown": b"Z"}.items():
    make(name, ("@/x", kind, "", b""))
make("escapes", ("@/\x1b]0;title\x07\x1b[2J", LINK, "/etc", b""))
make("names", ("@/\xff\n\r\t", FILE, "", b"x"), ("@/x" * 5000, FILE, "", b"x"))
make("deep", ("@/d/" * 3000 + "x", FILE, "", b"x"))
make("setuid", ("@/s", FILE, "", b"x"))
make("rights", ("@/x", FILE, "", b"x"), pax={
    "SCHILY.xattr.security.capability": "\x01\x00\x00\x02", "uid": "0",
    "SCHILY.acl.access": "user::rwx,user:nobody:rwx", "SCHILY.fflags": "sappnd"})
HUGE = 1 << 42
for name, pieces in {"sparse": "1\n0\n0\n", "hole": f"1\n{HUGE}\n0\n"}.items():
    make(name, ("@/x", FILE, "", pieces.encode().ljust(512, b"\0")), pax={
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "@/x",
        "GNU.sparse.realsize": str(HUGE)})
make("claims", ("@/x", FILE, "", b"x" * 4096), size=HUGE)
make("negative", ("@/x", FILE, "", b"x"), pax={"size": "-1"})
make("long-header", ("@/x", FILE, "", b"x"), pax={"comment": "x" * (8 << 20)})
with start("cut") as tar:
    tar.write(block("cut", "@/x", FILE, "", b"x" * 5000)[:900])
with start("noise") as tar:
    tar.write(bytes(i * 7 % 251 for i in range(100000)))
with start("packed", gzip.open) as tar:
    for i in range(64):
        tar.write(block("packed", f"@/{i}", FILE, "", bytes(1 << 20)))
with start("many") as tar:
    for i in range(1000):
        tar.write(block("many", "@/x", FILE) * 1001)
