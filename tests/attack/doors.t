#!/bin/bash
# doors.t - what opens with a key closes with it, and nobody is locked out by
# others.
#
# The controller alone: nothing runs.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need curl jq
LOGINS=300

# get PATH [CURL ARGUMENT...]: the status
get()
{
	local path=$1

	shift
	curl -s --max-time 20 -o "$BED/body" -w '%{http_code}' "$@" "$web$path"
}
as() # NAME ARGUMENT...: a command with that key
{
	cli "${@:2}" --key "$CLUSTER/$1.key"
}
ticket() # NAME: the path of a login
{
	local address

	address=$(as "$1" web)
	echo "${address#"$web"}"
}

CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_keys
must controller_up
# shellcheck disable=SC2034 # in functions
web=$(web_at cluster/controller)

# ---- logins to the pages -------------------------------------------------

for name in ann bob; do
	must make_key "$CLUSTER/$name.key" "$name" viewer
done
must wait_for 'as bob nodes' 10
is "$(get "$(ticket ann)" -c "$BED/ann")" 303 "a viewer has the pages open"
is "$(get "$(ticket operator)" -c "$BED/operator")" 303 "an operator too"
for ((i = 0; i < LOGINS; i++)); do
	get "$(ticket ann)" >/dev/null
done
is "$(get / -b "$BED/operator")" 200 \
	"$LOGINS logins of a viewer log nobody else out"
is "$(get /metrics -H 'Host: evil.example')" 421 \
	"a page of another site reads no metrics under its own name"

is "$(get "$(ticket bob)" -c "$BED/bob")" 303 "another viewer is in"
later=$(ticket bob)
spawn reader curl -sN --max-time 300 -b "$BED/bob" "$web/live?page=/nodes"
must cli user remove bob
is "$(get / -b "$BED/bob")" 403 "its cookie ends with its key"
is "$(get "$later")" 403 "and so does an address that it has not used"
ok 'wait_for "! alive reader" 20' "and what a page of it is told"

# ---- contents ------------------------------------------------------------

mkdir "$BED/code"
echo "s3cret code" >"$BED/code/train.py"
cat >"$BED/sweep.yaml" <<'END'
sweep: coded
image: none@sha256:0000000000000000000000000000000000000000000000000000000000000000
workspace: code
command: [x]
END
must submit "$BED/sweep.yaml"
hash=$(ls "$CLUSTER/controller/content/kept")
like "$hash" '^[0-9a-f]{64}$' "a workspace is a content"
# say NAME TEXT...: what a peer with that key is answered
say()
{
	"$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
		"$CLUSTER/controller.key" "$CLUSTER/$1.key" 1 \
		'{"type":"hello","version":3,"software":"peer"}' "${@:2}"
}
get='{"type":"content-get","request":#,"hash":"'$hash'","offset":0,"job":'
like "$(say operator "${get/\#/1}0}")" '"type":"reply"' "an operator reads it"
for job in 0 "$JOB" 99; do
	like "$(say ann "${get/\#/1}$job}")" '"type":"refused","request":1' \
		"a viewer does not, whatever job ($job) it names"
done
done_testing
