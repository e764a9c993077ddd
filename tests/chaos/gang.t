#!/bin/bash
# gang.t - the first task that fails ends its gang at once, and is named.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 4 one

# All four wait for a file; the one that makes ready first goes on to fail.
must submit_tool fails nodes=4 grace=5s print 1000 , last-words 5000 9 , \
	wait '/host/go-${NODE_RANK}' , exit 1
must wait_job "$JOB" running 20
before=${EPOCHREALTIME/[^0-9]/}
touch "$BED/host/fails/go-2"
ok 'wait_sweep "$SWEEP" 20' "one of four tasks exits 1: the job ends"
after=${EPOCHREALTIME/[^0-9]/}
is "$(job_get "$JOB" '"\(.state) \(.failure) \(.attempt)"')" "failed exit 1" \
	"its class is exit, it is not tried again"
node=$(job_get "$JOB" '.provenance.nodes[2]')
is "$(job_get "$JOB" .text)" "$node: rank 2 exited with code 1" \
	"the sentence names node and rank"
ok '((after - before < 4000000))' "the others were stopped at once"
diag "$(((after - before) / 1000)) ms from the end of one to the end of all"
ok 'log_is "$JOB" 1 2 print 1000' "the log of the one that failed is whole"
for rank in 0 1 3; do
	ok 'log_is "$JOB" 1 $rank print 1000 , print 5000' \
		"rank $rank was told by SIGTERM, and its last words are here"
done
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
