#!/bin/bash
# image-pull.t - images are pulled to the nodes of a sweep before it starts.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need script

must registry_locked
must login_file "$BED/auth.json" "$locked" "$secret"
export DOCKER_CONFIG=$BED/user
must mkdir "$BED/user"
must cp "$BED/auth.json" "$BED/user/config.json"
must cp -r "$REGATTA_BUILD/images" "$BED/images"
must mkdir "$BED/images/mine"
must cp "$REGATTA_BUILD/lab/tool" "$BED/images/mine/"
printf 'FROM scratch\nCOPY tool /tool\n' >"$BED/images/mine/Dockerfile"
export REGATTA_IMAGES=$BED/images
AGENT_ARGS=(--images "$BED/images" --stall 20)
must image_disk e2 40
must cluster_up 2
engine=$(node_engine 1)

push() # IMAGE MIB
{
	random_image "$engine" "$1" "$2" &&
		dk "$engine" --config "$BED/user" push -q "$1" >/dev/null &&
		dk "$engine" rmi -f "$1" >/dev/null
}
must push "$locked/secret/tool:1" 2
for image in a=3 b=2 c=1 large=30; do
	must push "$open/${image%=*}:1" "${image#*=}"
done

has() # NODE IMAGE
{
	dk "$(node_engine "$1")" image inspect "$2" &>/dev/null
}

# One image, to all nodes.
run cli image pull "$open/a:1"
is "$rc" 0 "an image is pulled by its name"
ok 'has 1 "$open/a:1" && has 2 "$open/a:1"' "to all nodes"
like "$err" "n1: $open/a:1, 3.*MiB.*n2: $open/a:1, 3.*MiB" "which is told"
run cli image pull "$open/a:1" --nodes n2
is "$rc" 0 "again it is no work"
like "$err" "^[^:]*n2: $open/a:1, which already existed" \
	"and only the nodes that are named are asked: $err"
is "$(cli image list --format json | jq -r --arg image "$open/a:1" \
	'.images[] | select(.name == $image) | .origin')" pulled \
	"what is pulled so may go again, it is ours"

# A sweep that names what it runs by digest.
printf 'sweep: pinned\nimage: %s/a:1 # moves\ncommand: [/tool, print, "1"]\n' \
	"$open" >"$BED/moves.yaml"
cli plan "$BED/moves.yaml" --pin >"$BED/pinned.yaml" 2>"$BED/words"
is $? 0 "a sweep is pinned: $(<"$BED/words")"
digest=$(dk "$engine" image inspect --format '{{index .RepoDigests 0}}' \
	"$open/a:1")
is "$(tail -1 "$BED/pinned.yaml")" "image: $digest" "to the registry's digest"
is "$(cli plan "$BED/pinned.yaml" --pin 2>/dev/null)" "$(<"$BED/pinned.yaml")" \
	"again it stays as it is"
must submit "$BED/pinned.yaml"
must wait_sweep "$SWEEP" 60
is "$(job_get "$JOB" '"\(.state) \(.spec.container.image)"')" \
	"completed $digest" "and runs so"
must random_image "$(node_engine 2)" "$open/a:1" 1
run cli plan "$BED/moves.yaml" --pin
like "$rc $err" "^2 .*n2: .*a:1 is not known to be from a registry" \
	"an image of no registry has no digest: $err"
dk "$(node_engine 2)" rmi -f "$open/a:1" >/dev/null
sed 's/a:1/none:1/' "$BED/moves.yaml" >"$BED/none-yet.yaml"
run cli plan "$BED/none-yet.yaml" --pin
like "$rc $err" "^2 .*no node has .*none:1; run 'regatta image pull'" \
	"nor has one that is nowhere"
must cli image pull "$open/a:1" --nodes n2

# A sweep: all that its cells need, where they could run, and nothing else.
cat >"$BED/sweep.yaml" <<END
sweep: before
image: $open/\${part}:1
labels: [disk=large]
matrix: {part: [b, c]}
command: [/tool, print, "10"]
END
must cli node label n1 disk=large >/dev/null
answer=$(cli image pull "$BED/sweep.yaml" --format json 2>"$BED/words")
is $? 0 "what a sweep needs is pulled"
ok 'has 1 "$open/b:1" && has 1 "$open/c:1"' "all of it"
ok '! has 2 "$open/b:1" && ! has 2 "$open/c:1"' \
	"to the nodes that could run it"
is "$(jq -r '.images[] | "\(.what) \(.image) \(.final) \(.nodes |
	map("\(.name) \(.phase)") | join(","))"' <<<"$answer")" \
	"pull $open/b:1 true n1 ready
pull $open/c:1 true n1 ready" "in JSON, too"
must submit "$BED/sweep.yaml"
must wait_sweep "$SWEEP" 60
for job in $(jobs_get "$SWEEP" '.[].job'); do
	is "$(job_get "$job" '"\(.state) \([.events[] |
		select(.kind == "image")] | length)"')" "completed 0" \
		"its jobs find their images"
done
run cli image pull "$BED/sweep.yaml" --nodes n2
is "$rc" 1 "on a node that could not run it, nothing is pulled"
like "$err" "$open/b:1: no reachable node could run it" "in words: $err"
run cli image pull "$BED/sweep.yaml" --nodes n2,n7
is "$rc" 2 "a node that is not there is an error"
like "$err" "no node n7" "in words: $err"
cat >"$BED/built.yaml" <<END
sweep: built
build: mine
command: [/tool, print, "10"]
END
run cli image pull "$BED/built.yaml" --nodes n1
is "$rc" 0 "what a sweep builds is built: $err"
like "$err" "n1: .*mine:[0-9a-f]{12}," "and told"

# One node fails: which, and why.
run cli image pull "$open/large:1"
is "$rc" 1 "one node that lacks it is a failure"
ok 'has 1 "$open/large:1"' "the other one has it"
like "$err" "n1: $open/large:1, 3.*n2: .*disk full: .*30.* MiB and the same again" \
	"the reason is told: $err"
run cli image pull "$open/none:1" --nodes n1
like "$rc $err" "^1 .*n1: .*none:1: engine: .*(not found|manifest unknown)" \
	"what the registry does not have is told"
run cli image pull 'NOT AN IMAGE'
is "$rc" 2 "what is no reference is refused at once: $err"
run cli image pull "$BED/none.yaml"
like "$rc $err" "^2 .*none.yaml: No such file" "nor is a file that is not there"
run cli image pull "$open/a:1" --tag x
like "$rc $err" "^2 .*--tag is not valid here; it is for image build" "nor another's option"

# A registry with a password.
run cli image pull "$locked/secret/tool:1" --nodes n1
is "$rc" 1 "without credentials nobody is let in"
run cli image pull "$locked/secret/tool:1" --nodes n1 --registry-auth
is "$rc" 0 "with them an image comes: $err"
ok 'has 1 "$locked/secret/tool:1"' "and is there"
found=$(grep -rlF -e "$secret" "$CLUSTER" "$BED"/*.log)
is "$found" "" "the secret is nowhere else"

# Progress at a terminal: bytes, layers, for each node. Whoever stops watching
# stops nothing, and the agent goes on where it was.
must proxy_up slow "$open" slow 3000000
must dk e1 rmi -f "$open/large:1" >/dev/null
spawn watch env TERM=xterm script -qfec \
	"stty cols 200; '$REGATTA_BUILD/regatta' image pull $PROXY/large:1 --nodes n1" \
	"$BED/screen"
ok 'wait_for "grep -aqE \"n1 +\\[#+\\.+\\] pulling [0-9]+%, .* of 30.. MiB.*layers 0/1\" $BED/screen" 30' \
	"how far each node is shows on a terminal" || diag "$(cat -v "$BED/screen")"
like "$(<"$BED/screen")" "pulling $PROXY/large:1.*0 of 1 nodes ready; n1" \
	"and how many have it"
kill -INT "$(pgrep -f "^$REGATTA_BUILD/regatta image pull $PROXY/large:1")"
ok 'wait_for "grep -aq \"the nodes continue, and the same command shows them again\" $BED/screen" 20' \
	"Ctrl-C says what goes on"
agent_kill 1
must agent_up 1
must nodes_up 2 30
must proxy_pass slow
run cli image pull "$PROXY/large:1" --nodes n1
is "$rc" 0 "the same command shows it, also behind a new agent"
ok 'has 1 "$PROXY/large:1"' "and it comes"

# A node that is away is named, and the same command does the rest.
must agent_stop 1
must dk "$(node_engine 1)" rmi -f "$open/c:1" >/dev/null
run cli image pull "$open/c:1" --nodes n1,n2
like "$rc $err" "^1 .*n1: not reachable; the same command does the rest" \
	"a node that is away is named: $err"
ok 'has 2 "$open/c:1"' "the other one has the image"
must agent_up 1
must nodes_up 2 30
run cli image pull "$open/c:1" --nodes n1,n2
is "$rc" 0 "the same command does the rest: $err"
ok 'has 1 "$open/c:1"' "and the first one has it, too"

# The node's policy has the last word.
must agent_stop 1
AGENT_ARGS+=(--policy "$BED/policy.yaml")
echo 'images: ["docker.io/library/*"]' >"$BED/policy.yaml"
must agent_up 1
must nodes_up 2 30
run cli image pull "$open/b:1" --nodes n1
like "$rc $err" "^1 .*n1: .*images: .*$open/b:1" \
	"a node whose policy forbids an image refuses it: $err"

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
