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
others=$(id_of others/app:1)
must random_image e1 evil/app:1 4
evil=$(id_of evil/app:1)
dk e1 tag evil/app:1 keep/evil:1
dk e1 tag others/app:1 keep/others:1
dk e1 tag evil/app:1 others/app:1
dk e1 save others/app:1 -o "$BED/evil.tar"
dk e1 save evil/app:1 -o "$BED/good.tar"
dk e1 tag keep/others:1 others/app:1
dk e1 rmi keep/evil:1 evil/app:1 >/dev/null
refused 'others/app:1 is another image here \(sha256:[0-9a-f]+\), which Regatta did not bring' \
	"a file that gives a name away" image load "$BED/evil.tar"
is "$(id_of others/app:1)" "$others" "the name is whose it was"
is "$(id_of "$evil")" "" "and the image is not there"
refused 'remove: found others/app:1, allowed by .*policy.yaml' \
	"with --replace, by default" image load --replace "$BED/evil.tar"
is "$(id_of others/app:1)" "$others" "the name is still whose it was"

# A list in the file that says more than the node was told.
mkdir "$BED/file" && tar -C "$BED/file" -xf "$BED/good.tar"
printf '{"others/app":{"1":"x"}}' >"$BED/file/repositories"
tar -C "$BED/file" -cf "$BED/more.tar" .
refused 'repositories names an image others/app:1 that was not told of' \
	"a second list of names" image load "$BED/more.tar"
is "$(id_of others/app:1)" "$others" "it named nothing"
rm "$BED/file/repositories"
# index ANNOTATION NAME: the file, with an index that names so
index()
{
	jq -nc --arg key "$1" --arg name "$2" '{schemaVersion: 2,
		manifests: [{annotations: {($key): $name}}]}' >"$BED/file/index.json"
	tar -C "$BED/file" -cf "$BED/index.tar" .
}
index io.containerd.image.name docker.io/others/app:1
refused 'index.json names an image docker.io/others/app:1 that was not told of' \
	"an index that names more" image load "$BED/index.tar"
index org.opencontainers.image.ref.name docker.io/others/app:1
refused 'index.json names an image docker.io/others/app:1 that was not told of' \
	"in the other way" image load "$BED/index.tar"
index org.opencontainers.image.ref.name app
refused 'index.json names an image app without its registry' \
	"a name that Podman takes for its own" image load "$BED/index.tar"
is "$(id_of others/app:1)" "$others" "nor did they"


# A folder that is a link to the root: the list lies there for the engine alone.
rm -rf "$BED/file" && mkdir "$BED/file" && tar -C "$BED/file" -xf "$BED/good.tar"
jq -c '.[0].RepoTags = ["others/app:1"]' "$BED/file/manifest.json" >"$BED/list"
must python3 - "$BED" <<'END'
import io, sys, tarfile
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
END
refused '"d/manifest.json": lies behind the link "d"' \
	"a list behind a link" image load "$BED/link.tar"
is "$(id_of others/app:1)" "$others" "nor did that"

# What leaves.
refused 'save: found others/app:1, allowed by .*: images that Regatta brought' \
	"an image of the node's own" image save others/app:1 "$BED/out.tar"
ok '[[ ! -e $BED/out.tar ]]' "nothing of it came"

# What may be.
index io.containerd.image.name docker.io/evil/app:1
run cli image load "$BED/index.tar"
is "$rc $(id_of evil/app:1)" "0 $evil" "a name that nobody has is given: $err"
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
is "$rc $(id_of others/app:1)" "0 $evil" "with it, remove: true lets it"
diag "$attempts attempts, none got through"
done_testing
