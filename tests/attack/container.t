#!/bin/bash
# container.t - a container that wants more: the node's files, a better record,
# more room than it was given. The count of attempts is printed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
mkdir -p "$BED/host"
echo "mounts: [{host: $BED/host, write: true}]
limits: {log: 1M, pids: 64}
capabilities: [SETUID, SETGID, KILL, MKNOD, FSETID, FOWNER, CHOWN]" \
	>"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 1
out=/regatta/out attempts=0

# ends NAME CLASS TEXT WHAT [WORD...]: the command fails so
ends()
{
	local name=$1 class=$2 text=$3 what=$4

	((++attempts))
	must submit_tool "$name" retries=0 "${@:5}"
	must wait_sweep "$SWEEP" 60
	is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed $class" \
		"$what: class $class"
	like "$(job_get "$JOB" .text)" "$text" "$what: $(job_get "$JOB" .text)"
}

# Files that give rights, by every mode that has such a bit, with all the
# capabilities that could help.
for caps in '[]' '[MKNOD, FSETID, FOWNER, CHOWN]' '[SETUID, SETGID, KILL]'; do
	words=(touch /host/file)
	for mode in 4755 2755 6755 4111 2711 7777 4000 2000; do
		words+=("," mode /host/file "$mode")
		((++attempts))
	done
	for name in a b; do
		words+=("," device "/host/$name")
		((++attempts))
	done
	must submit_tool "modes$attempts" retries=0 "capabilities=$caps" \
		"${words[@]}"
	must wait_job "$JOB" completed 30
	is "$(grep -c 'Operation not permitted' "$(log_file "$JOB")")" 10 \
		"with $caps: each attempt is refused"
done
is "$(find "$BED/host" \( -perm /6000 -o -type c -o -type b \))" "" \
	"no such file lies on the host"

# Records.
zero='{"version":1,"exit_code":0,"signal":0,"started_ms":1,"ended_ms":2,"oom_kills":0,"memory_peak_bytes":0,"processes":[]}'
forged="forged or damaged"
# The agent may not have looked before the true one took its place.
ends early exit "$forged: another file|exited with code 3" "one before the end" \
	append $out/x "$zero" , rename $out/x $out/exit.json , exit 3
ends stolen exit "$forged: another file" "the record's file, taken away" \
	rename $out/exit.json.new $out/y
ends moved exit "$forged: another file" "the record's file, put in place" \
	append $out/exit.json.new "$zero" , \
	rename $out/exit.json.new $out/exit.json
ends linked exit "$forged" "a link in its place" \
	rename $out/exit.json.new $out/y , link $out/y $out/exit.json.new
ends folder exit "$forged" "a folder in its place" folder $out/exit.json
must submit_tool filled retries=0 append $out/exit.json.new "$zero" , exit 9
((++attempts))
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" .text)" "n1: rank 0 exited with code 9" \
	"what it wrote into the record's file is gone in the end"

# Room.
ends big policy 'output: the output folder contains [0-9]+ MiB' \
	"a file beside the output" \
	into $out/big , print 500000000 , into - , sleep 1000
ends many policy 'output: the output folder contains more than 2048 files' "files without end" \
	files $out 2100 , sleep 1000
words=(print 1) name=$out
for ((i = 0; i < 20; i++)); do
	name+=/d
	words+=("," folder "$name")
done
ends deep policy 'output: the output folder contains more than 2048 files' "folders without end" \
	"${words[@]}" , sleep 1000
must submit_tool bomb retries=0 fork 500 1000
((++attempts))
must wait_job "$JOB" completed 60
orphans=$(grep -c orphan "$(log_file "$JOB")")
ok "((orphans > 20 && orphans < 64))" \
	"of 500 processes there are $orphans: the limit is 64"

ok 'wait_for cluster_clean 30' "nothing of it is left on the node"
diag "$attempts attempts, none got through"
done_testing
