#!/bin/bash
# wire.t - a wire cut for 30 s in the middle of heavy logging costs nothing.
#
# Node 1 loses its carrier, node 2 every packet without a word; both train on,
# never held up, and what they wrote meanwhile comes later, whole.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 2 hosts

# 3,300 beats of 30 kB, 10 ms apart: 99 MB in at least 33 s each.
must submit_tool one append /host/runs x , beat /host/beats 3300 10 30000 , \
	print 12345
one=$SWEEP job_one=$JOB
must submit_tool two append /host/runs x , beat /host/beats 3300 10 30000 , \
	print 12345
two=$SWEEP job_two=$JOB
must wait_for "((\$(log_size $job_one) > 1000000))" 20
must wait_for "((\$(log_size $job_two) > 1000000))" 20
node_one=$(job_get "$job_one" '.allocation[0]')
node_two=$(job_get "$job_two" '.allocation[0]')
like "$node_one $node_two" '^(n1 n2|n2 n1)$' "each node has a job"

must link_cut "${node_one#n}"
must link_mute "${node_two#n}"
begun=$SECONDS
# Both are noticed, the silent one by its missing heartbeats.
ok 'wait_for "[[ \$(nodes_get ".[].state" | sort -u) == down ]]" 25' \
	"both nodes are seen to be out of reach"
held=$(($(log_size "$job_one") + $(log_size "$job_two")))
sleep $((begun + 30 - SECONDS)) # the fault itself lasts 30 s
is "$(($(log_size "$job_one") + $(log_size "$job_two")))" "$held" \
	"no byte comes over a wire that is cut"
is "$(jobs_get "$one" '.[0].state') $(jobs_get "$two" '.[0].state')" \
	"running running" "no job is given up"
must link_restore "${node_one#n}"
must link_unmute "${node_two#n}"
ok "nodes_up 2 20" "both nodes are back"

for name in one two; do
	# shellcheck disable=SC2034 # ok evaluates them
	sweep=${!name} job=job_$name
	ok 'wait_sweep "$sweep" 40' "wire of $name cut: the job ends"
	ok 'intact "${!job}" append /dev/null x , \
		beat /dev/null 3300 0 30000 , print 12345' \
		"wire of $name cut: nothing is lost, nothing there twice"
	is "$(runs $name)" 1 "wire of $name cut: it ran once"
	gap=$(awk 'NR > 1 && $1 - last > gap {gap = $1 - last} {last = $1}
		END {print gap + 0}' "$BED/host/$name/beats")
	ok '((gap < 1000))' "wire of $name cut: it was never held up"
	diag "largest gap $gap ms"
done
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
