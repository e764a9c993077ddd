#!/bin/bash
# k8s.t - regatta k8s with a kubectl whose pods are processes of this machine;
# tests/long/k8s.t has a real cluster.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need jq "$REGATTA_BUILD"/{regatta,regatta-agent}
export REGATTA_IMAGES=${REGATTA_IMAGES:-$ROOT/images}
export FAKE_CLUSTER=$BED/cluster KUBERNETES_SERVICE_HOST=127.0.0.1
mkdir -p "$BED/bin" "$FAKE_CLUSTER"
ln -s "$ROOT/tests/lab/kubectl.sh" "$BED/bin/kubectl"
export PATH=$BED/bin:$PATH
cd "$BED" || exit 1

states() { # FOLDER
	jq -c '[.rows[].state]' "$1/report.json"
}
left() {
	find "$FAKE_CLUSTER"/{jobs,secrets} -mindepth 1
	pgrep -af "$BED/cluster/pods/"
}
nothing() { # WHEN
	ok 'wait_for "[[ ! \$(left) ]]" 20' "$1 no Job, Secret or process is left" || left
}

cat >good.yaml <<END
sweep: good
vendor: cpu
image: lab/train:1
devices: 1
command: [/bin/sh, -c, "echo rank \$NODE_RANK of \$NNODES; head -c 3000000 /dev/zero | tr '\\\\0' x; exit \${code}"]
matrix: {nodes: [1, 2], code: [0, 7]}
END
run regatta k8s --print good.yaml
is "$rc $(jq -s 'length' out)" "0 4" "what would be created is printed"
is "$(jq -rs '.[2].spec.parallelism' out)" 2 "a pod for each node of a gang"
run regatta k8s nowhere.yaml
is "$rc" 2 "a sweep that is not there is a wrong request"

echo "create secrets" >"$FAKE_CLUSTER/denied"
run regatta k8s good.yaml --state denied
like "$rc $err" "^[12] .*create secrets" "a missing right is named beforehand"
is "$(grep -c create "$FAKE_CLUSTER/log")$(ls "$FAKE_CLUSTER/jobs")" 2 \
	"and nothing is created"
rm "$FAKE_CLUSTER/denied"

run -t 120 regatta k8s good.yaml --state good
is "$rc $(states good)" '1 ["completed","failed","completed","failed"]' \
	"cells on one and two nodes"
like "$(cat good/controller/logs/3/1/rank-1.log)" "^rank 1 of 2" "a gang is one job"
is "$(stat -c %s good/controller/logs/1/1/rank-0.log)" 3000012 \
	"every byte of the output is here"
like "$err" "job 2 .*exited with code 7" "an exit code is told"
is "$(find good -name create.json -perm /077)" "" "the token is its owner's alone"
nothing "after a sweep"

# Its pod is deleted while it runs.
cat >slow.yaml <<END
sweep: slow
vendor: cpu
image: lab/train:1
devices: 1
command: [/bin/sh, -c, "trap 'echo told; exit 3' TERM; echo begun; while [ ! -e $BED/go ]; do sleep 0.1; done"]
END
spawn slow regatta k8s slow.yaml --state slow
must wait_for 'log_of slow | finds "job 1 .*running"' 60
must kill "$(cat "$FAKE_CLUSTER"/pods/*-1-1-*/agent.pid)"
must wait_for 'log_of slow | finds "attempt 2"' 60
like "$(log_of slow)" "preempted" "a deleted pod is no failure of the job"
is "$(tail -1 slow/controller/logs/1/1/rank-0.log)" told \
	"its last words are kept"
must wait_for 'log_of slow | finds "job 1 .*running.*-1-2-"' 60
# Guest and controller are killed, and the next ones go on.
must pkill -9 -f "regatta-controller .*$BED/slow/"
must pkill -9 -f "k8s --serve [0-9]+ --state $BED/slow"
touch go
must wait_for '! alive slow' 60
is "$(code_of slow) $(states slow)" '0 ["completed"]' \
	"the next attempt, guest and controller complete it"
nothing "after a kill"

# The command itself is killed, and continued.
rm go
spawn killed regatta k8s slow.yaml --state killed
must wait_for 'log_of killed | finds "job 1 .*running"' 60
end killed KILL
nothing "after kill -9 of the command"
touch go
run regatta run --resume killed
like "$rc $err" "^2 .*regatta k8s --resume" "another command does not continue it"
run regatta k8s --resume "$BED/cluster"
is "$rc" 2 "nor is another folder one of a run"
run -t 60 regatta k8s --resume killed
is "$rc $(states killed)" '0 ["completed"]' "--resume runs what is missing"
nothing "after the rest"

# Cancelled.
rm go
spawn cut regatta k8s slow.yaml --state cut
must wait_for 'log_of cut | finds "job 1 .*running"' 60
end cut INT
is "$(code_of cut)" 130 "Ctrl-C ends it"
nothing "after Ctrl-C"

done_testing
