#!/bin/bash
# files.t - an agent that is killed while it unpacks a code tree, while
# regatta-init packs what is collected, and while that is copied: the next one goes
# on, the command runs once, and no file is lost.
TEST_LIMIT=400
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 1
FILES=${FILES:-20000}
MIB=${MIB:-100}
mkdir -p "$BED/code"
(cd "$BED/code" && seq "$FILES" | xargs touch)
head -c $((MIB << 20)) /dev/urandom >"$BED/code/large"
sum=$(sha256sum <"$BED/code/large")

# tree NAME: a job that collects its code tree, as the command left it
tree()
{
	must submit_tool "$1" "workspace=$BED/code" retries=0 \
		'collect=[/workspace]' collect_limit=4G append /host/runs x , \
		append /workspace/mine x , wait /host/go
	spool=$CLUSTER/n1/spool/$JOB.1.0
}
# whole NAME WHAT: it ended well, ran once, and all of its files are there
whole()
{
	ok 'wait_job "$JOB" completed 120' "$2: the job ends"
	is "$(runs "$1")" 1 "$2: its command ran once"
	must cli fetch "$JOB" -o "$BED/back-$1" &>"$BED/words"
	is "$(find "$BED/back-$1" -type f | wc -l)" $((FILES + 2)) \
		"$2: all files are there"
	is "$(sha256sum <"$(find "$BED/back-$1" -name large)")" "$sum" \
		"$2: as they were"
	rm -rf "$BED/back-$1"
}

# Unpacking, twice: at its beginning, and among the small files.
tree unpack
must wait_for '[[ $(ls -A "$spool/work") ]]' 60
must agent_kill 1
ok '[[ ! -e $spool/in/start.new && ! -e $spool/out/started ]]' \
	"killed while it unpacks: nothing has started"
must agent_up 1
must wait_for '(($(ls "$spool/work" | wc -l) > 100))' 60
must agent_kill 1
must agent_up 1
must wait_job "$JOB" running 60
is "$(find "$spool/work" -type f | wc -l)" $((FILES + 2)) \
	"the next agent unpacks all of it"
touch "$BED/host/unpack/go"
whole unpack "killed while it unpacks"

# Packing.
tree pack
must wait_job "$JOB" running 60
touch "$BED/host/pack/go"
must wait_for '[[ -e $spool/out/collect.new ]]' 60
must agent_kill 1
ok '[[ ! -e $spool/out/exit.json ]]' "killed while the files are packed"
must wait_for '[[ -e $spool/out/exit.json ]]' 60
must agent_up 1
whole pack "killed while the files are packed"

# Copying what was packed, while the controller stands still.
tree copy
must wait_job "$JOB" running 60
touch "$BED/host/copy/go"
must wait_for '[[ -e $spool/out/exit.json ]]' 60
must wait_for 'log_of cluster/agent1 | finds "task ended job=$JOB " ||
	(($(du -sm "$CLUSTER/n1/content" 2>/dev/null | cut -f1) > MIB + 20))' 60
must agent_kill 1
must agent_up 1
whole copy "killed while they are copied"
ok 'wait_for cluster_clean 30' "nothing is left on the node"
done_testing
