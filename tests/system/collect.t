#!/bin/bash
# collect.t - files of the container come back when the command has ended.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need cmp

must cluster_up 2 one

files_get()
{
	cli files "$1" --format json | jq -r "$2"
}

# From every node; a link that leads out, a path that is not there.
must submit_tool first nodes=2 'collect=["/out/${NODE_RANK}", /none]' \
	folder /out , folder '/out/${NODE_RANK}' , \
	folder '/out/${NODE_RANK}/a' , \
	into '/out/${NODE_RANK}/a/log' , print 100000 , into - , \
	link /etc/passwd '/out/${NODE_RANK}/bad' , \
	link a/log '/out/${NODE_RANK}/good'
first=$JOB
must wait_job "$first" completed 60
is "$(files_get "$first" '[.[] | select(.content) |
	"\(.rank) \(.path)"] | join(" ")')" '0 /out/0 1 /out/1' \
	"the paths are listed, placeholders filled"
like "$(files_get "$first" '.[1].text')" 'none' \
	"of a path that is not there it is told why"
like "$(cli files "$first")" '/out/1 .* KiB' "as a table, too"
like "$(cli files "$first" /out/1)" $'1\t100000\t/out/1/a/log' \
	"and what is within one of them"
cli fetch "$first" -o "$BED/back" 2>"$BED/words"
is $? 1 "a link that leads out is no good"
like "$(<"$BED/words")" 'skipped: 0/bad: a link that leads out' "and is told"
"$REGATTA_BUILD/lab/tool" print 100000 >"$BED/want"
ok 'cmp "$BED/want" "$BED/back/rank-1/1/a/log"' "all the others are here"
is "$(readlink "$BED/back/rank-0/0/good")" a/log "links within are links"
ok '[[ ! -e $BED/back/rank-0/0/bad ]]' "the bad one is not"
must make_key "$CLUSTER/viewer.key" viewer viewer
must wait_for 'cli nodes --key "$CLUSTER/viewer.key"' 10
must cli fetch "$first" /out/1/a --rank 1 -o "$BED/part" \
	--key "$CLUSTER/viewer.key"
is "$(cd "$BED/part" && find . -type f)" ./1/a/log \
	"a path below a collected one alone"
cli fetch "$first" /out/1/b -o "$BED/no" 2>"$BED/words"
is $? 2 "one that is not there is a wrong request"

# Of a command that fails; too much is not kept; agent and controller killed.
must submit_tool second 'collect=[/out/large, /out/small]' collect_limit=100K \
	'nodes=2' into /out/large , print 200000 , into /out/small , print 1000 , \
	into - , print 10 , wait /host/written , exit 3
wrote() # RANK
{
	[[ -n $(cli logs "$JOB" --rank "$1") ]]
}
ok 'wait_for "wrote 0 && wrote 1" 60' "both ranks have written their files"
touch "$BED/host/second/written"
must wait_job "$JOB" failed 60
is "$(job_get "$JOB" .failure)" exit "a failed command stays failed"
like "$(files_get "$JOB" '.[0].text')" 'too large: .* 102400' \
	"what is beyond the limit is not kept"
is "$(files_get "$JOB" '[.[] | select(.content).path] | join(" ")')" \
	'/out/small /out/small' "but what fits is"

# Patterns: what matches below a folder, as one; from the working folder, too.
must submit_tool patterns 'collect=["/out/${NODE_RANK}/*.json",
	"ckpt/step-*/**", /out/*.none]' collect_limit=1M \
	workdir=/job folder /out , folder /out/0 , into /out/0/a.json , \
	print 100 , into /out/0/été.json , print 200 , \
	into /out/0/large.bin , print 2000000 , folder ckpt , \
	folder ckpt/step-1 , folder ckpt/step-1/deep , \
	into ckpt/step-1/deep/weights , print 3000 , into ckpt/other , print 10
must wait_job "$JOB" completed 60
is "$(files_get "$JOB" '[.[].path] | join(" ")')" \
	'/out/0/*.json /job/ckpt/step-*/** /out/*.none' \
	"patterns are listed, from where the command works"
like "$(files_get "$JOB" '.[2].text')" 'nothing matches' \
	"of one that nothing matches it is told"
must cli fetch "$JOB" -o "$BED/matched" 2>/dev/null
is "$(cd "$BED/matched" && find . -type f | LC_ALL=C sort | xargs)" \
	'./0/a.json ./0/été.json ./ckpt/step-1/deep/weights' \
	"what matches is here, and nothing else"
"$REGATTA_BUILD/lab/tool" print 200 | cmp - "$BED/matched/0/été.json"
is $? 0 "as it was"
must cli fetch "$JOB" /job/ckpt/step-1 -o "$BED/below" 2>/dev/null
is "$(cd "$BED/below" && find . -type f)" ./ckpt/step-1/deep/weights \
	"also a path below one alone"
must submit_tool haystack 'collect=["/out/*.json"]' collect_limit=4K \
	folder /out , into /out/a.json , print 100 , into /out/hay , print 2000000
must wait_job "$JOB" completed 60
ok '[[ $(files_get "$JOB" ".[0].content") =~ ^[0-9a-f]{64}$ ]]' \
	"a pattern takes little from a large folder"

# A user without a name, whose folders the image lacks; a folder that stays shut.
must submit_tool other user=1234:1234 'collect=[mine, /host, /etc/none]' \
	"workspace=$BED/host" touch /workspace/mine
must wait_job "$JOB" completed 60
is "$(files_get "$JOB" '[.[] | select(.content).path] | join(" ")')" \
	'/workspace/mine /host' "another user's files come back"

# What lay there before the job began is not its work.
mkdir -p "$BED/host/again"
touch -d 2025-01-01 "$BED/host/again/old"
must submit_tool again 'collect=[/host]' touch /host/new
must wait_job "$JOB" completed 60
is "$(files_get "$JOB" '.[0].text')" '1 of 2 files are older than the job' \
	"files that are older than the job are marked"

must submit_tool third 'collect=[/out/big]' into /out/big , print 300000000
must wait_job "$JOB" collecting 60
node=$(job_get "$JOB" '.allocation[0]')
wait_for 'ls $CLUSTER/controller/content/partial/?* 2>/dev/null' 30
ok '[[ ! $(ls "$CLUSTER/$node/spool/"*/out/collect-*.tar 2>/dev/null) ]]' \
	"a node keeps what it sends once, not twice"
controller_kill
agent_kill "${node#n}"
controller_up
agent_up "${node#n}"
must wait_job "$JOB" completed 90
must cli fetch "$JOB" -o "$BED/big" 2>/dev/null
"$REGATTA_BUILD/lab/tool" print 300000000 | cmp - "$BED/big/big"
is $? 0 "after both were killed all is here, byte for byte"
must wait_sweep "$SWEEP" 30
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
