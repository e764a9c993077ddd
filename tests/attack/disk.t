#!/bin/bash
# disk.t - tasks that fill the disks of their node with what has no name, and
# with names alone: files of O_TMPFILE, removed while they are open, mapped
# alone, in a thread's own descriptors; files without end in the code tree and
# on the container's own disk. The count of attempts is printed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
mkdir -p "$BED/host" "$BED/code"
echo mine >"$BED/code/file"
echo "mounts: [{host: $BED/host, write: true}]
limits: {log: 1M, disk: 64M, files: 3000}" >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 1
attempts=0

# ends NAME TEXT WHAT [KEY=VALUE...] WORD...: the command is stopped so
ends()
{
	((++attempts))
	must submit_tool "$1" retries=0 "${@:4}"
	must wait_sweep "$SWEEP" 60
	is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
		"$3: class policy"
	like "$(job_get "$JOB" .text)" "$2" "$3: $(job_get "$JOB" .text)"
}

for how in tmpfile removed mapped thread; do
	ends "out-$how" 'output: the output folder contains [0-9]+ MiB' \
		"$how in the output" \
		nameless /regatta/out 300 "$how" , sleep 600
	ends "own-$how" 'limits.disk: the container wrote [0-9]+ MiB' \
		"$how on its own disk" nameless /etc 100 "$how" , sleep 600
	ends "work-$how" 'limits.disk: the container wrote [0-9]+ MiB' \
		"$how in its code tree" "workspace=$BED/code" \
		nameless /workspace 100 "$how" , sleep 600
done
# An engine makes a folder for each VOLUME line, outside of the layer.
mkdir "$BED/image"
cp "$REGATTA_BUILD/lab/tool" "$BED/image/tool"
tar -C "$BED/image" --owner=0 --group=0 -c . | dk e1 import \
	--change "VOLUME /volume" - test/volume:1 >/dev/null
plain=$TOOL_IMAGE TOOL_IMAGE=test/volume:1
ends volume-tmpfile 'limits.disk: the container wrote [0-9]+ MiB' \
	"tmpfile in a volume of its image" nameless /volume 100 tmpfile , sleep 600
ends volume 'limits.disk: the container wrote [0-9]+ MiB' \
	"a file in a volume of its image" into /volume/file , print 100000000 , sleep 600
ends volume-files 'limits.files: the task made more than 3000 files' \
	"files in a volume of its image" files /volume 3500 , sleep 600
TOOL_IMAGE=$plain
ends tree 'limits.files: the task made more than 3000 files' \
	"files in its code tree" "workspace=$BED/code" \
	files /workspace 3500 , sleep 600
ends layer 'limits.files: the task made more than 3000 files' \
	"files on its own disk" files /etc 3500 , sleep 600
words=(folder /workspace/d) name=/workspace/d
for ((i = 0; i < 270; i++)); do
	name+=/d
	words+=("," folder "$name")
done
ends deep 'limits.files: the task made more than 3000 files' \
	"folders inside each other" "workspace=$BED/code" "${words[@]}" , sleep 600

# Of a mount that the job asked for nothing counts, and small things are fine.
must submit_tool mount retries=0 "workspace=$BED/code" \
	nameless /host 300 tmpfile , nameless /etc 20 removed , \
	nameless /regatta/out 20 mapped , files /workspace 500 , sleep 5
must wait_job "$JOB" completed 60
tap 0 "what is within the limits runs"

# A tree with more files is not unpacked.
mkdir "$BED/large"
(cd "$BED/large" && seq 3100 | xargs touch)
((++attempts))
must submit_tool large retries=0 "workspace=$BED/large" sleep 0
must wait_sweep "$SWEEP" 60
like "$(job_get "$JOB" .text)" "workspace: .*more than 3000" \
	"a tree of more files: $(job_get "$JOB" .text)"
ok 'wait_for cluster_clean 30' "nothing of it is left on the node"
diag "$attempts attempts, none got through"
done_testing
