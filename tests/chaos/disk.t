#!/bin/bash
# disk.t - a full disk holds things up until there is room again, no longer.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must small_disk cluster/controller 32
must small_disk cluster/n1 100
must cluster_up 1

fill()
{
	head -c 1G /dev/zero >"$CLUSTER/$1/fill" 2>/dev/null
	[[ $(stat -f -c %a "$CLUSTER/$1") == 0 ]]
}

spare()
{
	rm "$CLUSTER/$1/fill"
}

# The controller's disk, in the middle of a log.
must submit_tool log append /host/runs x , beat /host/beats 300 10 20000 , \
	print 12345
must wait_for "((\$(log_size $JOB) > 100000))" 20
must fill controller
ok 'wait_for "log_of cluster/controller | grep \"job=.*trying again\"" 20' \
	"a log that finds no room is told in words"
ok 'wait_for "! [[ \$(task_container $JOB) ]]" 20' \
	"the command ends, as nobody holds it up"
must spare controller
ok 'wait_sweep "$SWEEP" 30' "with room again the job ends"
ok 'intact "$JOB" append /dev/null x , beat /dev/null 300 0 20000 , \
	print 12345' "and its log is whole"
is "$(runs log)" 1 "it ran once"

# The controller's disk, when a decision is to be kept: a spec of 240 kB.
mkdir -p "$BED/host/commit"
{
	echo "sweep: commit"
	echo "image: $TOOL_IMAGE"
	echo "mounts: [{host: $BED/host/commit, container: /host}]"
	echo "command: [/tool, append, /host/runs, x, \",\", print, 9000]"
	echo "env:"
	for name in A B C D; do
		printf '  %s: %s\n' $name "$(head -c 60000 /dev/zero | tr '\0' x)"
	done
} >"$BED/commit.yaml"
must fill controller
spawn submit regatta submit "$BED/commit.yaml" --format json
ok 'wait_for "log_of cluster/controller | grep \"all work is suspended\"" 20' \
	"a decision that cannot be kept is told in words"
ok 'alive submit' "and answered to nobody"
must spare controller
must wait_for '! alive submit' 30
is "$(code_of submit)" 0 "with room again the submit is answered"
SWEEP=$(log_of submit | sed -n '/^{/p' | jq .sweep)
JOB=$(jobs_get "$SWEEP" '.[0].job')
ok 'wait_sweep "$SWEEP" 30' "its job ends"
ok 'intact "$JOB" append /dev/null x , print 9000' "and its log is whole"
is "$(runs commit)" 1 "it ran once"
is "$(cli sweeps --format json | jq '.sweeps | length')" 2 "as one sweep"

# The controller's disk, from the first decision of a job to its last.
must submit_tool both append /host/runs x , print 1000 , wait /host/go , \
	print 900000 , exit 7
must wait_job "$JOB" running 20
must fill controller
touch "$BED/host/both/go"
must wait_for "! [[ \$(task_container $JOB) ]]" 20
must agent_kill 1
must agent_up 1
must controller_kill
must spare controller
must controller_up
ok 'wait_sweep "$SWEEP" 30' "full, and all killed: the job ends"
is "$(job_get "$JOB" '"\(.state) \(.attempt) \(.text)"')" \
	"failed 1 n1: rank 0 exited with code 7" "with its own exit code"
touch "$BED/go"
ok 'log_is "$JOB" 1 0 append /dev/null x , print 1000 , \
	wait "$BED/go" , print 900000' "and its log is whole"

# What does not fit is not begun.
must random_image e1 test/large:1 40
dk e1 save test/large:1 -o "$BED/large.tar"
dk e1 rmi test/large:1 >/dev/null
run cli image load "$BED/large.tar"
like "$rc $err" "^[12] .*disk full: 4[0-9.]+ MiB are missing, .* has [0-9.]+ MiB free" \
	"a file that the controller has no room for is refused in words"
ok '(($(df --output=avail -m "$CLUSTER/controller" | tail -1) > 5))' \
	"and leaves the room that there is"

# The node's disk: the command itself is told, by the kernel.
must rm "$(log_file "$JOB")"
must submit_tool node append /host/runs x , print 1000 , wait /host/go , \
	print 200000 , sleep 0.1 , print 200000
must wait_job "$JOB" running 20
must fill n1
touch "$BED/host/node/go"
ok 'wait_sweep "$SWEEP" 30' "a full disk on the node: the job ends"
like "$(job_get "$JOB" '"\(.state) \(.failure) \(.attempt) \(.text)"')" \
	"^failed exit 1 n1: rank 0 exited with code 1" "in words"
"$REGATTA_BUILD/lab/tool" print 1000 , print 200000 >"$BED/want"
ok 'cmp -n "$(log_size "$JOB")" "$BED/want" "$(log_file "$JOB")"' \
	"what it could write is here"
must submit_tool full retries=0 print 1000
ok 'wait_sweep "$SWEEP" 30' "the next job is refused before it begins"
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"preflight n1: .* MiB are free on the disk; expected at least" "in words"
must spare n1
must submit_tool last print 1000
ok 'wait_sweep "$SWEEP" 30' "with room again the node works"
ok 'intact "$JOB" print 1000' "as before"
ok 'wait_for cluster_clean 30' "nothing is left on the node"
done_testing
