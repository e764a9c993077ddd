#!/bin/bash
# trash.t - jobs that leave very many files: their node is free when their
# processes are gone, the agent answers meanwhile, and all of it is removed, also
# by the next agent.
TEST_LIMIT=600
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 1
FILES=200000
mkdir "$BED/code"
echo mine >"$BED/code/file"
cat >"$BED/litter.yaml" <<END
sweep: litter
image: $TOOL_IMAGE
workspace: code
retries: 0
command: [/tool, files, /workspace, '$FILES']
END
trash=$CLUSTER/n1/trash
now() # in ms
{
	echo $((${EPOCHREALTIME/[^0-9]/} / 1000))
}

must submit "$BED/litter.yaml"
must wait_job "$JOB" completed 120
ended=$(now)
ok 'wait_for "[[ \$(nodes_get .[0].free) == 1 ]]" 20' "the node is free at once"
free=$(($(now) - ended))
begun=$(find "$trash" 2>/dev/null | wc -l)
must submit_tool after print 10
must wait_job "$JOB" completed 20
after=$(($(now) - ended))
ok 'wait_for "[[ ! \$(ls -A \"\$trash\") ]]" 120' "what it left is removed"
diag "$FILES files: free after $free ms, another job has ended after $after ms," \
	"all removed after $(($(now) - ended)) ms ($begun were left at first)"
ok '((free < 3000))' "within seconds"

# The agent is killed while it is removed.
must submit "$BED/litter.yaml"
must wait_job "$JOB" completed 120
must wait_for '[[ $(ls -A "$trash") || $(nodes_get .[0].free) == 1 ]]' 20
agent_kill 1
ok '! pgrep -f "empty $trash" >/dev/null || wait_for "! pgrep -f \"empty \$trash\"" 10' \
	"no child outlives its agent"
must agent_up 1
ok 'wait_for "[[ ! \$(ls -A \"\$trash\") ]]" 120' "the next agent removes the rest"
ok 'wait_for cluster_clean 20' "nothing is left on the node"
done_testing
