#!/bin/bash
# stores.t - one image is one image, whether its engine is Podman, or Docker with
# a store of its own or containerd's, where it has another id.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need podman
version=$(dockerd --version | grep -oE '[0-9]+' | head -1)
if ((version < 24)); then
	# shellcheck source=tests/long/newer.sh
	. "$(dirname "$0")/../long/newer.sh"
	newer_there || skip_all "Docker is older than 24, and build/engines" \
		"has none: make check-long puts one there"
	must newer_up
	again system/stores
	done_testing
fi

CLUSTER_NODES=3
CONTAINERD_STORE='' engine_up e1 || die "no engine"
CONTAINERD_STORE=1 engine_up e2 || die "no engine with containerd's store"
TEST_ENGINE=podman engine_up e3 || die "no Podman"
must tool_image e1 "$TOOL_IMAGE"
must copy_image e1 e2 "$TOOL_IMAGE"
must copy_image e1 e3 "$TOOL_IMAGE"
must cluster_keys
must controller_up
for node in 1 2 3; do
	must agent_up "$node"
done
must nodes_up 3 20

# gang IMAGE NODES: a job on so many nodes
gang()
{
	cat >"$BED/gang.yaml" <<-END
		sweep: gang
		image: $1
		nodes: $2
		retries: 0
		command: [/tool, print, "10"]
	END
	submit "$BED/gang.yaml"
}

ok '[[ $(dk e1 image inspect --format "{{.Id}}" "$TOOL_IMAGE") != \
	$(dk e2 image inspect --format "{{.Id}}" "$TOOL_IMAGE") ]]' \
	"an image has an id of its own on each engine"
must gang "$TOOL_IMAGE" 3
ok 'wait_job $JOB completed 60' "a gang of all three runs in it" ||
	diag "$(job_get "$JOB" .text)"
must random_image e1 test/first:1 4
dk e1 save test/first:1 -o "$BED/first.tar"
dk e1 rmi test/first:1 >/dev/null
run cli image load "$BED/first.tar"
is "$rc $err" "0 test/first:1: on 3 of 3 nodes" "a file goes to all"
run cli image load "$BED/first.tar"
is "$rc" 0 "again it is there already: $err"
is "$(cli image list --format json |
	jq -r '.images[] | select(.name == "test/first:1") |
		"\(.origin) \(.nodes | join(" "))"')" "loaded n1 n2 n3" \
	"all know that Regatta brought it, and it is one image"
must gang test/first:1 3
ok 'wait_job $JOB completed 60' "a gang of all runs in that, too" ||
	diag "$(job_get "$JOB" .text)"
run cli plan "$BED/gang.yaml" --pin
like "$rc $err" "^2 .*test/first:1 is not known to be from a registry" \
	"and no digest is given to what cannot be pulled"
run cli image gc --keep 0
ok '! { dk e1 image inspect test/first:1 || dk e2 image inspect test/first:1 ||
	dk e3 image inspect test/first:1; } &>/dev/null' "all may remove it"

# loads: of e2, which has containerd's store
loads()
{
	dk e2 events --since 1 --until "$(date +%s)" --filter event=load |
		grep -c 'image load'
}
must random_image e1 test/bare:1 1
dk e1 save "$(dk e1 image inspect --format '{{.Id}}' test/bare:1)" \
	-o "$BED/bare.tar"
must cli image load "$BED/bare.tar" --nodes n2
sleep 1
before=$(loads)
must cli image load "$BED/bare.tar" --nodes n2
sleep 1
is "$((before > 0)) $(loads)" "1 $before" "an image without a name is not loaded twice"

must cli node drain n3

# An image that only one of them has, which runs a job of the sweep already.
must dk e1 tag "$TOOL_IMAGE" test/alone:1
must cli node drain n2
cat >"$BED/alone.yaml" <<-END
	sweep: alone
	image: test/alone:1
	repeat: 2
	retries: 0
	command: [/tool, sleep, "20"]
END
must submit "$BED/alone.yaml"
must wait_job "$JOB" running 30
must cli node undrain n2
last=$((JOB + 1))
ok 'wait_job $last failed 60' "an image of one node is not had on the other"
is "$(job_get "$last" .failure)" preflight "which is told before the start"
like "$(job_get "$last" .text)" \
	"n2: image test/alone:1 .* is in no registry and not on this node" \
	"by name, without a registry"
must cli cancel "$SWEEP"
must wait_sweep "$SWEEP" 30

# A gang whose first node lacks what the other one has.
must dk e2 tag "$TOOL_IMAGE" test/second:1
must gang test/second:1 2
ok 'wait_job $JOB failed 60' "nor of a gang whose first node lacks it"
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"^preflight n1: image test/second:1 .* is in no registry and not on this node" \
	"by name"

must random_image e1 test/other:1 1
must random_image e2 test/other:1 1
must gang test/other:1 2
ok 'wait_job $JOB failed 60' "two images of one name are no gang's"
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"^preflight .*on n[12] the image test/other:1 is sha256:" \
	"which is told by name, before the start"
ok 'wait_for cluster_clean 20' "nothing is left"
done_testing
