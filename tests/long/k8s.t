#!/bin/bash
# k8s.t - regatta k8s in a namespace of a real Kubernetes, and nothing left.
: "${TEST_LIMIT:=1500}"
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
need jq dockerd nsenter "$REGATTA_BUILD"/{regatta,regatta-agent,lab/tool}
# shellcheck source=tests/lab/kube.sh
. "$ROOT/tests/lab/kube.sh"
[[ -x $KUBE/bin/kubelet && -x $KUBE/up.sh ]] ||
	skip_all "no Kubernetes at $KUBE (recipes/kube/build.sh makes one)"
must kube_up
must kube_regatta
must kube_user bench
cd "$BED" || exit 1
export KUBECONFIG=$BED/bench.config PATH=$REGATTA_BUILD:$PATH
mkdir images
cp -r "$REGATTA_BUILD"/images/{models.yaml,frameworks,vendors} images
chmod -R u+w images
echo 'kubernetes: {resource: example.com/gpu}' >>images/vendors/cpu/profile.yaml
common=(--images images --image local/regatta:1 --host-network)

states() { # FOLDER
	jq -c '[.rows[].state]' "$1/report.json"
}
left() { # [NAMESPACE]
	kube get jobs,pods,secrets -n "${1:-bench}" -l regatta/run -o name
}
nothing() { # WHEN
	ok 'wait_for "[[ ! \$(left) ]]" 60' "$1 no Job, Secret or pod is left" || left
}
sweep() { # NAME COMMAND LINE...: a sweep of one shell command
	printf '%s\n' "sweep: $1" "vendor: cpu" "image: local/busybox:1" \
		"devices: 4" "command: [/bin/sh, -c, '$2']" "${@:3}" >"$1.yaml"
}
begin() { # NAME: in the background, until its job 1 runs
	spawn -n kctl "$1" regatta k8s "$1.yaml" --state "$1" "${common[@]}"
	must wait_for "log_of $1 | finds 'job 1 .*running'" 90
}
detail() { # FOLDER
	inside regatta jobs --state "$1" 2>/dev/null
}
pod() { # JOB ATTEMPT
	kube get pods -n bench -o name | grep -- "-$1-$2-"
}

sweep good 'echo rank $NODE_RANK of $NNODES ${n}; exit ${code}' \
	"matrix: {nodes: [1, 2], n: [1, 2, 3], code: [0]}" \
	"include: [{nodes: 1, n: 4, code: 7}, {nodes: 2, n: 4, code: 9}]"
run -t 300 inside regatta k8s good.yaml --state good "${common[@]}"
is "$rc $(states good | jq -c 'group_by(.) | map([.[0], length])')" \
	'1 [["completed",6],["failed",2]]' "eight cells over one and two nodes"
like "$err" "exited with code 9" "exit codes are told"
is "$(jq -r '[.rows[].provenance.nodes[]?] | length' good/report.json)" 12 \
	"each task had a pod of its own"
nothing "after a sweep"

# Three million lines, 200 MB, which the kubelet would rotate.
sweep big 'i=0; while [ $i -lt 3000000 ]; do echo 0123456789012345678901234567890123456789012345678901234567890123456; i=$((i+1)); done'
run -t 600 inside regatta k8s big.yaml --state big "${common[@]}"
yes 0123456789012345678901234567890123456789012345678901234567890123456 |
	head -3000000 >want
ok 'cmp want big/controller/logs/1/1/rank-0.log' "204 MB of output, byte for byte"
rm -rf want big
nothing "after 204 MB"

# How a command ends.
sweep signal 'kill -SEGV $$$$'
run -t 120 inside regatta k8s signal.yaml --state signal "${common[@]}"
like "$rc $err" "signal 11" "a signal is told"
sweep oom 'x=a; while :; do x=$x$x; done' "memory: 64MiB"
run -t 120 inside regatta k8s oom.yaml --state oom "${common[@]}"
like "$rc $err" "failed, oom" "memory is told"
nothing "after failures"

# Its pod is deleted; then the node loses its power.
sweep slow 'trap "echo told; exit 3" TERM; echo begun; i=0; while [ $i -lt ${s} ]; do sleep 0.2; i=$((i+1)); done' \
	"matrix: {s: [40]}"
begin slow
must wait_for 'grep -qs begun slow/controller/logs/1/1/rank-0.log' 20
must kube delete -n bench --wait=false "$(pod 1 1)" >&2
ok 'wait_for "log_of slow | finds \"preempted\"" 60' "a deleted pod is preempted"
must wait_for '! alive slow' 120
is "$(code_of slow) $(states slow)" '0 ["completed"]' "its successor completes"
is "$(tail -1 slow/controller/logs/1/1/rank-0.log)" told "its last words are kept"
nothing "after a deleted pod"

# The command is interrupted, and continued.
cp slow.yaml cut.yaml
begin cut
end cut INT
is "$(code_of cut)" 130 "Ctrl-C ends it"
nothing "after Ctrl-C"
run -t 120 inside regatta k8s --resume cut
is "$rc $(states cut)" '0 ["completed"]' "--resume runs the rest"
cp slow.yaml killed.yaml
begin killed
end killed KILL
nothing "after kill -9"

# A quota refuses; the words are the job's.
kube create quota q -n bench --hard=pods=0 >&2
sweep quota 'true'
spawn -n kctl quota regatta k8s quota.yaml --state quota "${common[@]}"
ok 'wait_for "detail quota | finds \"exceeded quota\"" 60' \
	"what a quota refuses is told"
kube delete quota q -n bench >&2
end quota INT
nothing "after a refusal"
sweep wide 'true' "include: [{devices: 16}]"
spawn -n kctl wide regatta k8s wide.yaml --state wide "${common[@]}"
ok 'wait_for "detail wide | finds \"Insufficient example.com/gpu\"" 60' \
	"a pending pod tells the scheduler's words"
end wide INT

# Two users in two namespaces.
must kube_user other
spawn -n kctl first regatta k8s slow.yaml --state first "${common[@]}"
KUBECONFIG=$BED/other.config run -t 120 inside regatta k8s slow.yaml \
	--state second "${common[@]}"
is "$rc $(states second)" '0 ["completed"]' "another namespace has its own run"
must wait_for '! alive first' 120
is "$(code_of first) $(states first)$(left other)" '0 ["completed"]' \
	"beside the first"
nothing "after both"

# kubelet and API server are killed.
cp slow.yaml hard.yaml
sed -i 's/\[40\]/[100]/' hard.yaml
begin hard
must nsenter -m -p -t "$(cat "$KUBE/n1/init.pid")" -- killall -9 kubelet
must kill -9 "$(pgrep -f "kube-apiserver.*10.88.0.1" | head -1)"
sleep 3
bash "$KUBE/c/api.cmd" &
must wait_for '! alive hard' 180
is "$(code_of hard) $(states hard)" '0 ["completed"]' \
	"a run outlives kubelet and API server"
nothing "after them"

# A node loses its power; its pod stays in the list, as nobody answers for it.
sweep power 'sleep 20'
begin power
node=$(kube get pods -n bench -o 'jsonpath={.items[0].spec.nodeName}')
must kill -9 "$(cat "$KUBE/$node/init.pid")"
must wait_for '! alive power' 300
is "$(code_of power) $(states power)" '0 ["completed"]' \
	"what ran on a node without power runs on another"
done_testing
