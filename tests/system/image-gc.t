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
must small_disk engines/e1/data 120
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
like "$err" "n1: $built, which was there already" "unchanged, it is not built again"
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
like "$err" 'n1: build of vendors/cpu/small:.* said' "in words: $err"
run cli image build nvidia/none
is $rc 2 "no node has devices of that vendor: $err"
like "$err" 'no node in reach has devices of nvidia' "which is told"
must dockerfile first

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
is "$(listed '.[] | select(.tags[0] == "'"$REGISTRY"'/tool:1") | "\(.origin) \(.containers)"')" \
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
like "$err" 'n1: .*/tool:1 stays: (a task on this node has it|sweep)' \
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
like "$err" "n1: .* stays: sweep $SWEEP has 1 job left that needs it" \
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
like "$err" 'n2: not there' "where it is"
ok 'has e1 "$again"' "the image stays"
id=$(dk e1 image inspect -f '{{.Id}}' "$again")
run cli image remove "${id:7:12}" --nodes n1
is $rc 0 "the beginning of an id is enough: $err"
ok '! has e1 "$again"' "it is gone"
is "$(cli audit --format json | jq -r '[.audit[] | select(.act == "image-order" and .refusal == null)] | length > 5')" \
	true "orders stand in the audit log"

ok cluster_clean "nothing is left"
done_testing
