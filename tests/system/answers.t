#!/bin/bash
# answers.t - what a sweep says at its end, of a program that counts samples.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need curl
CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_up 2 one
web=$(web_at cluster/controller)

# lines FROM TO RATE: steps at so many samples a second, of both devices
lines()
{
	seq -f "step %.0f/40 | loss 2.5000 | $3 samples/s" "$1" "$2"
}

# One rate, the same number everywhere.
mkdir -p "$BED/host/counts"
lines 1 40 80.0 >"$BED/host/counts/log"
must submit_tool counts nodes=2 log=auto show /host/log , wait /host/end
must wait_for "[[ \$(job_get $JOB .rate) == 40 ]]" 30
is "$(job_get "$JOB" '"\(.rate) \(.rate_unit)"')" "40 sample/p/s" \
	"a job that runs has the rate of its last step, of each device"
run curl -sf "$web/metrics"
like "$out" "regatta_job_rate\{job=\"$JOB\",sweep=\"1\",unit=\"sample/p/s\"\} 40" \
	"Prometheus gets the same number, with its unit"
touch "$BED/host/counts/end"
must wait_sweep 1 30
is "$(job_get "$JOB" '"\(.rate) \(.rate_unit)"')" "40 sample/p/s" \
	"so has one that completed"
run cli jobs
like "$out" "step 40, loss 2.5, 40.0? sample/p/s" "in lists"
run cli report 1
like "$out" '\| sample/p/s \|(.|\n)* 40.0 ' "in the report, named in its heading"
run cli report 1 --format csv
like "$out" ',40,sample/p/s,' "in CSV"
must submit_tool counts nodes=2 log=auto show /host/log
must wait_sweep 2 30
run cli compare 1 2
like "$out" 'sample/p/s 1 +sample/p/s 2(.|\n)*40.0(.|\n)*40.0' "in a comparison"
run cli trend counts
like "$out" 'SWEEP .*sample/p/s(.|\n)* 40.0 ' "and in a trend"
done_testing
