#!/bin/bash
# tools.t - regatta validate tools and network: the agent builds the image of the
# tools, from a base that mmdebstrap makes and packages of its network.
#
# TOOLS_BASE=FILE keeps the base for the next time.
TEST_LIMIT=1700
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need mmdebstrap

base=${TOOLS_BASE:-$BED/base.tar}
[[ -s $base ]] || must mmdebstrap --variant=minbase bookworm "$base"
# The engines of the bed have no bridge.
printf '%s\n' "network: [host]" "build: true" >"$BED/policy.yaml"
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 2 one
dk e1 import "$base" debian:bookworm-slim >/dev/null

# validate SET: the report is in $BED/report
validate()
{
	timeout 900 regatta validate "$1" --again 1s --format json \
		>"$BED/report" 2>"$BED/words" || diag "$(tail -5 "$BED/words")"
}

validate tools
is "$(jq -r '[.units[].checks[].test] | unique | join(" ")' "$BED/report")" \
	"cpu_events_per_s disk_mib_per_s matrix_ops_per_s memory_mib_per_s" \
	"each node is measured by sysbench, stress-ng and fio"
validate network
is "$(cli report "$(jq '.sweeps[0]' "$BED/report")" --format json |
	jq '.rows[0].result.metrics.network_mbit_per_s > 1')" true \
	"iperf3 measures the nodes in pairs"
is "$(cli sweeps --format json | jq -r '[.sweeps[].name] | unique | join(" ")')" \
	"validate-network validate-tools" "which are sweeps like any other"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
