#!/bin/bash
# prometheus.t - Prometheus scrapes controller and agent, and its alerts fire.
#
# Long: a real Prometheus, which waits for scrapes.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need curl prometheus promtool ss

rules=$ROOT/deploy/prometheus
run promtool check rules "$rules/alerts.yml"
is "$rc" 0 "the alert rules are valid"
run promtool check config --syntax-only "$rules/prometheus.yml"
is "$rc" 0 "and so is the configuration"

# What dashboard and alerts ask for is what the programs have.
jq -r '.. | .expr? // empty' "$rules/dashboard.json" |
	cat - "$rules/alerts.yml" |
	grep -oE '\b(regatta_[a-z_]+|DCGM_[A-Z_]+)' |
	sed -E 's/_(bucket|count|sum|total)$//' | sort -u >"$BED/asked"
ok '(($(wc -l <"$BED/asked") >= 15))' "dashboard and alerts ask for metrics"
grep -rhoE '"(regatta_[a-z_]+|DCGM_[A-Z_]+)"' --include=*.c \
	"$ROOT"/{controller,agent,protocol} | tr -d '"' |
	sed -E 's/_total$//' | sort -u >"$BED/told"
is "$(comm -23 "$BED/asked" "$BED/told" | tr '\n' ' ')" "" \
	"all of which there are"

# The dashboard is one that Grafana reads: the fields of its documented model.
panels()
{
	jq -r "[.panels[] | select(($1) | not) | .title] | join(\", \")" \
		"$rules/dashboard.json"
}
is "$(jq -r '[(.uid | test("^[a-zA-Z0-9_-]{1,40}$")), (.title | length > 0),
	(.schemaVersion >= 36), (.time.from == "now-6h"), (.panels | length >= 10),
	([.panels[].id] | length == (unique | length)),
	([.templating.list[] | select(.type == "datasource" and
		.query == "prometheus") | .name] == ["source"])] | all' \
	"$rules/dashboard.json")" true "the dashboard has its fields"
is "$(panels '(.type == "stat" or .type == "timeseries") and
	(.title | length > 0) and (.id | type == "number") and
	.datasource == {type: "prometheus", uid: "${source}"}')" "" \
	"its panels are of Grafana's own types, and read its data source"
is "$(panels '.gridPos | .x >= 0 and .y >= 0 and .w > 0 and .h > 0 and
	.x + .w <= 24')" "" "they lie within the 24 columns"
is "$(jq '[.panels[].gridPos | . as $p | range(.x; .x + .w) as $x |
	range(.y; .y + .h) as $y | [$x, $y]] | length - (unique | length)' \
	"$rules/dashboard.json")" 0 "and beside each other"
is "$(panels '[.targets[].refId] | length == (unique | length) and
	all(test("^[A-Z]$"))')" "" "each query has a name of its own"
is "$(panels '(.fieldConfig.defaults.unit // "none") | IN("none", "short", "s",
	"watt", "celsius", "percent", "mbytes", "decmbytes", "Bps", "binBps")')" \
	"" "units are those that Grafana knows"

# What takes minutes, in time that is only told.
cat >"$BED/rules_test.yml" <<END
rule_files: [$rules/alerts.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: regatta_node_up{node="n1"}
        values: 1 0 0 0 0x60
      - series: regatta_node_drained{node="n1"}
        values: 0x60
      - series: regatta_node_up{node="n2"}
        values: 0x60
      - series: regatta_node_drained{node="n2"}
        values: 1x60
      - series: regatta_node_engine_up{node="n1"}
        values: 1 0 0 0 0x60
      - series: regatta_node_on_probation{node="n1"}
        values: 0 0 0 1 1x60
      - series: regatta_job_step_timestamp_seconds{job="7"}
        values: 60x60
      - series: regatta_job_rate{job="7", unit="token/p/s"}
        values: 100x30 60x30
      - series: regatta_job_rate{job="8", unit="token/p/s"}
        values: 100x30 90x30
    alert_rule_test:
      - {eval_time: 2m, alertname: RegattaNodeDown, exp_alerts: []}
      - eval_time: 4m
        alertname: RegattaNodeDown
        exp_alerts:
          - exp_labels: {severity: warning, node: n1}
            exp_annotations:
              summary: Node n1 is out of reach and not drained.
      - {eval_time: 4m, alertname: RegattaEngineAway, exp_alerts: []}
      - eval_time: 5m
        alertname: RegattaNodeOnProbation
        exp_alerts:
          - exp_labels: {severity: warning, node: n1}
            exp_annotations:
              summary: Node n1 failed repeatedly and is on probation.
      - {eval_time: 10m, alertname: RegattaJobHangs, exp_alerts: []}
      - eval_time: 20m
        alertname: RegattaJobHangs
        exp_alerts:
          - exp_labels: {severity: warning, job: 7}
            exp_annotations:
              summary: Job 7 has taken no step for 19m 0s.
      - {eval_time: 29m, alertname: RegattaJobSlow, exp_alerts: []}
      - eval_time: 45m
        alertname: RegattaJobSlow
        exp_alerts:
          - exp_labels: {severity: warning, job: 7, unit: token/p/s}
            exp_annotations:
              summary: Job 7 runs at 60 token/p/s, a fifth below its own median.
END
run promtool test rules "$BED/rules_test.yml"
is "$rc" 0 "alerts fire for a lost node, a hang and a rate that falls" ||
	diag "$out$err"

# A vendor whose tool is a script, so that there are devices.
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
      device: ['card (?<device>\d+) (?<power_w>\d+ W) (?<mem_used_mib>\d+)/(?<mem_total_mib>\d+) MiB (?<temp_c>\d+) C (?<util_pct>\d+) %']
END
printf '#!/bin/sh\necho "card 0 300 W 512/1024 MiB 40 C 97 %%"\n' \
	>"$BED/bin/invented-smi"
chmod 755 "$BED/bin/invented-smi"
export PATH=$BED/bin:$PATH REGATTA_IMAGES=$BED/images
CONTROLLER_ARGS=(--images "$BED/images" --web 127.0.0.1:0)
AGENT_ARGS=(--images "$BED/images" --vendor invented --metrics 127.0.0.1:0)
must cluster_up 1
address_of() # PART
{
	log_of "$1" | sed -n \
		's#.*\(web\|metrics\) at http://\([0-9.:]*\).*#\2#p' | tail -1
}
sed "s|127.0.0.1:7118|$(address_of cluster/controller)|
	s|\"n1:7119\", \"n2:7119\"|\"$(address_of cluster/agent1)\"|
	s|15s|1s|" "$rules/prometheus.yml" >"$BED/prometheus.yml"
# Hours and minutes are seconds here.
sed 's|for: .*|for: 0s|; s|^    rules:|    interval: 1s\n    rules:|
	s|> 900|> 20|; s|\[5m\]|[3s]|; s|\[2h\]|[2m]|' \
	"$rules/alerts.yml" >"$BED/alerts.yml"
spawn prometheus prometheus --config.file="$BED/prometheus.yml" \
	--storage.tsdb.path="$BED/tsdb" --web.listen-address=127.0.0.1:0
listening()
{
	ss -Hltnp | sed -n "s/.*127.0.0.1:\([0-9]*\) .*pid=$(pid_of prometheus),.*/\1/p"
}
must wait_for '[[ $(listening) ]]' 30
port=$(listening)
# ask PATH FILTER
ask()
{
	curl -sG --max-time 20 "http://127.0.0.1:$port/api/v1/$1" \
		"${@:3}" | jq -r "$2"
}
for part in cluster/controller cluster/agent1; do
	curl -s --max-time 20 "http://$(address_of $part)/metrics" \
		>"$BED/metrics"
	ok 'grep -q "^# TYPE regatta_" "$BED/metrics"' "$part has metrics"
	is "$(promtool check metrics <"$BED/metrics" 2>&1; echo $?)" 0 \
		"which promtool finds good"
done
wait_for '[[ $(ask targets "[.data.activeTargets[].health] | join(\" \")") \
	== "up up" ]]' 60
is "$(ask targets '[.data.activeTargets[] | .health + .lastError] | join(" ")')" \
	"up up" "controller and agent are scraped without a fault"
must submit_tool one vendor=invented wait /host/go
must wait_job "$JOB" running 30
running='[[ $(ask query ".data.result[0].value[1]" --data-urlencode \
	"query=regatta_jobs{state=\"running\"}") == 1 ]]'
wait_for "$running" 30
ok "$running" "a job that runs is seen there"
touch "$BED/host/one/go"
must wait_sweep "$SWEEP" 30
dispatched='[[ $(ask query ".data.result[0].value[1]" --data-urlencode \
	"query=regatta_job_dispatch_seconds_count") == 1 ]]'
wait_for "$dispatched" 30
ok "$dispatched" "and how long it waited"

# A training that becomes slow, and then stands still.
steps() # FROM TO RATE
{
	local of="| iteration 100.0 ms | $3 tokens/s | memory 1.0 MiB"

	seq -f "step %.0f/1000 | loss 2.5000 $of" "$1" "$2"
}
mkdir -p "$BED/host/slow"
steps 1 40 1000.0 >"$BED/host/slow/fast"
steps 41 80 100.0 >"$BED/host/slow/slow"
must submit_tool slow vendor=invented log=auto show /host/fast , wait /host/go , \
	show /host/slow , wait /host/end
enough='(($(ask query ".data.result[0].value[1] // 0" --data-urlencode \
	"query=count_over_time(regatta_job_rate[2m])") >= 10))'
must wait_for "$enough" 60
# summary_of ALERT: what it says while it fires
summary_of()
{
	ask alerts ".data.alerts[] | select(.state == \"firing\" and
		.labels.alertname == \"$1\") | .annotations.summary"
}
is "$(summary_of RegattaJobSlow)" "" "a steady rate raises no alert"
# Each question of the dashboard, as Grafana asks it, has an answer meanwhile.
# Hours and minutes are seconds here, too; nothing has failed.
jq -r '.panels[] | .targets[].expr' "$rules/dashboard.json" |
	sed 's/\$node/.*/; s/\[\(1d\|15m\|5m\)\]/[1m]/; s/state="failed"/state="completed"/' \
		>"$BED/questions"
unanswered()
{
	local question

	while IFS= read -r question; do
		[[ $(ask query '[.status, (.data.result | length > 0)] | join(" ")' \
			--data-urlencode "query=$question") == "success true" ]] ||
			echo "$question"
	done <"$BED/questions"
}
wait_for '[[ ! $(unanswered) ]]' 60
is "$(unanswered)" "" "all $(wc -l <"$BED/questions") queries of the dashboard have data"
touch "$BED/host/slow/go"
wait_for '[[ $(summary_of RegattaJobSlow) == *" 100 token/p/s"* ]]' 60
is "$(summary_of RegattaJobSlow)" \
	"Job $JOB runs at 100 token/p/s, a fifth below its own median." \
	"a rate that falls does"
wait_for '[[ $(summary_of RegattaJobHangs) ]]' 60
like "$(summary_of RegattaJobHangs)" \
	"^Job $JOB has taken no step for ([2-9][0-9]|[1-9]m)" \
	"and a training that takes no step"
touch "$BED/host/slow/end"
must wait_sweep "$SWEEP" 30
wait_for '[[ ! $(summary_of RegattaJobHangs) ]]' 30
is "$(summary_of RegattaJobHangs)" "" "until it has ended"

agent_kill 1
firing='[[ $(ask alerts "[.data.alerts[] | select(.state == \"firing\") |
	.labels.alertname] | join(\" \")") == *RegattaNodeDown* ]]'
wait_for "$firing" 60
ok "$firing" "a node whose agent is gone raises the alert"
done_testing
