#!/bin/bash
# flagperf-images.t - images are built from a FlagPerf tree as its image manager
# builds them: a Dockerfile, and a script in a container of that.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
need_root
cluster_need
machine=$BED/machine
must "$ROOT/tests/lab/machine" "$machine" kunlunxin 2
AGENT_ARGS=(--device-root "$machine/dev" --sysfs-root "$machine/sys"
	--proc-root "$machine/proc" --file-root "$machine/files"
	--tools "$machine/bin")
must cluster_up 2 hosts

# A base image as FlagPerf's tree names it.
image=$BED/image
must python_copy "$image" /usr/bin/{cat,sleep,ls}
ln -s bash "$image/bin/sh"
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must dk "$(node_engine 1)" import "$BED/image.tar" \
	klx-flagperf-mcore060:latest >/dev/null
for engine in $(cluster_engines); do
	must copy_image "$(node_engine 1)" "$engine" klx-flagperf-mcore060:latest
done

tree=$BED/FlagPerf
training=$tree/training
folder=$training/kunlunxin/docker_image
# framework NAME DOCKERFILE SCRIPT
framework()
{
	mkdir -p "$folder/$1"
	printf '%s\n' "$2" >"$folder/$1/Dockerfile"
	printf '%s\n' "$3" >"$folder/$1/${1}_install.sh"
}
# shellcheck disable=SC2016 # for the script
framework pytorch_1.13 'From klx-flagperf-mcore060:latest
RUN echo one >/from-dockerfile' \
	'echo "now installing"; cat /workspace/docker_image/part >/installed
(cd /dev && ls xpu*) >>/installed
while [ ! -e /workspace/docker_image/go ]; do sleep 0.1; done'
echo "a part" >"$folder/pytorch_1.13/part"
framework pytorch_bad 'FROM klx-flagperf-mcore060:latest' \
	'echo "no such wheel"; exit 3'
framework pytorch_none 'ARG NAME=zhiyuan_flagscale_llama:newest
FROM ${NAME}' ''
mkdir -p "$training/benchmarks/m/pytorch" "$training/run_benchmarks" \
	"$training/kunlunxin/m-pytorch/"{config,extern}
touch "$training/run_benchmarks/prepare_in_container.py" \
	"$training/kunlunxin/m-pytorch/config/config_Xx"{1,2}x2.py
cat >"$training/benchmarks/m/pytorch/run_pretraining.py" <<'END'
print(open("/from-dockerfile").read() + open("/installed").read())
for step in range(1, 30):
    print('[PerfLog] {"event": "STEP_END", "value": {"global_steps": %d, '
          '"loss": 2.0, "seq/s": 10.0}, "metadata": {"rank": 0}}' % step)
END
# sweep NAME CASE
sweep()
{
	cat >"$BED/$1.yaml" <<END
sweep: $1
vendor: kunlunxin
timeout: 2m
shm: 64M
ulimits: {memlock: 65536, stack: 8388608}
flagperf:
  tree: $tree
  cases: {"$2": $BED}
END
}
name=flagperf-kunlunxin-pytorch_1.13:t_v0.1
# scripts HOST: containers in which one runs; not those of the Dockerfile
scripts()
{
	dk "$1" ps -q --filter label=regatta.install
}
# leftovers HOST: what a build must not leave behind
leftovers()
{
	dk "$1" ps -aq
	dk "$1" images -q regatta-build
}

# ---- before a job ----------------------------------------------------------

sweep two m:pytorch_1.13:X:2:2:1
run regatta plan "$BED/two.yaml" --format json
is "$(jq -r '.kept[] | "\(.image) \(.build)"' <<<"$out")" \
	"$name $folder/pytorch_1.13" "the plan tells from which folder"
spawn -n "$(switch_netns)" pull regatta image pull "$BED/two.yaml"
ok "wait_for '[[ \$(scripts host1) && \$(scripts host2) ]]' 15" \
	"the script runs on each node, in a container"
is "$(dk host2 inspect "$(scripts host2)" | jq -c '.[0].HostConfig |
	[.Privileged, .CapAdd, .CapDrop, ([.Devices[].PathInContainer] | sort)]')" \
	'[false,null,null,["/dev/xpu0","/dev/xpu1","/dev/xpuctrl"]]' \
	"not privileged, with the device nodes of the profile"
before=$(scripts host2)
agent_kill 2
must agent_up 2
ok "wait_for '[[ \$(dk host2 ps -aq) != *$before* && \$(scripts host2) ]]' 15" \
	"an agent that died leaves none behind, and begins again"
touch "$folder/pytorch_1.13/go"
is "$(code_of pull)" 0 "both nodes have the image"
like "$(log_of pull)" "now installing" "what the script printed was shown"
for host in host1 host2; do
	is "$(dk $host image inspect "$name" | jq -c '.[0].Config | [.Cmd, .Entrypoint]')" \
		'[["sleep","infinity"],null]' "$host: it is called as FlagPerf calls it"
	is "$(leftovers $host)" "" "$host: nothing else is left"
done
rm "$folder/pytorch_1.13/go"
run cli image pull "$BED/two.yaml"
is $rc 0 "an image that is there is not built again: $err"

# ---- by a job --------------------------------------------------------------

must submit "$BED/two.yaml"
must wait_sweep "$SWEEP" 60
is "$(job_get "$JOB" '"\(.state) \(.text)"')" "completed null" "a case runs in it"
run cli logs "$JOB" --rank 0
is "$(head -4 <<<"$out")" "one
a part
xpu0
xpu1" "which has what the Dockerfile made, and the script, which saw the devices"
must cli image remove "$name"
must submit "$BED/two.yaml"
must wait_for '[[ $(scripts host1) && $(scripts host2) ]]' 60
ok 'wait_for "cli logs \$JOB --stream build-0 | grep \"now installing\"" 10' "a job builds it; its output is a stream of the job"
touch "$folder/pytorch_1.13/go"
must wait_sweep "$SWEEP" 60
is "$(job_get "$JOB" .state)" completed "and runs then"

sweep bad m:pytorch_bad:X:1:2:1
must submit "$BED/bad.yaml"
must wait_sweep "$SWEEP" 60
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	'image .*pytorch_bad_install.sh exited with code 3; its output: .*no such wheel' \
	"a script that fails fails the job, with its last words"
sweep none m:pytorch_none:X:1:2:1
must submit "$BED/none.yaml"
must wait_sweep "$SWEEP" 60
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"image .*build of $folder/pytorch_none: no base image zhiyuan_flagscale_llama:newest" \
	"a base image that is not to be had is named"
sweep lost m:pytorch_lost:X:1:2:1
run regatta plan "$BED/lost.yaml"
like "$out" "IMAGE THAT NODES MUST HAVE .*pytorch_lost:t_v0.1 +$folder/pytorch_lost/Dockerfile" \
	"plan names an image that cannot be built"
must submit "$BED/lost.yaml"
must wait_sweep "$SWEEP" 60
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"image .*t_v0.1 is not on this node, and there is no $folder/pytorch_lost/Dockerfile" \
	"so is a folder that the tree has not"
is "$(leftovers host1)$(leftovers host2)" "" "nothing is left of them"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
