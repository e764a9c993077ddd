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
labels: zone=a # the cluster chooses nodes by it
command: [/bin/sh, -c, "echo rank \$NODE_RANK of \$NNODES; head -c 3000000 /dev/zero | tr '\\\\0' x; exit \${code}"]
matrix: {nodes: [1, 2], code: [0, 7]}
END
run regatta k8s --print good.yaml
is "$rc $(jq -s 'length' out)" "0 4" "what would be created is printed"
is "$(jq -rs '.[2].items[-1].spec.parallelism' out)" 2 "a pod for each node of a gang"
sed 's/vendor: cpu/vendor: zixiao/' good.yaml >unknown.yaml
run regatta k8s --print unknown.yaml
like "$rc $err" '^0 zixiao: .*no device plugin.*--site' \
	"a vendor without a public device plugin is told"
run regatta k8s nowhere.yaml
is "$rc" 2 "a sweep that is not there is a wrong request"

echo "create secrets" >"$FAKE_CLUSTER/denied"
run regatta k8s good.yaml --state denied
like "$rc $err" "^[12] .*create secrets" "a missing right is named beforehand"
is "$(grep -c create "$FAKE_CLUSTER/log")$(ls "$FAKE_CLUSTER/jobs")" 2 \
	"and nothing is created"
rm "$FAKE_CLUSTER/denied"

# What a cluster would say, before anything is created.
node() { # NAME GPUS [SPEC]
	echo "{\"metadata\": {\"name\": \"$1\", \"labels\": {\"zone\": \"a\"}}, \"spec\": ${3:-{\}}, \"status\": {\"allocatable\": {\"nvidia.com/gpu\": \"$2\", \"memory\": \"96Gi\"}}}"
}
nodes() { # NODE...
	jq -s '{items: .}' <<<"$*" >"$FAKE_CLUSTER/nodes.json"
}
cat >asked.yaml <<'END'
sweep: asked
vendor: nvidia
image: lab/train:1
devices: 8
memory: 64GiB
labels: zone=a
command: [/bin/true, "${n}"]
matrix: {nodes: [1, 2], n: [1, 2]}
END
asked() { # WANT WHAT
	run regatta k8s --plan asked.yaml
	like "$rc $(cat out)" "$1" "$2"
}
asked '^0 job 1, nodes: 1: accepted; the nodes may not be read' \
	"without the right to read nodes, --plan says so"
is "$(wc -l <out)" 2 "cells with equal pods are asked about once"
nodes "$(node n1 8) $(node n2 4)"
asked '^0 .*accepted; 1 of 2 nodes could run it' "a node that is too small does not count"
nodes "$(node n1 4)"
asked '^1 .*no node could run it: n1 has 4 nvidia.com/gpu of 8' "no node has the devices"
nodes "$(node n1 8 '{"taints": [{"key": "k", "effect": "NoSchedule"}]}')"
asked '^1 .*n1 has the taint k:NoSchedule' "a taint keeps it away"
cat >site.yaml <<'END'
metadata: {labels: {team: x}}
spec:
  tolerations: [{key: k, operator: Exists}]
  volumes: [{name: data}]
  containers:
  - name: main
    volumeMounts: [{name: data, mountPath: /a}, {name: data, mountPath: /b}]
END
run regatta k8s --print asked.yaml --site site.yaml
is "$(jq -sc '.[0].items[-1].spec.template | [.metadata.labels.team, (.spec.containers | length),
	(.spec.containers[] | select(.name == "main") | .image, (.volumeMounts | length)), (.spec.volumes | length)]' out)" \
	'["x",2,"lab/train:1",6,6]' "what is there stays beside what --site adds"
run regatta k8s --plan asked.yaml --site site.yaml
like "$rc $(cat out)" '^0 .*1 of 1 nodes' "a toleration of --site lets it in"
nodes "$(node n1 8)"
sed 's/zone=a/zone=b/' asked.yaml >other.yaml
run regatta k8s --plan other.yaml
like "$rc $(cat out)" '^1 .*n1 has not the label zone=b' "nor has it the label"
echo '{"items": [{"metadata": {"name": "q"}, "status": {"hard": {"requests.nvidia.com/gpu": "12"}, "used": {"requests.nvidia.com/gpu": "2"}}}]}' \
	>"$FAKE_CLUSTER/resourcequotas.json"
asked 'nodes: 1: accepted.*nodes: 2: quota q: requests.nvidia.com/gpu: 16 more than the 2 used, of 12' \
	"a quota has room for one pod and not for two"
echo 'pods "x" is forbidden: violates PodSecurity' >"$FAKE_CLUSTER/pod-refused"
asked '^1 .*violates PodSecurity' "what the API server refuses is told"
echo "create pods" >"$FAKE_CLUSTER/denied"
asked 'nodes: 1: not tried, as you may not create pods; 1 of 1 nodes' \
	"without the right to create pods, --plan says so"
is "$(left)" "" "nothing is created for it"
rm "$FAKE_CLUSTER"/{denied,pod-refused,nodes.json,resourcequotas.json}

# What a cluster has beside the usual.
run regatta k8s good.yaml --queue team
like "$rc $err" "^[123] .*no Kueue" "a queue needs Kueue"
printf '%s\n' kueue.x-k8s.io scheduling.x-k8s.io/v1alpha1 >"$FAKE_CLUSTER/apis"

run -t 120 regatta k8s good.yaml --state good --queue team
is "$(sort -u "$FAKE_CLUSTER/groups" | wc -l)" 2 \
	"a gang has a PodGroup where the cluster has them"
is "$(jq -r '.metadata.labels["kueue.x-k8s.io/queue-name"]' "$FAKE_CLUSTER/last")" \
	team "a Job names its queue"
rm "$FAKE_CLUSTER/apis"
is "$rc $(states good)" '1 ["completed","failed","completed","failed"]' \
	"cells on one and two nodes"
like "$(cat good/controller/logs/3/1/rank-1.log)" "^rank 1 of 2" "a gang is one job"
is "$(stat -c %s good/controller/logs/1/1/rank-0.log)" 3000012 \
	"every byte of the output is here"
like "$err" "job 2 .*exited with code 7" "an exit code is told"
is "$(grep -rlE '"token": *"[^$]' good --include='*.json')" "" "no token is on the disk"
nothing "after a sweep"

# For a moment the API server forbids what it allows; then a volume comes late.
sed "s/sweep: good/sweep: late/; s/nodes: \[1, 2\], code: \[0, 7\]/code: [0]/" good.yaml >late.yaml
event() { # MEMBER TIME MESSAGE
	echo "{\"$1\": \"2026-01-01T00:00:$2Z\", \"message\": \"$3\", \"involvedObject\": {\"name\": \"JOB-x2k9z\"}}"
}
jq -s '{items: .}' >"$FAKE_CLUSTER/events.json" <<<"
	$(event lastTimestamp 07 'MountVolume.SetUp failed for volume x: secret y not found')
	$(event lastTimestamp 08 'Error: ErrImagePull')
	$(event eventTime 05.123456 '0/2 nodes are available')"
touch "$FAKE_CLUSTER"/{forbidden,held}
spawn late regatta k8s late.yaml --state late
ok 'wait_for "grep -qs Forbidden late/k8s.log" 20' "a forbidden call is told"
ok 'wait_for "regatta jobs --state late 2>/dev/null | finds \"MountVolume.SetUp failed\"" 30' \
	"and made again; the last warning about a pod that waits is the job's detail"
rm "$FAKE_CLUSTER"/{held,events.json}
must wait_for '! alive late' 60
is "$(code_of late) $(states late)" '0 ["completed"]' "and the job fails by neither"
ok '! grep -E -- " (-w|--watch)( |$)" "$FAKE_CLUSTER/log"' \
	"no watch is relied on, which ends with 0 when the API server dies"
nothing "after that"

# Its time is over: the command is stopped by Regatta, and its output collected.
cat >limit.yaml <<'END'
sweep: limit
vendor: cpu
image: lab/train:1
devices: 1
timeout: 2s
command: [/bin/sh, -c, "trap 'echo told; exit 3' TERM; echo begun; while :; do sleep 0.1; done"]
END
run -t 60 regatta k8s limit.yaml --state limit
like "$rc $err" "^1 .*timeout" "a deadline is Regatta's own"
is "$(sed -n '1p;$p' limit/controller/logs/1/1/rank-0.log)" $'begun\ntold' \
	"all output is collected"
echo 'spec: {activeDeadlineSeconds: 60}' >site.yaml
run regatta k8s limit.yaml --print --site site.yaml
like "$rc $err" "^2 .*activeDeadlineSeconds.*timeout" \
	"that of Kubernetes is refused, as it would delete output"
cp -r "$REGATTA_IMAGES" empty
echo 'apis: {}' >empty/kubernetes.yaml
run regatta k8s limit.yaml --print --images empty
like "$rc $err" "^2 .*kubernetes.yaml: expected attempt: a List with a Job" \
	"objects without a Job are refused"

# Its pod is deleted while it runs. Only the main container has the vendor's
# tool and the tool for stacks.
cp -r "$REGATTA_IMAGES" images
mkdir -p images/vendors/invented "$FAKE_CLUSTER/tools"
cat >images/vendors/invented/profile.yaml <<'END'
vendor: invented
title: a vendor that is none
source: a test
monitor:
  command: [invented-smi]
  timeout: 5s
  env: {INVENTED: "300"}
  layouts:
    - name: lines
      read: lines
      when: '^card'
      device: ['card (?<device>\d+) (?<power_w>\d+ W)']
END
echo 'tools: [{name: invented, command: [invented-stack, "${pid}"], inside: true}]' >images/stacks.yaml
printf '#!/bin/sh\necho card 0 $INVENTED W\n' >"$FAKE_CLUSTER/tools/invented-smi"
cat >"$FAKE_CLUSTER/tools/invented-stack" <<'END'
#!/bin/sh
echo "Process $1: python train.py"
echo 'Thread 0x7F0000000001 (active): "MainThread"'
echo '    wait_for_batch (train.py:7)'
END
chmod 755 "$FAKE_CLUSTER"/tools/*
export REGATTA_IMAGES=$BED/images
cat >slow.yaml <<END
sweep: slow
vendor: invented
image: lab/train:1
devices: 1
command: [/bin/sh, -c, "trap 'echo told; exit 3' TERM; echo begun; while [ ! -e $BED/go ]; do sleep 0.1; done"]
END
spawn slow regatta k8s slow.yaml --state slow
must wait_for 'log_of slow | finds "job 1 .*running"' 60
ok 'wait_for "grep -qs -- 300 slow/controller/logs/1/1/samples-0.log" 20' \
	"the vendor's tool runs in the main container"
run regatta stacks --state slow 1
like "$(cat out)" "wait_for_batch" "so does a tool for stacks"
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
