#!/bin/bash
# image.t - names of images that others own, and images that are not ours to
# give away. The count of attempts is printed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
mkdir -p "$BED/host"
mounts="mounts: [{host: $BED/host, write: true}]"
echo "$mounts" >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 1
attempts=0

id_of()
{
	dk e1 image inspect --format '{{.Id}}' "$1" 2>/dev/null
}

# An image that is loaded once more may have another id in containerd's store.
layers_of()
{
	dk e1 image inspect --format '{{.RootFS.Layers}}' "$1" 2>/dev/null
}

# refused TEXT WHAT WORD...: the command fails and says so
refused()
{
	local text=$1 what=$2

	((++attempts))
	run cli "${@:3}"
	is "$rc" 1 "$what: exit code 1"
	like "$out$err" "$text" "$what: in words"
}

# An image of the node's own, and a file that gives its name to another.
must random_image e1 others/app:1 4
others=$(id_of others/app:1) theirs=$(layers_of others/app:1)
must random_image e1 evil/app:1 4
evil=$(id_of evil/app:1) given=$(layers_of evil/app:1)
dk e1 tag evil/app:1 keep/evil:1
dk e1 tag others/app:1 keep/others:1
dk e1 tag evil/app:1 others/app:1
must random_image e1 victim/app:1 4
victim=$(id_of victim/app:1)
dk e1 save victim/app:1 -o "$BED/victim.tar"
dk e1 rmi victim/app:1 >/dev/null
dk e1 save others/app:1 -o "$BED/evil.tar"
dk e1 save evil/app:1 -o "$BED/good.tar"
dk e1 tag keep/others:1 others/app:1
dk e1 rmi keep/evil:1 evil/app:1 >/dev/null
refused 'others/app:1 is another image on this node \(sha256:[0-9a-f]+\), which Regatta did not bring' \
	"a file that gives a name away" image load "$BED/evil.tar"
is "$(id_of others/app:1)" "$others" "the name is whose it was"
is "$(id_of "$evil")" "" "and the image is not there"
refused 'remove: (docker.io/)?others/app:1 is not allowed; .*policy.yaml' \
	"with --replace, by default" image load --replace "$BED/evil.tar"
is "$(id_of others/app:1)" "$others" "the name is still whose it was"

# kept WHAT: the name is whose it was; and again for the next attempt
kept()
{
	is "$(layers_of others/app:1)" "$theirs" "$1"
	dk e1 tag keep/others:1 others/app:1
	run dk e1 rmi evil/app:1
}

# Lists of names other than manifest.json: they do not come as far as an engine,
# which gets a list that is made of the names that were told.
dk e1 save others/app:1 -o "$BED/others.tar"
must python3 - "$BED" <<'END'
import hashlib, io, json, sys, tarfile
bed = sys.argv[1]
files = {}
def read(name):
    with tarfile.open(f"{bed}/{name}.tar") as tar:
        files.update((entry.name, tar.extractfile(entry).read())
            for entry in tar if entry.isfile())
        return json.load(tar.extractfile("manifest.json"))[0]
def blob(data):
    digest = hashlib.sha256(data).hexdigest()
    files["blobs/sha256/" + digest] = data
    return {"digest": "sha256:" + digest, "size": len(data)}
def put(tar, path, data):
    entry = tarfile.TarInfo(path)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))
def make(name, *more):
    with tarfile.open(f"{bed}/{name}.tar", "w") as tar:
        for path, data in [*files.items(), *more]:
            put(tar, path, data)
theirs, mine = read("others"), read("good")
config, layer = files[mine["Config"]], files[mine["Layers"][0]]
lists = json.dumps([theirs, dict(mine, RepoTags=["evil/app:1"])]).encode()
for path in "index.json", "oci-layout", "repositories", "manifest.json":
    files.pop(path, None)

OCI = "application/vnd.oci.image."
manifest = json.dumps({"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json",
    "config": dict(blob(config), mediaType=OCI + "config.v1+json"),
    "layers": [dict(blob(layer), mediaType=OCI + "layer.v1.tar")]}).encode()
def index(**names):
    return json.dumps({"schemaVersion": 2, "manifests": [dict(blob(manifest),
        mediaType=OCI + "manifest.v1+json", annotations={
            key.replace("_", "."): name for key, name in names.items()})]}).encode()
layout = ("./oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
manifests = ("manifest.json", lists)
for name, names in {
        "index": {"io_containerd_image_name": "others/app:1"},
        "index-full": {"io_containerd_image_name": "docker.io/others/app:1"},
        "index-ref": {"org_opencontainers_image_ref_name": "others/app:1"},
        "index-word": {"org_opencontainers_image_ref_name": "alone"} }.items():
    make(name, layout, ("index.json", index(**names)), manifests)
make("repositories", manifests, (".//repositories",
    json.dumps({"others/app": {"1": "f" * 64}, "alone": {"latest": "f" * 64}}).encode()))

# One path twice: the command line reads the first, an engine keeps the last.
make("twice", ("c.json", files[theirs["Config"]]), ("./c.json", config),
    ("e.json", config), ("manifest.json", json.dumps([
        dict(theirs, Config="c.json", Layers=mine["Layers"]),
        dict(mine, Config="e.json", RepoTags=None)]).encode()))
END
dk e1 tag keep/others:1 localhost/alone:latest
for name in index index-full index-ref index-word repositories; do
	((++attempts))
	run cli image load "$BED/$name.tar"
	is "$rc" 0 "$name: the images of manifest.json are loaded: $err"
	kept "$name: it names nothing"
	is "$(id_of localhost/alone:latest)" "$others" "$name: nor a word alone"
done
((++attempts))
run cli image load "$BED/twice.tar"
is "$rc" 2 "a config that is there twice is refused"
like "$err" '"c.json": duplicate path' "in words"
kept "it named nothing"

# One key twice, a key in other letters, a list behind a link to the root: an
# engine would take the last of them.
rm -rf "$BED/file" && mkdir "$BED/file" && tar -C "$BED/file" -xf "$BED/good.tar"
for key in RepoTags repotags $'RepoTag\u017f'; do
	((++attempts))
	cp "$BED/file/manifest.json" "$BED/list"
	sed -i "s|}\]$|,\"$key\":[\"others/app:1\"]}]|" "$BED/file/manifest.json"
	tar -C "$BED/file" -cf "$BED/key.tar" .
	mv "$BED/list" "$BED/file/manifest.json"
	run cli image load "$BED/key.tar"
	is "$rc $(layers_of evil/app:1)" "0 $given" \
		"of a second $key the first counts: $err"
	kept "it named nothing else"
done
jq -c '.[0].RepoTags = ["others/app:1"]' "$BED/file/manifest.json" >"$BED/list"
must python3 - "$BED" <<'END'
import io, json, sys, tarfile
bed = sys.argv[1]
with tarfile.open(bed + "/link.tar", "w") as tar:
    tar.add(bed + "/file", ".")
    link = tarfile.TarInfo("d")
    link.type, link.linkname = tarfile.SYMTYPE, "."
    tar.addfile(link)
    text = open(bed + "/list", "rb").read()
    entry = tarfile.TarInfo("d/manifest.json")
    entry.size = len(text)
    tar.addfile(entry, io.BytesIO(text))

# The config of an image that is not there, and a layer that is not its own.
with tarfile.open(bed + "/victim.tar") as tar:
    item = json.load(tar.extractfile("manifest.json"))[0]
    config = tar.extractfile(item["Config"]).read()
with tarfile.open(bed + "/claim.tar", "w") as tar:
    for path, data in (("c.json", config), ("layer.tar", b"\0" * 10240),
            ("manifest.json", json.dumps([{"Config": "c.json",
                "RepoTags": ["claim/app:1"], "Layers": ["layer.tar"]}]).encode())):
        entry = tarfile.TarInfo(path)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
END
((++attempts))
run cli image load "$BED/link.tar"
is "$rc $(layers_of evil/app:1)" "0 $given" "what lies behind a link is no list: $err"
kept "it named nothing else"

# A file that claims an image which is not there, and does not hold it: what the
# owner brings later is the owner's.
((++attempts))
run cli image load "$BED/claim.tar"
is "$rc" 1 "a config without its layers is not loaded"
# Containerd's store may keep its name.
run dk e1 create claim/app:1 x
ok '((rc))' "nothing is there that could run: $err"
must dk e1 load -q -i "$BED/victim.tar" >/dev/null
refused 'save: victim/app:1 is not allowed; .* allows images that Regatta brought' \
	"an image that a failed load had claimed" image save victim/app:1 "$BED/out.tar"
ok '[[ ! -e $BED/out.tar ]]' "nothing of it came"
run cli image gc --keep 0
is "$rc $(id_of victim/app:1)" "0 $victim" "nor is it removed as one of ours"

# What leaves.
refused 'save: others/app:1 is not allowed; .* allows images that Regatta brought' \
	"an image of the node's own" image save others/app:1 "$BED/out.tar"
ok '[[ ! -e $BED/out.tar ]]' "nothing of it came"

# What may be.
run cli image load "$BED/good.tar"
is "$rc $(layers_of evil/app:1)" "0 $given" "a name that nobody has is given"
run cli image save evil/app:1 "$BED/out.tar"
is "$rc" 0 "what Regatta brought leaves"
run cli image save "$TOOL_IMAGE" "$BED/tool.tar"
is "$rc" 1 "what no job used yet does not"
must submit_tool uses print 1
must wait_job "$JOB" completed 30
run cli image save "$TOOL_IMAGE" "$BED/tool.tar"
is "$rc" 0 "what a job used does: $err"
printf '%s\n' "$mounts" 'remove: true' >"$BED/policy.yaml"
kill -HUP "$(pid_of cluster/agent1)"
must wait_for 'log_of cluster/agent1 | finds "settings read again"' 20
run cli image load "$BED/evil.tar"
is "$rc $(id_of others/app:1)" "1 $others" "without --replace it is refused"
run cli image load --replace "$BED/evil.tar"
is "$rc $(layers_of others/app:1)" "0 $given" "with it, remove: true lets it"
diag "$attempts attempts, none got through"
done_testing
