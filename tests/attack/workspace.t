#!/bin/bash
# workspace.t - hostile tar files in place of packed trees: an operator submits a
# sweep that says they are its workspaces. A node unpacks none of them but as
# files, folders and links, and never more bytes than were sent. The counts are printed.
TEST_LIMIT=600
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need python3 "$REGATTA_BUILD/lab/peer"
mkdir -p "$BED/tars" "$BED/outside"
must python3 "$(dirname "$0")/hostile_tars.py" "$BED/tars" "$BED/outside"
names=()
for tar in "$BED"/tars/*.tar; do
	# A million files would be the engine's work, of minutes.
	[[ $tar == */many.tar ]] || names+=("$(basename "$tar" .tar)")
done
must cluster_up 1
agent=$(pid_of cluster/agent1)

# The controller has the tars, as if they had been sent; a peer submits the sweep.
must python3 - "$BED" "$CLUSTER/controller/content/loose" "${names[@]}" <<'END'
import hashlib, json, os, shutil, sys
bed, loose, names = sys.argv[1], sys.argv[2], sys.argv[3:]
def store(name):
    path, digest = f"{bed}/tars/{name}.tar", hashlib.sha256()
    with open(path, "rb") as tar:
        while data := tar.read(1 << 20):
            digest.update(data)
    shutil.copy(path, f"{loose}/new")
    os.rename(f"{loose}/new", f"{loose}/{digest.hexdigest()}")
    return digest.hexdigest()
json.dump({"type": "submit", "request": 1, "file": "hostile.yaml",
    "token": "hostile-workspaces", "resume": False, "workspaces": [
        {"path": "./" + name, "content": store(name)} for name in names]},
    open(bed + "/submit", "w"))
END
{
	printf '%s\n' "sweep: workspaces" "image: $TOOL_IMAGE" "retries: 0" \
		"command: [/tool, print, '1']" "matrix:" "  tree:"
	printf '    - {workspace: ./%s}\n' "${names[@]}"
} >"$BED/hostile.yaml"
run "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" "$CLUSTER/controller.key" \
	"$CLUSTER/operator.key" 1 '{"type":"hello","version":3,"software":"peer"}' \
	"+$(<"$BED/submit")" "$(<"$BED/hostile.yaml")"
SWEEP=$(cli sweeps --format json |
	jq -r '.sweeps[] | select(.name == "workspaces").id')
ok '[[ -n $SWEEP ]]' "the sweep is taken"
must wait_sweep "$SWEEP" 120
is "$(jobs_get "$SWEEP" length)" "${#names[@]}" "each is a job"

jobs_get "$SWEEP" '.[] | [.job, .state, .failure, .text] | @tsv' >"$BED/jobs"
sed "s/^/# /" "$BED/jobs"
# row NAME: what became of that job
row()
{
	sed -n "$(printf '%s\n' "${names[@]}" | grep -nx "$1" | cut -d: -f1)p" \
		"$BED/jobs"
}
for name in absolute dots up hard-out hard-up hard-to-link hard-to-itself device \
	disk pipe sparse hole claims negative cut noise packed long-header; do
	like "$(row "$name")" $'\tfailed\tcreate\t.*workspace: ' "$name: refused in words"
done
# Below the folder; without what the tar file says of capabilities.
for name in setuid rights; do
	like "$(row "$name")" $'\tcompleted\t' "$name: harmless"
done
is "$(grep -c "(null)" "$BED/jobs")" 0 "there is a reason for each"
is "$(pid_of cluster/agent1)" "$agent" "the agent lives"
ok 'alive cluster/agent1 && alive cluster/controller' "so does the controller"
is "$(ls -A "$BED/outside")" "" "nothing is written outside"
diag "${#names[@]} workspaces, $(grep -c "failed" "$BED/jobs") refused, none got through"
ok 'wait_for cluster_clean 30' "nothing is left on the node"
done_testing
