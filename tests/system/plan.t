#!/bin/bash
# plan.t - a sweep over two vendors: planned on their nodes, run side by side.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need

# Two vendors of our own, whose nodes need nothing.
mkdir -p "$BED"
cp -r "$REGATTA_BUILD/images" "$BED/images"
for vendor in acme bolt; do
	mkdir -p "$BED/images/vendors/$vendor"
	echo "vendor: $vendor" >"$BED/images/vendors/$vendor/profile.yaml"
done
echo "framework: own" >"$BED/images/frameworks/own.yaml"
echo "images: {own: $TOOL_IMAGE}" \
	>>"$BED/images/vendors/bolt/profile.yaml"
export REGATTA_IMAGES=$BED/images
CONTROLLER_ARGS=(--images "$BED/images")

cat >"$BED/two.yaml" <<END
sweep: two
framework: own
vendor: [{vendor: acme, image: $TOOL_IMAGE}, bolt]
nodes: 1
mounts: [{host: $BED/host, container: /host}]
matrix: {code: [0, 1]}
command: [/tool, append, "/host/\${vendor}", begun, ",", wait,
  "/host/go", ",", exit, "\${code}"]
END
mkdir -p "$BED/host"

run regatta plan "$BED/two.yaml"
is "$rc" 0 "a plan needs no controller"
like "$out" "nodes and times were not checked: no controller is set" \
	"and says that it asked none"
REGATTA_CONTROLLER=tcp://127.0.0.1:1 run regatta plan --format json \
	--key "$BED/none" "$BED/two.yaml"
is "$rc $(jq -c '[.cluster.checked, (.kept | length)]' <<<"$out")" \
	"0 [false,4]" "nor one that is out of reach"

# Node 1 is acme's, node 2 bolt's.
AGENT_ARGS=(--images "$BED/images" --vendor acme)
must cluster_up 2 one
agent_stop 2
AGENT_ARGS=(--images "$BED/images" --vendor bolt)
rm -rf "$CLUSTER/n2"
must agent_up 2
must wait_for "[[ \$(nodes_get '[.[].vendor] | sort | join(\" \")') == \
	'acme bolt' ]]" 20
must nodes_up 2 20

run cli plan "$BED/two.yaml"
like "$out" "with 2 of 2 nodes, all free: 2 waves; time unknown: none of" \
	"with one it says in how many waves they would run"
run cli plan --format json "$BED/two.yaml"
is "$(jq -c '[.kept[] | [.vendor, .fits, .wave, .on, .runs]]' <<<"$out")" \
	'[["acme",true,1,["n1"],0],["acme",true,2,["n1"],0],["bolt",true,1,["n2"],0],["bolt",true,2,["n2"],0]]' \
	"each vendor's cells on its nodes, at the same time"

must submit "$BED/two.yaml"
ok "wait_for '[[ -e $BED/host/acme && -e $BED/host/bolt ]]' 30" \
	"and that is how they run"
is "$(nodes_get '[.[] | .jobs | length] | add')" 2 \
	"a job of each vendor at a time"
run cli plan "$BED/two.yaml"
like "$out" "with 2 of 2 nodes, besides 4 jobs: 2 waves; time unknown" \
	"a plan counts the jobs that run and wait"
sed 's/sweep: two/sweep: both/; s/matrix:.*/matrix: {code: [2]}/' \
	"$BED/two.yaml" >"$BED/both.yaml"
run cli plan --format json "$BED/both.yaml"
is "$(jq -c '[.cluster.others, [.kept[] | [.wave, .on]]]' <<<"$out")" \
	'[4,[[1,["n1"]],[1,["n2"]]]]' "behind which its cells would run"
touch "$BED/host/go"
must wait_sweep "$SWEEP" 60

run cli plan --format json "$BED/two.yaml"
is "$(jq -c '[.kept[] | [.runs, (.time_ms > 0)]]' <<<"$out")" \
	'[[1,true],[0,false],[1,true],[0,false]]' \
	"what completed says how long such cells take"
is "$(jq -c '.forecast | [.known, .unknown, .lacking, (.time_ms > 0)]' \
	<<<"$out")" '[2,2,0,true]' "and the plan how long all of it would"
run cli plan "$BED/two.yaml"
like "$out" "[23] waves; about .*; 2 of 4 cells have never run" "also in words"

sed -i 's/nodes: 1/nodes: 2/' "$BED/two.yaml"
run cli plan "$BED/two.yaml"
like "$out" "needs 2 nodes of acme; 1 is known" \
	"a cell that no nodes can run says what they lack"
like "$out" "nothing would start; 4 cells would wait for nodes" "so do all"

printf '%s\n' "sweep: none" "image: i" "devices: 8" "batch: {micro: 2," \
	"  accumulate: 4, global: 100}" >"$BED/none.yaml"
run cli plan "$BED/none.yaml"
is "$rc" 2 "a sweep of nothing is a wrong request"
like "$out" "micro batch 2 x accumulate 4 x 8 data ranks = 64 is not the" \
	"with the arithmetic"
run cli submit "$BED/none.yaml"
is "$rc" 2 "also for submit"
like "$err" "2 x accumulate 4 x 8 data ranks = 64 is not the global batch 100" \
	"which shows it, too"
done_testing
