#!/bin/bash
# workspace.t - a code tree goes with a sweep, once to each node; files come
# back.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need cmp ss "$REGATTA_BUILD/lab/sniff"

CONTROLLER_ARGS=(--verbose)
must cluster_up 3 one

# The workspace brings the program itself: it is there when the command starts,
# and it is where the command runs.
tree=$BED/tree
mkdir -p "$tree"/{bin,.git,data/cache}
cp "$REGATTA_BUILD/lab/tool" "$tree/bin/run"
echo secret >"$tree/.git/config"
echo '*.tmp' >"$tree/.regattaignore"
touch "$tree/left.tmp" "$tree/data/cache/x" "$tree/data/y"
ln -s bin/run "$tree/link"
head -c 3000000 /dev/urandom >"$tree/data/weights"

sweep_file()
{
	cat >"$BED/$1.yaml" <<-YAML
		sweep: $1
		image: $TOOL_IMAGE
		nodes: 3
		workspace: {path: ./tree, ignore: [cache/]}
		mounts: [{host: $BED/host, container: /host}]
		command: [./link, wait, data/weights, ',', touch,
		  '/host/$1.\${NODE_RANK}', ',', rename, data/y, data/z, ',',
		  print, '100']
	YAML
}
mkdir -p "$BED/host"
sweep_file first
for i in 1 2 3; do
	port=$(ss -Hltnp | grep -F "pid=$(pid_of "cluster/agent$i")," |
		grep -oE '127.0.0.1:[0-9]+' | head -1)
	spawn "sniff$i" "$REGATTA_BUILD/lab/sniff" "${port#*:}" "$BED/wire$i"
	must wait_for "log_of sniff$i | finds ready" 10
done
must submit "$BED/first.yaml"
like "$(<"$BED/words")" 'workspace .*tree: .*, sent' "the tree is sent"
must wait_job "$JOB" completed 60
is "$(find "$BED/host" -name 'first.*' | wc -l)" 3 \
	"the command runs in the workspace, on every node"
hash=$(job_get "$JOB" .spec.container.workspace)
is "${#hash}" 64 "the job is of a certain content"
is "$(job_get "$JOB" .provenance.workspace)" "$hash" \
	"and its result says so"
file=$CLUSTER/controller/content/kept/$hash
is "$(sha256sum "$file" | cut -d' ' -f1)" "$hash" \
	"the controller keeps it under its hash"
tar -tf "$file" >"$BED/list"
like "$(<"$BED/list")" 'bin/run' "it holds the tree"
ok '! grep -E "\.git|tmp$|cache" $BED/list' \
	"but not what is ignored: in the sweep, in .regattaignore, .git"

# One node got it from the controller, the others from each other.
# Unless a connection took long, and the controller stepped in.
from()
{
	log_of cluster/controller |
		grep -o "blob=${hash:0:12} node=n[0-9] from=$1 " | sort -u | wc -l
}
ok '(($(from here) >= 1 && $(from "n[123]") >= 1))' \
	"the controller gave it to one node, others had it from that"
for i in 1 2 3; do
	must end "sniff$i"
done
ok '(($(cat "$BED"/wire? | wc -c) > 3000000)) && grep -qa CURVE "$BED"/wire?' \
	"which was listened to"
ok '! grep -qaE "data/weights|bin/run|blob_piece" "$BED"/wire?' \
	"and nothing of it is to be read on the wire between nodes"
is "$(cat "$CLUSTER"/n*/content/loose/"$hash" | wc -c)" \
	"$((3 * $(stat -c %s "$file")))" "all of it is on each node"

# The same again sends nothing.
sweep_file second
must submit "$BED/second.yaml"
must wait_job "$JOB" completed 60
is "$(job_get "$JOB" .spec.container.workspace)" "$hash" \
	"the same tree is the same content"
is "$(find "$BED/host" -name 'second.*' | wc -l)" 3 \
	"and all nodes run in it"
like "$(<"$BED/words")" 'already exists' \
	"it is not sent to the controller again"
is "$(from '[^ ]*')" 3 "nor did any node ask for it again"

# A changed tree is another cell.
echo changed >"$tree/data/y"
must submit "$BED/second.yaml"
must wait_job "$JOB" completed 60
# shellcheck disable=SC2034 # ok evaluates it
other=$(job_get "$JOB" .spec.container.workspace)
ok '[[ $other != "$hash" ]]' "a changed tree is another content"

# Trees as an axis of the matrix; as a user who is not root.
mkdir -p "$BED/a" "$BED/b"
cp "$tree/bin/run" "$BED/a"
cp "$tree/bin/run" "$BED/b"
echo b >"$BED/b/which"
cat >"$BED/axis.yaml" <<-YAML
	sweep: axis
	image: $TOOL_IMAGE
	user: "1234:1234"
	matrix:
	  workspace: [a, b]
	workdir: /workspace
	command: [./run, touch, /workspace/mine, ',', print, '10']
YAML
must submit "$BED/axis.yaml"
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" '[.[].state] | join(" ")')" 'completed completed' \
	"two trees are two cells, and any user may write in them"

# What cannot be is said before anything runs.
cat >"$BED/none.yaml" <<-YAML
	sweep: none
	image: $TOOL_IMAGE
	workspace: ./no-such-folder
	command: [/tool]
YAML
is "$(cli plan "$BED/second.yaml" --format json | jq -r '.kept[0].key')" \
	"$(job_get "$(jobs_get 3 '.[0].job')" .spec.key)" \
	"a plan knows the cell by its tree"
cli submit "$BED/none.yaml" 2>"$BED/words"
is $? 2 "a folder that is not there is a wrong request"
like "$(<"$BED/words")" 'no-such-folder.*No such file' "and is named"

# Killed in the middle, sent over a slow start: nothing is lost.
head -c 60000000 /dev/urandom >"$tree/data/weights"
sweep_file third
must submit "$BED/third.yaml"
wait_for 'ls $CLUSTER/n*/content/partial/* $CLUSTER/n*/content/loose/*' 20
agent_kill 2
controller_kill
controller_up
agent_up 2
must wait_job "$JOB" completed 90
must wait_sweep "$SWEEP" 30
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
