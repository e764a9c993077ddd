#!/bin/bash
# samples.t - devices and host are sampled beside a job, and the result says so.
#
# An invented vendor whose tool is a script; agent and controller killed in the
# middle; a tool that fails.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need curl

cp -r "$REGATTA_BUILD/images" "$BED/images"
mkdir -p "$BED/images/vendors/invented" "$BED/bin"
cat >"$BED/images/vendors/invented/profile.yaml" <<'END'
vendor: invented
title: a vendor that is none
source: a test
monitor:
  command: [invented-smi]
  timeout: 5s
  layouts:
    - name: lines
      read: lines
      when: '^card'
      device: ['card (?<device>\d+) (?<power_w>\d+ W) (?<mem_used_mib>\d+)/(?<mem_total_mib>\d+) MiB (?<temp_c>\d+) C']
END

# smi WORD...: what the tool does from now on
smi()
{
	printf '#!/bin/sh\n%s\n' "$*" >"$BED/bin/new"
	chmod 755 "$BED/bin/new"
	mv "$BED/bin/new" "$BED/bin/invented-smi"
}
GOOD='grep Cpus_allowed_list /proc/self/status >'$BED'/where
echo "card 0 300 W 512/1024 MiB 40 C"; echo "card 1 9 W 9/1024 MiB 9 C"'
smi "$GOOD"
export PATH=$BED/bin:$PATH REGATTA_IMAGES=$BED/images
CONTROLLER_ARGS=(--images "$BED/images" --web 127.0.0.1:0)
AGENT_ARGS=(--images "$BED/images" --vendor invented --housekeeping-cpus 0
	--metrics 127.0.0.1:0)
must cluster_up 1

# trace JOB: the file in which the controller keeps the samples
trace()
{
	echo "$CLUSTER/controller/logs/$1/1/samples-0.log"
}
lines()
{
	grep -c "$2" "$(trace "$1")" 2>/dev/null || true
}
usage()
{
	job_get "$1" ".result.usage | $2"
}

# metrics PART: what it tells Prometheus
metrics()
{
	curl -s --max-time 20 "$(log_of "$1" | sed -n \
		's/.*\(web\|metrics\) at \(http[^ ]*\).*/\2/p' |
		sed 's|/metrics$||')/metrics"
}

wait_for "metrics cluster/agent1 | finds POWER_USAGE" 30
like "$(metrics cluster/agent1)" \
	'DCGM_FI_DEV_POWER_USAGE\{gpu="1",[^}]*Hostname="n1",job=""\} 9' \
	"an agent that is asked reads the devices of an idle node"

must submit_tool simple vendor=invented \
	append /host/runs run , wait /host/go , print 1000
simple=$JOB
wait_for "(( \$(lines $simple '\"d\":') >= 3 ))" 30
ok "(( \$(lines $simple '\"d\":') >= 3 ))" "samples come while the job runs"
body=$(metrics cluster/controller)
like "$body" 'DCGM_FI_DEV_GPU_TEMP\{gpu="0",[^}]*Hostname="n1",job="1"\} 40' \
	"the controller tells the readings of the job's device"
like "$body" 'regatta_node_devices_busy\{node="n1",vendor="invented"\} 1' \
	"and what jobs hold"
like "$body" 'regatta_jobs\{state="running"\} 1' "and what runs"
touch "$BED/host/simple/go"
must wait_job "$simple" completed 30
like "$(metrics cluster/controller)" \
	'regatta_jobs_ended_total\{state="completed",class=""\} 1' "and what ended"
is "$(usage "$simple" '.devices | length')" 1 \
	"only the device that was allocated counts"
is "$(usage "$simple" '.devices[0].power_w.mean')" 300 "its power"
is "$(usage "$simple" '.devices[0].temp_c.max')" 40 "its temperature"
ok "usage $simple '.energy_j >= 300 and
	(.energy_j - 300 * .devices[0].energy_s | fabs) < 0.001' |
	grep -q true" "the job's energy: $(usage "$simple" .energy_j) J"
is "$(usage "$simple" '"\(.mem_used_mib) of \(.mem_total_mib)"')" \
	"512 of 1024" "its memory"
is "$(job_get "$simple" '"\(.result.memory_mib) \(.result.memory_source)"')" \
	"512 sampled" "which the result has, for the training printed none"
ok "usage $simple '.hosts[0] | .samples >= 3 and .cpu_pct.max >= 0' |
	grep -q true" "the host was sampled, too"
is "$(usage "$simple" '.hosts[0] | "\(.tool) on \(.cpus)"')" \
	"invented-smi on 0" "the tool is named, and where it ran"
ok "grep -q 'list:.0\$' $BED/where" "where it really ran"
is "$(usage "$simple" '.hosts[0].clock')" true \
	"times are of the controller's clock"
ok 'log_is "$simple" 1 0 append /dev/null run , print 1000' \
	"the job's own output is as ever"
run cli show job "$simple"
ok "grep -q '^ *n1 *0 .*300.*512.*1024' $BED/out" \
	"show prints a line for the device"

must submit_tool killed vendor=invented \
	append /host/runs run , wait /host/go , print 1000
killed=$JOB
wait_for "(( \$(lines $killed '\"d\":') >= 2 ))" 30
agent_kill 1
agent_up 1
wait_for "(( \$(lines $killed '\"trace\":') >= 2 ))" 30
ok "(( \$(lines $killed '\"trace\":') >= 2 ))" \
	"an agent that follows one that was killed samples on"
controller_kill
controller_up
n=$(lines "$killed" '"d":')
wait_for "(( \$(lines $killed '\"d\":') >= $n + 2 ))" 30
touch "$BED/host/killed/go"
must wait_job "$killed" completed 60
is "$(usage "$killed" '"\(.broken_lines) \(.errors | length)"')" "0 0" \
	"with agent and controller killed no line is broken"
is "$(usage "$killed" '.devices[0].samples')" "$(lines "$killed" '"d":')" \
	"and each is counted"
is "$(runs killed)" 1 "the job ran once"

smi 'echo "no driver" >&2; exit 9'
must submit_tool failing vendor=invented wait /host/go , print 1000
failing=$JOB
wait_for "(( \$(lines $failing '\"error\":') >= 1 ))" 30
touch "$BED/host/failing/go"
must wait_job "$failing" completed 30
is "$(job_get "$failing" '.result.flags[0].words | join(": monitor: ")')" \
	"n1: monitor: invented-smi: exit code 9: no driver" \
	"a tool that fails is told in the result"
is "$(usage "$failing" .energy_j)" null "and there is no energy, rather than 0"

smi "exec sleep 1000.$$"
must submit_tool hanging vendor=invented wait /host/go , print 1000
hanging=$JOB
wait_for "(( \$(lines $hanging '\"error\":') >= 1 ))" 30
touch "$BED/host/hanging/go"
must wait_job "$hanging" completed 30
is "$(job_get "$hanging" '.result.flags[0].words | join(": monitor: ")')" \
	"n1: monitor: invented-smi: still running after 5000 ms; killed" \
	"one that hangs is killed, and told"
must wait_sweep "$SWEEP" 30
ok 'wait_for cluster_clean 30' "nothing is left on the node"
ok "! pgrep -f '^sleep 1000.$$\$' >/dev/null" "nor a process of the tool"
run cli show node n1
ok "grep -q '^  clock:' $BED/out" "show node prints the node's facts"
done_testing
