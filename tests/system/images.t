#!/bin/bash
# images.t - images come from registries: with passwords, TLS, too little disk.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need

must registry_locked
must login_file "$BED/auth.json" "$locked" "$secret"
AGENT_ARGS=(--registry-auth "$BED/auth.json"
	--stall 10 --verbose)
must image_disk e2 40
must cluster_up 2
engine=$(node_engine 1)

push() # IMAGE MIB
{
	random_image "$engine" "$1" "$2" &&
		dk "$engine" --config "$BED/push" push -q "$1" >/dev/null &&
		dk "$engine" rmi -f "$1" >/dev/null
}
must mkdir "$BED/push"
must cp "$BED/auth.json" "$BED/push/config.json"
must push "$locked/secret/tool:1" 8
must push "$open/tool:1" 8
must push "$open/large:1" 30

sweep_of() # NAME IMAGE [LINE...]
{
	local name=$1 image=$2

	shift 2
	printf '%s\n' "sweep: $name" "image: $image" "retries: 0" "$@" \
		'command: [/tool, print, "1000"]' >"$BED/$name.yaml"
}
submit_image()
{
	sweep_of "$@" && submit "$BED/$1.yaml"
}


# Only the owner may read them: the agent says so and does not start.
chmod 640 "$BED/auth.json"
run regatta-agent --registry-auth "$BED/auth.json" --state "$BED/none" \
	--controller "$REGATTA_CONTROLLER" --key "$CLUSTER/n1.key" \
	--controller-key "$CLUSTER/controller.key"
like "$err" "mode 0640 found.*chmod 600" \
	"credentials that others may read are refused: $err"
chmod 600 "$BED/auth.json"

# Too little disk is told in words, with what is needed and what there was.
must agent_stop 1
must nodes_up 1 20
must submit_image full "$open/large:1"
ok 'wait_job $JOB failed 60' "an image that does not fit fails"
is "$(job_get "$JOB" .failure)" image "of class image"
like "$(job_get "$JOB" .text)" \
	"disk full: the pull needs [0-9.]+ MiB and the same again to unpack; .*e2/(data|containerd/root) had [0-9.]+ MiB free: engine: .*no space left" \
	"in words: $(job_get "$JOB" .text)"
# What only shows when it is unpacked is told by the engine: the same words.
must mkdir "$BED/zeros"
must cp "$REGATTA_BUILD/lab/tool" "$BED/zeros"
must truncate -s 60M "$BED/zeros/zeros"
tar -C "$BED/zeros" -c . | dk "$engine" import - "$open/zeros:1" >/dev/null
must dk "$engine" push -q "$open/zeros:1" >/dev/null
must dk "$engine" rmi -f "$open/zeros:1" >/dev/null
must submit_image unpacked "$open/zeros:1"
ok 'wait_job $JOB failed 60' "nor does one that only fits while it is packed"
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"^image .*disk full: .* had .* MiB free: engine: .*no space left" \
	"in the same words"
must agent_stop 2
must nodes_up 0 20
must agent_up 1
must nodes_up 1 20

# How far it is, how fast, and how long it takes, for all and for each layer;
# and that nothing comes, when nothing does.
must proxy_up slow "$open" slow 1500000
must submit_image seen "$PROXY/large:1"
ok 'wait_for "[[ \$(job_get $JOB .progress.eta_seconds) == [1-9]* ]]" 20' \
	"of an image on its way it is known how long it takes"
like "$(cli jobs 2>/dev/null)" \
	'seen .*pulling [0-9]+%, [0-9.]+s left, [0-9.]+ [KM]iB of 30.. MiB, [0-9.]+ [KM]iB/s, layers 0/1' \
	"the table of jobs has bytes, rate and time"
like "$(cli show job "$JOB")" \
	'layers:.*n1 +[0-9a-f]{12} +pulling +[0-9.]+ [KM]iB +30.. MiB' \
	"show has each layer that moves"
kill -STOP "$(pid_of proxy-slow)"
ok 'wait_for "cli jobs | finds \"%, silent for [5-9].0s, .* of 30.. MiB, layers\"" 9' \
	"when nothing comes, both are replaced by that"
kill -CONT "$(pid_of proxy-slow)"
must proxy_pass slow
ok 'wait_job $JOB completed 60' "and it goes on"
like "$(job_get "$JOB" '.events[] | select(.kind == "image") | .data |
	"\(.node) \(.bytes) \(.seconds)"')" "^n1 3[01][0-9]{6} [0-9.]+$" \
	"an event keeps what came, and in what time"
must wait_sweep "$SWEEP" 20

# A connection that breaks in the middle of a layer.
must push "$open/broken:1" 10
must proxy_up broken "$open" cut 4000000
must submit_image broken "$PROXY/broken:1"
ok 'wait_job $JOB completed 60' "an image whose connection is cut comes"
is "$(log_of proxy-broken | tail -1)" cut "(it was)"

# A name means one image in a sweep: the one that its first node found.
cat >"$BED/pin.yaml" <<END
sweep: pin
image: $open/tool:1
nodes: 2
retries: 0
matrix: {part: [1000, 2000]}
command: [/tool, print, "\${part}"]
END
must agent_up 2
must nodes_up 2 20
must submit "$BED/pin.yaml"
must wait_job "$JOB" completed 60
pin=$(job_get "$JOB" .provenance.image_pin)
like "$pin" "^$open/tool@sha256:[0-9a-f]{64}$" "a result says what its image was"
is "$(job_get "$JOB" '[.events[] | select(.kind == "pin") | .data.pin] | join(" ")')" \
	"$pin" "what the name means was found out once"
# containerd may be done with so small an image before it has told its size.
[[ ${CONTAINERD_STORE-} ]] ||
	is "$(job_get "$JOB" '[.events[] | select(.kind == "image") | .data.node] | sort | join(" ")')" \
	"n1 n2" "both nodes were sent the image, as events tell"
second=$(jobs_get "$SWEEP" '.[1].job')
must wait_job "$second" completed 60
is "$(job_get "$second" .provenance.image_pin)" "$pin" "later cells have the same"
is "$(job_get "$second" '[.events[] | select(.kind == "pin")] | length')" 0 \
	"and did not ask again"

# The tag moves while the sweep is under way; the sweep does not.
cat >"$BED/move.yaml" <<END
sweep: move
image: $open/tool:1
nodes: 1
retries: 0
mounts: [{host: $BED/host, container: /host}]
matrix: {part: [1, 2, 3, 4]}
command: [/tool, wait, /host/go, ",", print, "\${part}"]
END
mkdir -p "$BED/host"
must submit "$BED/move.yaml"
must wait_job "$JOB" running 60
must push "$open/tool:1" 4
for i in 1 2; do
	dk "$(node_engine $i)" rmi -f "$open/tool:1" &>/dev/null
done
touch "$BED/host/go"
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" '[.[].state] | unique | join(" ")')" completed \
	"all cells of a sweep whose tag moves complete"
pins=$(for job in $(jobs_get "$SWEEP" '.[].job'); do
	job_get "$job" .provenance.image_pin
done | sort -u)
is "$pins" "$pin" "with the image that the first one had"

# The name of an image that a node of the sweep has is not advised against.
must push "$open/gone:1" 1
must cli node drain n2
sweep_of gone "$open/gone:1" "repeat: 2"
sed -i 's/print, "1000"/sleep, "20"/' "$BED/gone.yaml"
must submit "$BED/gone.yaml"
must wait_job "$JOB" running 60
rm -r "$BED/registry-main/docker/registry/v2/repositories/gone"
must cli node undrain n2
last=$((JOB + 1))
ok 'wait_job $last failed 60' "an image that is no longer in its registry fails"
like "$(job_get "$last" '"\(.failure) \(.text)"')" \
	"^image .*this sweep has it: image $open/gone.*: engine: (manifest for|failed to resolve) " \
	"which tells that its name is right"
like "$(cli show job "$last")" "to do: load one image on all nodes" \
	"and so does the advice"
must cli cancel "$SWEEP"
must wait_sweep "$SWEEP" 30

# Images of no registry that are not the same: told in words.
# The second node has the first one's, too, by a name of its own.
must tool_image e1 local/other:1
dk e1 save local/other:1 | dk e2 load &>/dev/null
must dk e2 tag local/other:1 private/mine:1
must random_image e2 local/other:1 1
must submit_image other local/other:1 "nodes: 2"
ok 'wait_job $JOB failed 60' "nodes that disagree about an image fail"
is "$(job_get "$JOB" .failure)" preflight "of class preflight"
like "$(job_get "$JOB" .text)" "on n[12] the image local/other:1 is sha256:|local/other:1 is sha256:.* on n1, but sha256:.* on n2" \
	"in words: $(job_get "$JOB" .text)"
like "$(cli show job "$JOB")" "to do: load one image on all nodes" \
	"and no other name is advised"
must tool_image e2 local/same:1
dk e2 save local/same:1 | dk e1 load &>/dev/null
must submit_image same local/same:1 "nodes: 2"
ok 'wait_job $JOB completed 60' "those that agree on its id do not"

must agent_stop 2
must nodes_up 1 20
must submit_image locked "$locked/secret/tool:1"
ok 'wait_job $JOB completed 60' "an image comes from a registry with password"
ok '! grep -q "is pulled by its name" <(log_of cluster/agent1)' \
	"which the engine asked for its digest, with that password"
is "$(dk "$engine" images --format '{{.Repository}}:{{.Tag}}' "$locked/secret/tool")" \
	"$locked/secret/tool:1" "it came by digest, and has its name"

# What a build prints is a stream of its job.
cat >"$BED/built.yaml" <<END
sweep: built
build: cpu
retries: 0
command: [/trainer, --help]
END
must submit "$BED/built.yaml"
must wait_sweep "$SWEEP" 60
like "$(cli logs "$JOB" --stream build)" "Step 1/.*FROM scratch.*Successfully" \
	"what a build prints can be read"
is "$(cli logs "$JOB" | grep -c 'Step 1/')" 0 "and is not the job's output"

# Nobody is let in with another password; nothing says which it was.
sed -i "s/\"auth\": .*/\"username\": \"$user\", \"password\": \"x-$secret\"/" \
	"$BED/auth.json"
must dk "$engine" rmi -f "$locked/secret/tool:1" >/dev/null
must submit_image wrong "$locked/secret/tool:1"
ok 'wait_job $JOB failed 60' "another password does not do"
like "$(job_get "$JOB" .text)" "$locked/secret/tool:1.*(denied|unauthorized|401|no basic auth)" \
	"in words: $(job_get "$JOB" .text)"

# Credential helpers are asked, by Docker's protocol.
mkdir "$BED/bin"
cat >"$BED/bin/docker-credential-bed" <<END
#!/bin/sh
read -r server
echo "\$1 \$server" >>"$BED/asked"
echo '{"Username":"$user","Secret":"$secret"}'
END
chmod +x "$BED/bin/docker-credential-bed"
jq -n --arg host "$locked" '{credHelpers: {($host): "bed"}}' >"$BED/auth.json"
must agent_stop 1
must nodes_up 0 20
PATH=$BED/bin:$PATH must agent_up 1
must nodes_up 1 20
must submit_image helper "$locked/secret/tool:1"
ok 'wait_job $JOB completed 60' "a credential helper opens it"
is "$(sort -u "$BED/asked")" "get $locked" "asked for that registry"

# The secret is in the files that a person wrote, and nowhere else.
for word in "$secret" "$(printf %s "$user:$secret" | base64 -w0)"; do
	found=$(grep -rlF -e "$word" "$CLUSTER" "$BED"/*.log)
	is "$found" "" "no log, table, error and store holds it"
done
cli show job "$JOB" --format json >"$BED/shown"
ok '! grep -qF "$secret" "$BED/shown"' "nor does show"

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
