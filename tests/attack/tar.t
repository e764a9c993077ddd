#!/bin/bash
# tar.t - image files whose tar is hostile: nothing of them is written outside,
# and each is refused in words. The count of attempts is printed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need python3 jq "$REGATTA_BUILD/regatta-controller"
MEMORY_KIB=1500000 # of the whole address space
mkdir -p "$CLUSTER" "$BED/tars" "$BED/outside"
must regatta key new "$CLUSTER/c.key" --name c --role controller \
	>"$CLUSTER/c.public" 2>/dev/null
must make_key "$CLUSTER/operator.key" operator operator
spawn controller "$REGATTA_BUILD/regatta-controller" \
	--images "$REGATTA_BUILD/images" --key "$CLUSTER/c.key" \
	--keys "$CLUSTER/authorized" --state "$BED/state" \
	--listen tcp://127.0.0.1:0
must wait_for 'log_of controller | finds "listening at"' 30
REGATTA_CONTROLLER=$(log_of controller | sed -n 's/.*listening at //p')
export REGATTA_CONTROLLER REGATTA_CONTROLLER_KEY=$CLUSTER/c.public

must python3 - "$BED/tars" "$BED/outside" <<'END'
import gzip, io, json, sys, tarfile
folder, outside = sys.argv[1:]
ZEROS = "0" * 64
config = ZEROS + ".json"
manifest = json.dumps([{"Config": config, "RepoTags": ["evil/tar:1"],
    "Layers": ["layer/layer.tar"]}]).encode()

def make(name, *members):
    with tarfile.open(f"{folder}/{name}.tar", "w") as tar:
        for path, kind, link, data in members:
            info = tarfile.TarInfo(path)
            info.type, info.linkname, info.size = kind, link, len(data)
            info.mode, info.devmajor, info.devminor = 0o6755, 1, 3
            tar.addfile(info, io.BytesIO(data))

FILE, LINK, HARD = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
first = ("manifest.json", FILE, "", manifest)
for name, path in { "up": "../../../" + outside + "/up",
        "absolute": outside + "/absolute", "dots": "a/../../b",
        "empty": "", "long": "d/" * 3000 + "x" }.items():
    make(name, first, (path, FILE, "", b"x"))
make("through-link", first, ("layer", LINK, outside, b""),
    ("layer/layer.tar", FILE, "", b"x"))
make("link-to-file", first, (config, LINK, "/etc/shadow", b""))
make("hard-link", first, (config, HARD, "/etc/shadow", b""))
make("link-to-itself", first, (config, LINK, config, b""))
make("hard-to-itself", first, (config, HARD, config, b""))
for name, kind in { "device": tarfile.CHRTYPE, "disk": tarfile.BLKTYPE,
        "pipe": tarfile.FIFOTYPE, "folder": tarfile.DIRTYPE }.items():
    make(name, first, (config, kind, "", b""))
make("twice", first, first, (config, FILE, "", b"{}"))
make("not-json", ("manifest.json", FILE, "", b"{" * 100000))
make("deep", ("manifest.json", FILE, "", b"[" * 5000 + b"]" * 5000))
make("nothing")
make("many", *[(f"blobs/sha256/{i:064x}", FILE, "", b"") for i in range(200000)])
open(f"{folder}/cut.tar", "wb").write(open(f"{folder}/twice.tar", "rb").read()[:700])
open(f"{folder}/noise.tar", "wb").write(bytes(i * 7 % 251 for i in range(100000)))
info = tarfile.TarInfo("manifest.json")
info.size = 1 << 40
open(f"{folder}/claims.tar", "wb").write(info.tobuf() + b"[" * 4096)
info.size = 2 << 30
with gzip.open(f"{folder}/bomb.tar", "wb", 1) as bomb:
    bomb.write(info.tobuf())
    for i in range(2048):
        bomb.write(b" " * (1 << 20))
END
attempts=0 bad=()
for tar in "$BED"/tars/*.tar; do
	((++attempts))
	name=$(basename "$tar" .tar)
	run -t 120 bash -c "ulimit -v $MEMORY_KIB; exec '$REGATTA_BUILD/regatta' image load '$tar'"
	[[ $rc == [12] && $err == regatta:* ]] || bad+=("$name: $rc $err")
done
is "${bad[*]}" "" "each is refused in words"
is "$(ls -A "$BED/outside")" "" "nothing is written outside"
ok 'alive controller' "the controller lives"
is "$(find "$BED/state" -size +1M -name '*sha256*')" "" "it keeps nothing of them"
diag "$attempts files, none got through"
end controller
done_testing
