#!/bin/bash
# image-gc.t - images listed, built, removed; and those removed nobody needs.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must registry_up

# Images to build, in a folder of our own.
must cp -r "$REGATTA_BUILD/images" "$BED/images"
folder=$BED/images/vendors/cpu/small
must mkdir "$folder"
must cp "$REGATTA_BUILD/lab/tool" "$folder/"
dockerfile() # WORD [CODE]
{
	printf 'FROM scratch\nCOPY tool /tool\n%s\n' \
		"RUN [\"/tool\", \"error\", \"$1\", \",\", \"exit\", \"${2-0}\"]" \
		>"$folder/Dockerfile"
}
must dockerfile first

AGENT_ARGS=(--images "$BED/images" --stall 20)
# Disks of their own: what comes free there nobody else takes.
must image_disk e1 120
must image_disk e2 60
must cluster_up 2
engine=$(node_engine 1)
must mkdir -p "$BED/host"

image_json() # ACTION...
{
	cli image "$@" --format json 2>"$BED/words"
}
# FILTER over the images of n1
listed()
{
	image_json list --nodes n1 | jq -r ".images | $1"
}
push() # IMAGE MIB
{
	random_image "$engine" "$1" "$2" &&
		dk "$engine" push -q "$1" >/dev/null &&
		dk "$engine" rmi -f "$1" >/dev/null
}
has() # ENGINE IMAGE
{
	dk "$1" image inspect "$2" >/dev/null 2>&1
}

# Built before a job asks for it, and found by it.
run cli image build cpu/small
is $rc 0 "an image is built on all nodes of its vendor: $err"
like "$err" 'n1 \| Step 1/4' "what it prints comes with the node's name"
like "$err" 'n2 \| first' "of both nodes"
like "$err" 'n1: vendors/cpu/small:[0-9a-f]{12}, ' "and its name in the end"
built=$(grep -oE 'vendors/cpu/small:[0-9a-f]{12}' <<<"$err" | head -1)
ok 'has e1 "$built" && has e2 "$built"' "it is there"
run cli image build cpu/small --nodes n1
like "$err" "n1: $built, which already existed" "unchanged, it is not built again"
printf '%s\n' 'notes' '*.tmp' '!keep.tmp' >"$folder/.dockerignore"
run cli image build cpu/small --nodes n1
ignoring=$(grep -oE 'vendors/cpu/small:[0-9a-f]{12}' <<<"$err" | head -1)
must mkdir "$folder/notes"
touch "$folder/notes/x" "$folder/y.tmp"
run cli image build cpu/small --nodes n1
like "$err" "n1: $ignoring, which already existed" \
	"what .dockerignore names does not count"
touch "$folder/keep.tmp"
run cli image build cpu/small --nodes n1
ok '! grep -q "which already existed" <<<"$err"' "what it takes back in does"
must rm -r "$folder"/{notes,*.tmp,.dockerignore}
run cli image gc --nodes n1 --keep 0
run cli image build cpu/small --nodes n1
cat >"$BED/built.yaml" <<END
sweep: built
build: vendors/cpu/small
retries: 0
command: [/tool, print, "1000"]
END
must submit "$BED/built.yaml"
must wait_job "$JOB" completed 60
is "$(cli logs --stream build "$JOB" 2>/dev/null | wc -c)" 0 \
	"a job finds it, and builds nothing"
must dockerfile second
run cli image build cpu/small --nodes n1 --format json
is "$(jq -r '.nodes[0].phase' <<<"$out")" ready "one that changed is built anew"
again=$(jq -r '.nodes[0].text' <<<"$out")
ok '[[ $again && $again != "$built" ]]' "under another name"
must dockerfile third 3
run cli image build cpu/small --nodes n1
is $rc 1 "one that cannot be built fails"
like "$err" 'n1: build of vendors/cpu/small:.* output' "in words: $err"
run cli image build nvidia/none
is $rc 2 "no node has devices of that vendor: $err"
like "$err" 'no reachable node has devices of nvidia' "which is told"
must dockerfile first

# Whoever stops watching stops nothing, and may look again.
must mkdir "$folder/../slow"
must cp "$folder/tool" "$folder/../slow/"
printf 'FROM scratch\nCOPY tool /tool\nRUN ["/tool", "print", "30", ",", "sleep", "5"]\n' \
	>"$folder/../slow/Dockerfile"
spawn watch regatta image build cpu/slow --nodes n1
must wait_for 'log_of watch | finds "Running in"' 20
kill -INT "$(pid_of watch)"
ok '(($(code_of watch) != 0))' "Ctrl-C ends the command"
like "$(log_of watch)" "the nodes continue, and the same command shows them again" \
	"which says what goes on"
run cli image build cpu/slow --nodes n1
is "$rc $(grep -c 'n1 | Step 1/4' <<<"$err")" "0 1" \
	"the same command shows all of it, from the beginning"
slow=$(grep -oE 'vendors/cpu/slow:[0-9a-f]{12}' <<<"$err" | tail -1)

# What it is built from came for it, too.
must push "$REGISTRY/base:1" 1
must mkdir "$folder/../based"
printf 'FROM %s\nRUN ["/tool", "print", "10"]\n' "$REGISTRY/base:1" \
	>"$folder/../based/Dockerfile"
run cli image build cpu/based --nodes n1
based=$(grep -oE 'vendors/cpu/based:[0-9a-f]{12}' <<<"$err" | tail -1)
is "$(listed '.[] | select(.tags[0] == "'"$REGISTRY"'/base:1") | .origin')" \
	pulled "a base is ours, too"
# In containerd's store, no image needs another one.
if [[ ! ${CONTAINERD_STORE-} ]]; then
	run cli image remove "$REGISTRY/base:1" --nodes n1
	is $rc 1 "and stays while another is made from it"
	like "$err" 'n1: .*dependent child images' "in the engine's words: $err"
	is "$(listed "map(select(.tags[0] == \"$REGISTRY/base:1\")) | length")" \
		1 "with its name"
fi

# What is there: of others, pulled, built.
must push "$REGISTRY/tool:1" 4
cat >"$BED/hold.yaml" <<END
sweep: hold
image: $REGISTRY/tool:1
retries: 0
mounts: [{host: $BED/host, container: /host}]
matrix: {part: [1, 2]}
nodes: 2
command: [/tool, wait, /host/go, ",", print, "\${part}"]
END
must submit "$BED/hold.yaml"
must wait_job "$JOB" running 60
# Its sweep's pin brought it to one of the nodes, so its tag is not there.
is "$(listed '.[] | select(.digests[0] // "" | startswith("'"$REGISTRY"'/tool@")) | "\(.origin) \(.containers)"')" \
	"pulled 1" "one that a job brought, and has now"
is "$(listed '.[] | select(.tags[0] == "'"$TOOL_IMAGE"'") | .origin')" null \
	"one of others"
is "$(listed '.[] | select(.tags[0] == "'"$built"'") | .origin')" built \
	"one that was built"
run cli image list
like "$out" "^IMAGE +ID +SIZE +NODES +BROUGHT" "people get a table"
like "$out" "$TOOL_IMAGE +[0-9a-f]{12} +[0-9.]+ [KMG]iB +n1,n2 +by others" \
	"with a line an image, wherever it is"

# Removing: never what somebody needs.
run cli image remove "$REGISTRY/tool:1"
is $rc 1 "an image of a running task stays"
like "$err" 'n1: .*/tool:1 is not removed: (a task on this node has it|sweep)' \
	"and why is told: $err"
must touch "$BED/host/go"
must wait_sweep "$SWEEP" 60
must rm "$BED/host/go"
cat >"$BED/later.yaml" <<END
sweep: later
image: $REGISTRY/tool:1
vendor: cpu
nodes: 2
devices: 1
command: [/tool, print, "10"]
END
must cli node drain n2 >/dev/null 2>&1
must submit "$BED/later.yaml"
is "$(job_get "$JOB" .state)" queued "(a job waits for a node)"
run cli image remove "$REGISTRY/tool:1"
is $rc 1 "nor does one go that a queued job needs"
like "$err" "n1: .* is not removed: sweep $SWEEP has 1 job left that needs it" \
	"which is told"
must cli cancel "$SWEEP" >/dev/null 2>&1
must cli node undrain n2 >/dev/null 2>&1
run cli image remove "$REGISTRY/tool:1"
is $rc 0 "when they are over, it goes: $err"
like "$err" 'n2: removed, [0-9.]+ [KM]iB freed' "from both nodes, with its bytes"
ok '! has e1 "$REGISTRY/tool:1" && ! has e2 "$REGISTRY/tool:1"' "it is gone"
run cli image remove "$REGISTRY/tool:1"
is $rc 1 "one that is nowhere cannot be removed"
like "$err" 'on none of these nodes' "which is told"
must dk e1 tag "$again" other/name:1
run cli image remove other/name:1
like "$err" 'n1: the name other/name:1 is removed; the image has others' \
	"of two names one goes"
like "$err" 'n2: no such image' "where it is"
ok 'has e1 "$again"' "the image stays"
id=$(dk e1 image inspect -f '{{.Id}}' "$again")
run cli image remove "${id:7:12}" --nodes n1
is $rc 0 "the beginning of an id is enough: $err"
ok '! has e1 "$again"' "it is gone"
is "$(cli audit --format json | jq -r '[.audit[] | select(.act == "image-operation" and .refusal == null)] | length > 5')" \
	true "orders stand in the audit log"

# Those that nobody needs go: of ours, by their last use, and not the newest.
must cli node drain n2 >/dev/null 2>&1
job_with() # NAME IMAGE WORD...
{
	local name=$1 image=$2

	shift 2
	printf '%s\n' "sweep: $name" "image: $image" 'retries: 0' \
		"mounts: [{host: $BED/host, container: /host}]" \
		"command: [/tool, $*]" >"$BED/$name.yaml"
	submit "$BED/$name.yaml"
}
ran_with() # NAME IMAGE
{
	job_with "$1" "$2" print, 10 && wait_job "$JOB" completed 60 &&
		wait_sweep "$SWEEP" 20
}
for image in a:1 a:2 b:1; do
	must push "$REGISTRY/$image" 6
done
for image in a:1 a:2 b:1; do
	must ran_with "ran-${image/:/-}" "$REGISTRY/$image"
done
run cli image gc --nodes n1 --dry-run
is $rc 0 "what would go is shown: $err"
like "$err" 'n1: 1 image would go, at most (6|13)\.[0-9] MiB' "in words"
like "$(grep a:1 <<<"$out")" "^n1 +$REGISTRY/a:1 +[0-9a-f]{12} .* would go$" \
	"and each"
like "$(grep a:2 <<<"$out")" "^n1 .* stays: one of the 1 newest$" \
	"and why others do not"
ok '! grep -q "$TOOL_IMAGE" <<<"$out"' "images of others are not spoken of"
ok 'has e1 "$REGISTRY/a:1"' "nothing went"
run cli image gc --nodes n1 --floor 1MiB
like "$(grep a:1 <<<"$out")" "stays: enough space is free$" \
	"nor does anything with room enough"
run cli image gc --nodes n1
like "$err" 'n1: 1 image removed, (6|13)\.[0-9] MiB' "then it goes"
ok '! has e1 "$REGISTRY/a:1" && has e1 "$REGISTRY/a:2"' "that one alone"
must job_with holds "$REGISTRY/b:1" wait, /host/go
must wait_job "$JOB" running 60
run image_json gc --nodes n1 --keep 0
is "$(jq -r '.images[] | select(.removed) | .tags[0]' <<<"$out" | sort | tr '\n' ' ')" \
	"$(printf '%s\n' "$REGISTRY"/{a:2,base:1} "$built" "$based" "$slow" | sort | tr '\n' ' ')" "with --keep 0 all go that nobody needs"
ok 'has e1 "$REGISTRY/b:1" && has e1 "$TOOL_IMAGE"' \
	"but not one that a task has, and none of others"
must touch "$BED/host/go"
must wait_sweep "$SWEEP" 60
must rm "$BED/host/go"
is "$(listed '.[] | select(.tags[0] == "'"$REGISTRY"'/b:1") | .origin')" pulled \
	"(it is ours)"
must agent_kill 1
must agent_up 1
must nodes_up 2 20
is "$(listed '.[] | select(.tags[0] == "'"$REGISTRY"'/b:1") | .origin')" pulled \
	"that outlives the agent"

# A task whose image is taken away under it brings it again.
must job_with again "$REGISTRY/b:1" print, 10
must wait_job "$JOB" completed 60
must wait_sweep "$SWEEP" 20

# The node makes room by itself: for an image that does not fit ...
must push "$REGISTRY/large:1" 40
must push "$REGISTRY/larger:1" 50
must ran_with large "$REGISTRY/large:1"
must job_with full "$REGISTRY/larger:1" print, 10
ok 'wait_job $JOB failed 60' "by default an image that does not fit fails"
like "$(job_get "$JOB" .text)" 'disk full: the pull needs [0-9.]+ MiB and the same again to unpack; .* had [0-9.]+ MiB free: engine: ' \
	"in words: $(job_get "$JOB" .text)"
must agent_stop 1
AGENT_ARGS+=(--image-floor 2MiB --image-keep 0)
must agent_up 1
must nodes_up 2 20
must job_with fits "$REGISTRY/larger:1" print, 10
ok 'wait_job $JOB completed 60' "with a floor, others make room for it"
ok '! has e1 "$REGISTRY/large:1"' "those that nobody needs"
ok 'has e1 "$TOOL_IMAGE"' "and that are ours"
is "$(cli audit --format json | jq -r '.audit[] | select(.act == "image-gc") | "\(.who) \(.role) \(.request.images | index("'"$REGISTRY"'/large:1") != null)"' | head -1)" \
	"n1 agent true" "the audit log says so"
must wait_sweep "$SWEEP" 20

# ... and when there is less than that.
must agent_stop 1
AGENT_ARGS+=(--image-floor 90%)
must agent_up 1
must nodes_up 2 20
ok 'wait_for "! has e1 $REGISTRY/larger:1" 20' \
	"with less free than the floor, images go"
ok 'has e1 "$TOOL_IMAGE"' "but those of others"
# An image of a file that the engine has no room for.
must random_image e1 test/file:1 45
dk e1 save test/file:1 -o "$BED/file.tar"
must dk e1 rmi test/file:1 >/dev/null
run cli image load "$BED/file.tar" --nodes n2
is $rc 1 "a file that the engine has no room for is not loaded"
like "$err" 'n2: disk full: engine: .*no space left' "in words: $err"

run regatta-agent --image-floor 101% --state "$BED/none" \
	--controller "$REGATTA_CONTROLLER" --key "$CLUSTER/n1.key" \
	--controller-key "$CLUSTER/controller.key"
is $rc 2 "a floor that cannot be is refused: $err"

ok 'wait_for cluster_clean 20' "nothing is left"
done_testing
