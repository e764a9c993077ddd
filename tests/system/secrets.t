#!/bin/bash
# secrets.t - values that stand in no sweep file reach the container, and nobody
# else reads them.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need sqlite3 "$REGATTA_BUILD/lab/sniff"
AGENT_ARGS=(--verbose)
must cluster_up 1
must make_key "$CLUSTER/viewer.key" watcher viewer 2>/dev/null
must wait_for 'regatta nodes --key "$CLUSTER/viewer.key"' 10

# Made here, so that no file of the tree has them.
first=env-$RANDOM$RANDOM$RANDOM second=file-$RANDOM$RANDOM$RANDOM
third=stdin-$RANDOM$RANDOM$RANDOM fourth=kept-$RANDOM$RANDOM$RANDOM
mkdir -p "$BED/host" "$BED/mine"
printf '%s\r\n' "$second" >"$BED/mine/token"
printf '%s\n' "$third" >"$BED/mine/input"
cat >"$BED/s.yaml" <<END
sweep: secret
image: $TOOL_IMAGE
retries: 0
mounts: [{host: $BED/host, container: /host}]
env: {PLAIN: visible, HF_TOKEN: too-plain}
secrets:
  WANDB_API_KEY: {from: env}
  OTHER: {from: file, file: $BED/mine/token}
  THIRD: {from: stdin}
  FOURTH: {from: env, as: file}
command: [/tool, into, /host/start, ",", show, /regatta/in/start, ",",
  into, "-", ",", into, /host/part, ",", env, ",", into, "-", ",",
  into, /host/kept, ",", show, /run/secrets/FOURTH, ",", into, "-", ",",
  rename, /host/part, /host/env, ",", wait, /host/go]
END

# from_input WORD...: a command whose standard input is the third
from_input()
{
	timeout -k 5 60 "$@" <"$BED/mine/input"
}

# order: submit it; sets $SWEEP and $JOB
order()
{
	run from_input regatta submit "$BED/s.yaml" --format json
	SWEEP=$(jq -r .sweep <<<"$out")
	JOB=$(jobs_get "$SWEEP" '.[0].job')
}

run from_input regatta submit "$BED/s.yaml"
is "$rc" 2 "a value that is not there is missed at once"
like "$err" "secrets\.WANDB_API_KEY: the variable WANDB_API_KEY is not set" \
	"in words: $err"
spawn sniff "$REGATTA_BUILD/lab/sniff" "${REGATTA_CONTROLLER##*:}" "$BED/wire"
must wait_for 'log_of sniff | finds ready' 10
FOURTH=$fourth WANDB_API_KEY=$first order
is "$rc" 0 "a sweep is submitted with its secrets"
like "$err" "env.HF_TOKEN looks like a secret" "a careless variable is told"
ok '[[ $err != *env.PLAIN* ]]' "others are not"
ok 'wait_job $JOB running 30' "its job runs"
must wait_for '[[ -s $BED/host/env ]]' 20
ok '! grep -qaE "$first|$second|$third|$fourth" "$BED/host/start"' \
	"it finds none in the file that it started from"
is "$(grep -E '^(WANDB_API_KEY|OTHER|THIRD)=' "$BED/host/env" | sort)" \
	"$(printf '%s\n' "OTHER=$second" "THIRD=$third" "WANDB_API_KEY=$first")" \
	"the command has them, without the line's end"
is "$(<"$BED/host/kept")" "$fourth" "and one as a file"
is "$(grep -c "^FOURTH" "$BED/host/env")" 0 "which is no variable"
rm "$BED/host/env" "$BED/host/kept"
ok 'wait_for "! grep -rqE \"$first|$second|$third|$fourth\" \
	\"$CLUSTER/n1/spool\"" 10' \
	"while it runs, they are in no file of the node"
inspected=$(dk e1 inspect "$(task_container "$JOB")")
is "$(jq -r '.[0].HostConfig.Tmpfs | keys[]' <<<"$inspected")" /run/secrets \
	"the file is in memory"
ok '[[ -n $inspected ]] && ! grep -qE "$first|$second|$third|$fourth" \
	<<<"$inspected"' "the engine knows none"

# Viewers see names alone.
run regatta show job "$JOB" --format json --key "$CLUSTER/viewer.key"
is "$(jq -c '[.job.spec.container.env[] | select(test("PLAIN|HF_"))]' <<<"$out")" \
	'["PLAIN=(hidden)","HF_TOKEN=(hidden)"]' \
	"a viewer sees no values of env"
like "$(job_get "$JOB" '.spec.container.env | join(" ")')" "PLAIN=visible" \
	"an operator does"
run "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
	"$CLUSTER/controller.key" "$CLUSTER/viewer.key" 1 \
	'{"type":"hello","version":3,"software":"peer"}' \
	"{\"type\":\"query\",\"request\":1,\"what\":\"text\",\"id\":$SWEEP}"
like "$out" "viewer may not read sweep files" "nor the sweep's file"

# They last as long as the sweep.
must controller_kill
must controller_up
must nodes_up 1 30
touch "$BED/host/go"
ok 'wait_job $JOB completed 30' "the job completes"
ok 'wait_for "[[ \$(sqlite3 \"\$CLUSTER/controller/regatta.db\" \
	\"SELECT count(sealed), count(*) FROM logins\") == \"0|4\" ]]" 20' \
	"with the last job they are forgotten"
must wait_sweep "$SWEEP" 20

# Tried again, they are read again where they can be.
rm "$BED/host/go"
FOURTH=$fourth WANDB_API_KEY=$first order
must wait_job "$JOB" running 30
rm "$BED/host/env" "$BED/host/kept"
must regatta cancel "$SWEEP" 2>/dev/null
must wait_sweep "$SWEEP" 30
run regatta retry "$SWEEP"
like "$err" "the secret THIRD was deleted" "retry says what is gone: $err"
ok 'wait_job $JOB failed 30' "and the job fails"
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"preflight n1: the secret [A-Z_]+ was deleted" \
	"before anything runs: $(job_get "$JOB" .text)"

# Nowhere else.
must end sniff
regatta backup "$BED/backup.tar.gz" &>/dev/null
mkdir "$BED/restored"
tar -xzf "$BED/backup.tar.gz" -C "$BED/restored"
{
	cli show job "$JOB" --format json
	cli show sweep "$SWEEP" --format json
	cli audit --format json
	cli report "$SWEEP"
} >"$BED/shown" 2>&1
like "$(<"$BED/shown")" 'WANDB_API_KEY' "(the audit log knows their names)"
for word in "$first" "$second" "$third" "$fourth"; do
	found=$(grep -rlaF --devices=skip -e "$word" "$BED" 2>/dev/null |
		grep -vE "^$BED/mine/")
	is "$found" "" "a value is in no log, store, spool, answer or packet"
done
ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
