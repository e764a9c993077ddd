#!/bin/bash
# k8s.t - regatta k8s in a namespace of a real Kubernetes, and nothing left.
: "${TEST_LIMIT:=1500}"
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
need jq dockerd nsenter docker-registry socat "$REGATTA_BUILD"/{regatta,regatta-agent,lab/tool}
# shellcheck source=tests/lab/kube.sh
. "$ROOT/tests/lab/kube.sh"
[[ -x $KUBE/bin/kubelet && -x $KUBE/up.sh ]] ||
	skip_all "no Kubernetes at $KUBE (recipes/kube/build.sh makes one)"
must kube_up
cd "$BED" || exit 1
mkdir images
cp -r "$REGATTA_BUILD"/images/{models.yaml,kubernetes.yaml,frameworks,vendors} images
chmod -R u+w images
echo 'kubernetes: {resource: example.com/gpu}' >>images/vendors/cpu/profile.yaml
mkdir images/vendors/invented
cat >images/vendors/invented/profile.yaml <<'END'
vendor: invented
title: a vendor that is none
source: a test
kubernetes: {resource: example.com/gpu}
monitor:
  command: [invented-smi]
  timeout: 5s
  layouts:
    - name: lines
      read: lines
      when: '^card'
      device: ['card (?<device>\d+) (?<power_w>\d+ W)']
END
echo 'tools: [{name: invented, command: [invented-stack, "${pid}"], inside: true}]' >images/stacks.yaml
must kube_regatta images
# shellcheck disable=SC2016 # dollars of the hash
user=reader secret=s3cret-word
echo "$user:"'$2b$04$1esNX4PYwhBP8FOf9Fogi.1xd88JKvqxYEN1av.mYytX.xN7fgVDa' \
	>"$BED/htpasswd"
for node in n1 n2; do
	REGISTRY_MORE="auth: {htpasswd: {realm: regatta, path: $BED/htpasswd}}" \
		must registry_up "$node" "k$node" 127.0.0.1:5000
done
# What schedulers of gangs add to a cluster.
must kube apply -f - >&2 <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: podgroups.scheduling.x-k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, a test"}
spec:
  group: scheduling.x-k8s.io
  scope: Namespaced
  names: {kind: PodGroup, plural: podgroups, singular: podgroup}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
END
must kube_user bench
export KUBECONFIG=$BED/bench.config PATH=$REGATTA_BUILD:$PATH
common=(--images images --image local/regatta:1 --host-network)

states() { # FOLDER
	jq -c '[.rows[].state]' "$1/report.json"
}
left() { # NAMESPACE
	kube get jobs,pods,secrets -n "$1" -l regatta/run -o name
}
nothing() { # WHEN [NAMESPACE]
	ok "wait_for '[[ ! \$(left ${2:-bench}) ]]' 60" \
		"$1 no Job, Secret or pod is left" || left "${2:-bench}"
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

# From the creation of a pod to its first line: both clocks are the machine's.
mkdir bin
cat >bin/kubectl <<END
#!/bin/bash
[[ "\$*" != *create*" -f"* ]] || cat /proc/uptime >>$BED/created
exec $KUBE/bin/kubectl "\$@"
END
chmod 755 bin/kubectl
took() { # FILE: the least time in ms between a creation and the line of it
	paste "$1" "$2" | awk '{ d = 1000 * ($3 - $1); if (NR == 1 || d < m) m = d }
		END { printf "%d", m }'
}
for i in 1 2 3 4 5; do
	PATH=$BED/bin:$PATH must kube_bare bare$i local/busybox:1 cat /proc/uptime
done
mv created bare.created
kube logs -n bench -l bare=yes --tail=-1 | sort -n >bare.lines
sweep step 'cat /proc/uptime # ${n}' "matrix: {n: [1, 2, 3, 4, 5]}"
PATH=$BED/bin:$PATH run -t 300 inside regatta k8s step.yaml --state step "${common[@]}"
sed 1d created >step.created # the first one is the Job that owns all
cat step/controller/logs/*/1/rank-0.log | sort -n >step.lines
bare=$(took bare.created bare.lines) step=$(took step.created step.lines)
echo "# first line after create: $bare ms of a bare pod, $step ms of a sweep's"
# On a busy machine each container takes a second, and a sweep's pod has two.
ok '((step > 0 && step - bare < 1000)) || awk "{ exit \$1 < 2 }" /proc/loadavg' \
	"on an idle machine, a pod starts less than 1 s later than a bare one"
kube delete jobs -n bench -l bare=yes >&2

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
inside regatta k8s good.yaml --print "${common[@]}" >printed
ok 'kube create -n bench --dry-run=server --validate=true -f printed >&2' \
	"the API server knows each member of the manifests"

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

# The deadline of a job is that of the sweep.
sweep limit 'trap "echo told; exit 3" TERM; echo begun; while :; do sleep 0.2; done' \
	"timeout: 5s"
run -t 120 inside regatta k8s limit.yaml --state limit "${common[@]}"
like "$rc $err" "^1 .*timeout" "a deadline is told"
is "$(sed -n '1p;$p' limit/controller/logs/1/1/rank-0.log)" $'begun\ntold' \
	"and the output is collected"
nothing "after a deadline"

# A Secret that the pod mounts comes late.
sweep late 'cat /late/word'
cat >late-site.yaml <<'END'
spec:
  volumes: [{name: late, secret: {secretName: late}}]
  containers: [{name: main, volumeMounts: [{name: late, mountPath: /late}]}]
END
spawn -n kctl late regatta k8s late.yaml --state late --site late-site.yaml "${common[@]}"
ok 'wait_for "detail late | finds \"MountVolume.SetUp failed\"" 60' \
	"a volume that is not there yet is told"
must kube create secret generic late -n bench --from-literal=word=came >&2
must wait_for '! alive late' 200
is "$(code_of late) $(states late)$(cat late/controller/logs/1/1/rank-0.log)" \
	'0 ["completed"]came' "and is no failure"
nothing "after it"

# The tools of the image run where its devices are.
mkdir -p tools/{bin,tmp,etc}
cp "$KUBE/img/busybox" tools/bin
for word in sh cat echo sleep; do ln -sf busybox tools/bin/$word; done
printf '#!/bin/sh\necho card 0 300 W\n' >tools/bin/invented-smi
cat >tools/bin/invented-stack <<'END'
#!/bin/sh
echo "Process $1: python train.py"
echo 'Thread 0x7F0000000001 (active): "MainThread"'
echo '    wait_for_batch (train.py:7)'
END
chmod 755 tools/bin/invented-*
must kube_image local/tools:1 tools
sweep hang 'echo begun; sleep 1000' "hang: 5s"
sed -i 's,local/busybox,local/tools,; s,vendor: cpu,vendor: invented,' hang.yaml
run -t 120 inside regatta k8s hang.yaml --state hang "${common[@]}"
like "$rc $err" "failed, hang" "a hang is told"
ok 'grep -rqs wait_for_batch hang/controller/logs/1/1' \
	"with the stacks by a tool of the image"
ok 'grep -qs 300 hang/controller/logs/1/1/samples-0.log' \
	"and the power by the vendor's tool in it"
nothing "after a hang"

# An image of a registry that wants a password.
for node in n1 n2; do
	on() { nsenter -m -n -t "$(cat "$KUBE/$node/init.pid")" docker \
		-H unix:///run/docker.sock "$@" >&2; }
	login_file config.json 127.0.0.1:5000 "$secret"
	must on tag local/busybox:1 127.0.0.1:5000/own/busybox:1
	must on --config "$BED" push 127.0.0.1:5000/own/busybox:1
	must on rmi 127.0.0.1:5000/own/busybox:1
done
sweep private 'echo begun'
sed -i 's,local/busybox,127.0.0.1:5000/own/busybox,' private.yaml
spawn -n kctl refused regatta k8s private.yaml --state refused "${common[@]}"
ok 'wait_for "detail refused | finds \"no basic auth\"" 60' \
	"a registry's refusal is told"
end refused INT
must kube create secret docker-registry lab-registry -n bench \
	--docker-server=127.0.0.1:5000 --docker-username="$user" \
	--docker-password="$secret" >&2
echo 'spec: {imagePullSecrets: [{name: lab-registry}]}' >site.yaml
run -t 120 inside regatta k8s private.yaml --state private --site site.yaml \
	"${common[@]}"
is "$rc $(states private)" '0 ["completed"]' "a Secret of --site lets it in"
nothing "after a private image"

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
must kube create role plan -n bench --verb=create --resource=pods >&2
must kube create role quotas -n bench --verb=list --resource=resourcequotas >&2
must kube create clusterrole plan --verb=list --resource=nodes >&2
for role in --role=plan --role=quotas; do
	must kube create rolebinding "${role#*=}" -n bench "$role" \
		--serviceaccount=bench:guest >&2
done
must kube create clusterrolebinding plan --clusterrole=plan \
	--serviceaccount=bench:guest >&2
run inside regatta k8s quota.yaml --plan "${common[@]}"
like "$rc $(cat out)" '^1 .*exceeded quota: q' "--plan tells it beforehand"
kube delete quota q -n bench >&2
end quota INT
kube create quota q -n bench --hard=pods=1 >&2
run inside regatta k8s good.yaml --plan "${common[@]}"
like "$rc $(cat out)" '^1 .*nodes: 1: accepted; 2 of 2 .*nodes: 2: quota q' \
	"also that a gang has no room"
kube delete quota q -n bench >&2
nothing "after a refusal"
sweep wide 'true' "include: [{devices: 16}]"
spawn -n kctl wide regatta k8s wide.yaml --state wide "${common[@]}"
ok 'wait_for "detail wide | finds \"Insufficient example.com/gpu\"" 60' \
	"a pending pod tells the scheduler's words"
end wide INT
run inside regatta k8s wide.yaml --plan "${common[@]}"
like "$rc $(cat out)" '^1 .*could run it: n[12] has 8 example.com/gpu of 16' \
	"--plan tells that no node has the devices"

# A gang is a PodGroup, if its objects may be created.
must kube create role groups -n bench --verb=create \
	--resource=podgroups.scheduling.x-k8s.io >&2
must kube create rolebinding groups -n bench --role=groups \
	--serviceaccount=bench:guest >&2
sweep gang 'sleep 5' "nodes: 2"
begin gang
is "$(kube get podgroups -n bench -o 'jsonpath={.items[0].spec.minMember}')" 2 \
	"a gang has its PodGroup"
must wait_for '! alive gang' 60
ok 'wait_for "[[ ! \$(kube get podgroups -n bench -o name) ]]" 60' "and none is left"

# Two users in two namespaces.
must kube_user other
spawn -n kctl first regatta k8s slow.yaml --state first "${common[@]}"
KUBECONFIG=$BED/other.config run -t 120 inside regatta k8s slow.yaml \
	--state second "${common[@]}"
is "$rc $(states second)" '0 ["completed"]' "another namespace has its own run"
must wait_for '! alive first' 120
is "$(code_of first) $(states first)" '0 ["completed"]' "beside the first"
nothing "in the other" other
nothing "after both"

# The controller is in the cluster, with its folder on a volume.
mkdir -p "$BED/volume"
must kube apply -f - >&2 <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: state}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  claimRef: {namespace: bench, name: state}
  hostPath: {path: $BED/volume}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: state, namespace: bench}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: state
  resources: {requests: {storage: 1Gi}}
END
cp slow.yaml sweep.yaml
must kube create configmap sweep -n bench --from-file sweep.yaml >&2
kube_page "The controller in" | sed 's/image: lab/image: local/
	s/\(--image, \)lab\(.*\)]/\1local\2, --host-network]/
	s/^      restartPolicy/      hostNetwork: true\n&/' >job.yaml
must kube create -f job.yaml >&2
at_job() {
	kube exec -n bench job/sweep -- regatta "$1" --state /state/run "${@:2}"
}
must wait_for 'at_job jobs 2>/dev/null | finds "running"' 90
ok 'wait_for "at_job logs 1 2>/dev/null | finds begun" 20' \
	"regatta logs reads the folder of a controller in the cluster"
page=$(kube logs -n bench job/sweep | grep -o 'http://127.0.0.1:.*')
port=${page#http://*:} port=${port%%/*}
spawn -n kctl forward kubectl --kubeconfig "$KUBE/c/kubeconfig" port-forward -n bench job/sweep "$port"
ok 'wait_for "inside curl -sfL -c cookies -b cookies -o page \"$page\"" 20' \
	"its live pages come through kubectl port-forward"
ok 'grep -qs slow page' "with the sweep"
end forward INT
must wait_for 'kube get job sweep -n bench -o "jsonpath={.status.succeeded}" | finds 1' 120
like "$(kube logs -n bench job/sweep | tail -20)" "1 of 1 jobs? completed" \
	"its log ends with the result"
like "$(inside regatta report --state "$BED/volume/run" --format csv)" completed \
	"and the folder stays on the volume"
kube delete job sweep -n bench >&2
nothing "after a controller in the cluster"

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
