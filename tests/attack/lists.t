#!/bin/bash
# lists.t - images by which lists of the engine would be too large, and labels as
# Regatta gives them to its own containers.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need python3
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--vendor cpu --devices 8)
must cluster_up 1

# labelled NAME LABEL BYTES [LABEL VALUE]...: the tool's image with such labels,
# and with a command of so many bytes
labelled()
{
	dk e1 save "$TOOL_IMAGE" | python3 -c '
import hashlib, io, json, sys, tarfile
name, label, size, *more = sys.argv[1:]
image = tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read()))
manifest = json.load(image.extractfile("manifest.json"))[0]
config = json.load(image.extractfile(manifest["Config"]))
config["config"] = config.get("config") or {}
config["config"]["Cmd"] = ["x" * int(size)]
config["config"]["Labels"] = dict(zip(more[::2], more[1::2]), **{label: "x" * int(size)})
text = json.dumps(config).encode()
manifest.update(Config=hashlib.sha256(text).hexdigest() + ".json", RepoTags=[name])
files = {manifest["Config"]: text, "manifest.json": json.dumps([manifest]).encode()}
files.update((layer, image.extractfile(layer).read()) for layer in manifest["Layers"])
out = tarfile.open(fileobj=sys.stdout.buffer, mode="w|")
for path, data in files.items():
    info = tarfile.TarInfo(path)
    info.size = len(data)
    out.addfile(info, io.BytesIO(data))
out.close()' "$@" | dk e1 load >/dev/null
}

# ---- large ones: tests/unit/list_sieve_test.c has volumes and ports --------

jobs=()
for i in 1 2 3 4 5; do
	must labelled "evil/large:$i" note 4000000 number "$i"
	cat >"$BED/large$i.yaml" <<-YAML
		sweep: large$i
		image: evil/large:$i
		shared: true
		devices: 1
		command: [/tool, wait, /regatta/out/end]
	YAML
	must submit "$BED/large$i.yaml"
	must wait_job "$JOB" running 60
	jobs+=("$JOB")
done
for i in 1 2 3 4 5; do
	must dk e1 create "evil/large:$i" >/dev/null
done
run cli image list
ok '((rc == 0)) && [[ $out == *evil/large* && $out == *regatta-test/tool* ]]' \
	"five images with labels and commands of 4 MB are in the list"
must agent_stop 1
must agent_up 1
ok 'wait_for "((\$(log_of cluster/agent1 | grep -c adopted) == 5))" 20' \
	"an agent that starts again finds their containers"
for job in "${jobs[@]}"; do
	touch "$CLUSTER/n1/spool/$job.1.0/out/end"
	must wait_job "$job" completed 60
done

# ---- those of others -----------------------------------------------------

must labelled evil/ours:1 note 1 regatta.cluster regatta regatta.node n1 \
	regatta.job 1 regatta.attempt 1 regatta.rank 0 regatta.install regatta/n1/old
for name in colleague other-1-1-0; do
	must dk e1 run -d --name "$name" --network none evil/ours:1 /tool \
		sleep 1000 >/dev/null
done
must agent_stop 1
must agent_up 1
must submit_tool after print 1000
must wait_job "$JOB" completed 60
sleep 1
is "$(dk e1 ps --format '{{.Names}}' | sort | paste -sd' ')" "colleague other-1-1-0" \
	"a container that has them from its image is left alone"
dk e1 rm -f colleague other-1-1-0 >/dev/null
done_testing
