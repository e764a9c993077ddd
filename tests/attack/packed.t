#!/bin/bash
# packed.t - small files that unpack to very much: logs, image files and bundles
# that somebody sends. Each is refused in words, after little work.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need python3 zstd "$REGATTA_BUILD/regatta"
# shellcheck disable=SC2034 # in a condition
CPU_SECONDS=60 MEMORY_KIB=1000000 # of the whole address space

must python3 - "$BED" <<'END'
import bz2, gzip, lzma, subprocess, sys, tarfile
bed = sys.argv[1]
MIB = 1 << 20
line = b"x" * (MIB - 1) + b"\n"
SIZE = 300 # MiB
def zstd(path, pieces):
    packer = subprocess.Popen(["zstd", "-q", "-f", "-1", "-o", path],
        stdin=subprocess.PIPE)
    for piece in pieces:
        packer.stdin.write(piece)
    packer.stdin.close()
    packer.wait()
for out in (gzip.open(bed + "/log.gz", "wb", 6), bz2.open(bed + "/log.bz2", "wb", 1),
        lzma.open(bed + "/log.xz", "wb", preset=0)):
    for i in range(SIZE):
        out.write(line)
    out.close()
zstd(bed + "/log.zst", [line] * SIZE)
with gzip.open(bed + "/empty.gz", "wb", 6) as out: # nothing comes out of that
    out.write(gzip.compress(b"") * 1000000)
info = tarfile.TarInfo("manifest.json")
info.size = SIZE * MIB
zstd(bed + "/entry.tar.zst", [info.tobuf()] + [bytes(MIB)] * (SIZE + 1))
# A hole of an exabyte before its last bytes needs no compression.
info = tarfile.TarInfo("manifest.json")
info.pax_headers = { "GNU.sparse.major": "1", "GNU.sparse.minor": "0",
    "GNU.sparse.name": "manifest.json", "GNU.sparse.realsize": str(1 << 60) }
info.size = 1024
with open(bed + "/hole.tar", "wb") as out:
    out.write(info.tobuf(tarfile.PAX_FORMAT))
    out.write((b"1\n%d\n512\n" % ((1 << 60) - 512)).ljust(512, b"\0"))
    out.write(bytes(10240))
END

# refused FILE TEXT WORD...
refused()
{
	run -t 300 bash -c 'ulimit -t "$1" -v "$2"; exec regatta "${@:3}"' - \
		"$CPU_SECONDS" "$MEMORY_KIB" "${@:3}"
	is "$rc" 2 "$1, ${*:3:2}: exit code 2"
	like "$err" "$2" "in words: $err"
}
for name in gz xz bz2 zst; do
	for command in extract diagnose; do
		refused "log.$name" 'unpacked bytes from .* 100 times as many; unpack it first' \
			"$command" "$BED/log.$name"
	done
done
refused empty.gz 'is no text' extract "$BED/empty.gz"
for file in entry.tar.zst hole.tar; do
	refused "$file" 'unpacked bytes from .* 1000 times as many' \
		image load "$BED/$file"
done
refused entry.tar.zst 'unpacked bytes from .* 1000 times as many' \
	report "$BED/entry.tar.zst"
done_testing
