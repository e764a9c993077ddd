#!/bin/bash
# web.t - what no browser sends to the web server of a controller, and text of
# jobs that would like to run in a page. The count of connections is printed. A
# controller with sanitizers is taken where `make asan` built it.
TEST_LIMIT=900
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need python3
mkdir -p "$BED/build"
ln -s "$REGATTA_BUILD"/* "$BED/build"
[[ -x $ROOT/build/asan/regatta-controller ]] &&
	ln -sf "$ROOT/build/asan/regatta-controller" "$BED/build"
REGATTA_BUILD=$BED/build
diag "$(readlink "$REGATTA_BUILD/regatta-controller")"
# shellcheck disable=SC2034 # for cluster_up
CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_up 1
must make_key "$CLUSTER/viewer.key" viewer viewer
must wait_for 'regatta nodes --key "$CLUSTER/viewer.key"' 10
# shellcheck disable=SC2034 # in conditions
pid=$(pid_of cluster/controller)
# shellcheck disable=SC2034 # in a condition
FAULT='AddressSanitizer|runtime error:|LeakSanitizer|core dumped|Assertion'

mkdir -p "$BED/host/evil"
printf '%s\n' $'<script>alert(1)</script><img src=x onerror=alert(1)>"\'>\e[31m\e]0;x\a\u009b31m\u202egnp.exe\u2066\u200f&lt;' \
	>"$BED/host/evil/text"
must submit_tool "evil" show /host/text , garbage 1000 , show /host/text , \
	steps 3 1 , show /host/text , exit 3
must wait_job "$JOB" failed 60
cell='<script>alert(1)</script>\"onload=alert(1) \u202egnp \u2066x'
cat >"$BED/evil.yaml" <<YAML
sweep: evil-cells
image: $TOOL_IMAGE
matrix: {a: ["$cell", "<!--", "]]>", "</main><form>"]}
command: [/tool, error, "\${a}"]
YAML
job=$JOB sweep=$SWEEP
must submit "$BED/evil.yaml"
must wait_sweep "$SWEEP" 60

tap_of python3 "$(dirname "$0")/web.py" "$(cli web --key "$CLUSTER/viewer.key")" \
	"$(cli web)" / "/sweep/$sweep" \
	"/sweep/$sweep/report" "/job/$job" "/log/$job/0/0" "/sweep/$SWEEP" \
	"/sweep/$SWEEP/report" "/job/$JOB" /nodes /node/1
ok '[[ $(pid_of cluster/controller) == "$pid" ]] && alive cluster/controller' \
	"it is the same controller"
ok '! log_of cluster/controller | grep -E "$FAULT"' "it found no fault in itself"
diag "memory: $(awk '$1 == "VmHWM:" { print int($2 / 1024) }' \
	"/proc/$(pid_of cluster/controller)/status") MiB at most"
is "$(nodes_get '.[0].state')" up "the node that works is there"
must submit_tool after print 1000
must wait_job "$JOB" completed 60
done_testing
