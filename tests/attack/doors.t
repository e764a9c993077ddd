#!/bin/bash
# doors.t - what opens with a key closes with it, and nobody is locked out by
# others.
TEST_LIMIT=1500
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need curl python3
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
is "$(get /metrics -H "Host: $(uname -n | cut -d. -f1).evil.example")" 421 \
	"nor under the name of this machine in a domain of its own"
is "$(get /metrics -H "Host: $(uname -n)")" 200 "Prometheus does, under the name"

token=$(cli user add eve --role viewer --from 127.0.0.0/30 2>/dev/null)
env -u REGATTA_KEY -u REGATTA_CONTROLLER -u REGATTA_CONTROLLER_KEY \
	"REGATTA_CONFIG=$BED/eve.d/config.yaml" regatta join - \
	<<<"${token##* }" >/dev/null 2>&1
must mv "$BED/eve.d/key" "$CLUSTER/eve.key"
is "$(get "$(ticket eve)" -c "$BED/eve")" 303 "a key of a network has pages"
is "$(get / -b "$BED/eve")" 200 "from there"
is "$(get / -b "$BED/eve" --interface 127.0.0.9)" 403 "and from nowhere else"
like "$(<"$BED/body")" 'valid from 127.0.0.0/30, but not from 127.0.0.9' \
	"in words"

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
get='{"type":"blob-get","request":#,"hash":"'$hash'","offset":0,"job":'
like "$(say operator "${get/\#/1}0}")" '"type":"reply"' "an operator reads it"
for job in 0 "$JOB" 99; do
	like "$(say ann "${get/\#/1}$job}")" '"type":"refused","request":1' \
		"a viewer does not, whatever job ($job) it names"
done

# An agent reads what its tasks and operations need, and no other content.
must make_key "$CLUSTER/n9.key" n9 agent
node_at() # ENDPOINT TEXT...: an agent that says where others get contents
{
	"$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
		"$CLUSTER/controller.key" "$CLUSTER/n9.key" 1 \
		'{"type":"hello","version":3,"software":"peer","instance":"x",
		"vendor":"none","devices":0,"address":"127.0.0.1",
		"peers":"'"$1"'"}' '{"type":"report","tasks":[]}' "${@:2}"
}
node()
{
	node_at tcp://127.0.0.1:7119 "$@"
}
must wait_for 'regatta nodes && node | finds welcome' 10
for ask in '"blob-want","hash":"'$hash'","length":0' \
	'"blob-read","hash":"'$hash'","offset":0,"size":1000'; do
	run node "{\"type\":$ask}"
	like "$out" "\"code\":13,.*needed by no task or image operation of this node" \
		"an agent is refused a workspace of others (${ask%%,*})"
	ok '[[ $out != *s3cret* ]]' "nor gets it"
done
# Last: a session that was refused costs its key some seconds.
run node_at tcp://10.9.9.9:22
like "$out" "peers 'tcp://10.9.9.9:22': expected a port of 127.0.0.1" \
	"an agent does not lead others to where it is not"

# ---- refusals ------------------------------------------------------------

STRANGERS=120
must cli key new "$BED/stranger.key" --name stranger --role viewer \
	>/dev/null 2>&1
for ((i = 0; i < STRANGERS; i++)); do
	timeout 20 "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
		"$CLUSTER/controller.key" "$BED/stranger.key" 1 x &
	strangers+=($!)
done >/dev/null 2>&1
wait "${strangers[@]}"
# shellcheck disable=SC2034 # in conditions
lines=$(log_of cluster/controller | grep -c "refused 127.0.0.1: key")
ok '((lines > 0 && lines < 40))' "$STRANGERS strangers are few lines ($lines)"
lines=$(cli audit -n 1000 --format jsonl | grep -c '"connect"')
ok '((lines > 0 && lines < 20))' "and fewer rows of the audit log ($lines)"

# ---- folders of others ---------------------------------------------------

must engine_up e1
engine=$(engine_host e1)
printf 'sweep: mine\nimage: none\ncommand: [x]\n' >"$BED/mine.yaml"
mkdir "$BED/theirs" "$BED/open" "$BED/victim"
echo precious >"$BED/victim/file"
chmod 777 "$BED/open"
ln -s "$BED/victim" "$BED/link"
ln -s "$BED/victim" "$BED/theirs/spool"
ln -s "$BED/victim/file" "$BED/theirs/controller.log"
chown -h 12345 "$BED/theirs" "$BED/theirs/spool" "$BED/link"
for folder in theirs link open; do
	run -t 20 regatta run "$BED/mine.yaml" --engine "$engine" \
		--state "$BED/$folder"
	is "$rc" 2 "regatta run does not work in a folder of others ($folder)"
	like "$err" 'of user 12345|others may write' "and says why"
done
must cli key new "$BED/n1.key" --name n1 --role agent >/dev/null 2>&1
run -t 20 regatta-agent --key "$BED/n1.key" --state "$BED/theirs" \
	--controller "$REGATTA_CONTROLLER" \
	--controller-key "$CLUSTER/controller.key"
like "$rc:$err" '^[12]:.*a link of user 12345' "nor does an agent through a link"
is "$(cat "$BED/victim/file")" precious "what it led to is as it was"
is "$(stat -c %a "$BED/victim")" 755 "so is its folder"
for folder in theirs link open; do
	run -t 60 env "DOCKER_HOST=$engine" "$ROOT/deploy/demo" "$BED/$folder"
	like "$rc:$err" '^2:.*of another user, or others may write' \
		"nor does the demo ($folder)"
done
# Raced: a name that is a folder of user 12345 and a link to the victim's, by turns.
: "${RACES:=500}" # of each of the two
mkdir -m 1777 "$BED/shared"
cat >"$BED/flip.py" <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
folder, victim = sys.argv[1:]
os.setgroups([])
os.setgid(12345)
os.setuid(12345)
one, other = (os.path.join(folder, name).encode() for name in ("run", "other"))
if not os.path.exists(one):
    os.mkdir(one, 0o700)
os.symlink(victim, other)
print("flips", flush=True)
while True: # RENAME_EXCHANGE
    if libc.renameat2(-100, one, -100, other, 2) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
END
spawn flip python3 "$BED/flip.py" "$BED/shared" "$BED/victim"
must wait_for 'log_of flip | finds flips' 20
taken=0
for ((i = 0; i < RACES; i++)); do
	timeout 20 regatta run "$BED/mine.yaml" --engine "$engine" \
		--state "$BED/shared/run" &>/dev/null
	[[ $(ls "$BED/victim") == file ]] || ((++taken))
	find "$BED/victim" -mindepth 1 ! -name file -delete
done
ok 'alive flip' "another user changes a folder for a link all the time"
end flip KILL
is "$taken" 0 "of $RACES runs none is led elsewhere"
# The demo's, a link by turns and nothing. Its first daemon has no images.
cat >"$BED/blink.py" <<'END'
import os, sys
folder, victim = sys.argv[1:]
os.setgroups([])
os.setgid(12345)
os.setuid(12345)
name = os.path.join(folder, "demo")
print("blinks", flush=True)
while True:
    try:
        os.symlink(victim, name)
        os.unlink(name)
    except OSError: # root's own is there
        pass
END
spawn blink python3 "$BED/blink.py" "$BED/shared" "$BED/victim"
must wait_for 'log_of blink | finds blinks' 20
taken=0 made=0
mkdir "$BED/programs"
for name in regatta regatta-controller regatta-agent regatta-init; do
	ln -s "$REGATTA_BUILD/$name" "$BED/programs"
done
ln -sf /bin/false "$BED/programs/regatta-controller"
for ((i = 0; i < RACES; i++)); do
	timeout 60 env "DOCKER_HOST=$engine" "REGATTA_BUILD=$BED/programs" \
		"$ROOT/deploy/demo" "$BED/shared/demo" &>/dev/null
	[[ $(ls "$BED/victim") == file ]] || ((++taken))
	[[ ! -f $BED/shared/demo/controller.log || -L $BED/shared/demo ]] ||
		((++made))
	find "$BED/victim" -mindepth 1 ! -name file -delete
	find "$BED/shared" -mindepth 1 -name demo -type d -exec rm -rf {} +
done
ok 'alive blink' "another user makes and removes a link all the time"
end blink KILL
is "$taken" 0 "of $RACES demos none is led elsewhere"
ok '((made > 0))' "and $made of them got their folder"
mkdir "$BED/above" && chown 12345 "$BED/above"
run -t 20 regatta run "$BED/mine.yaml" --engine "$engine" --state "$BED/above/mine"
like "$rc:$err" '^2:.*above: a folder of user 12345' \
	"root does not work below a folder of others"
run -t 20 regatta run "$BED/mine.yaml" --engine "$engine" --state "$BED/new/run"
is "$(stat -c %a "$BED/new/run")" 700 "a new folder is its owner's alone"
done_testing
