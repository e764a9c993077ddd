# lib.sh - the test bed: engines, registries and hosts of a test's own, in TAP.
# shellcheck shell=bash
#
# A test is a bash script, tests/system/NAME.t:
#
#	#!/bin/bash
#	# NAME.t - what it proves, in a sentence.
#	. "$(dirname "$0")/lib.sh"
#	need_root
#	must engine_up one
#	run dk one info
#	is "$rc" 0 "the engine answers"
#	done_testing
#
# All state lies below $BED, a folder of this run; names of namespaces and
# cgroups hold $BED_ID; so any number of tests run side by side. When the test
# ends, in whatever way, everything is taken down again: done_testing makes
# that a test of its own. A test that hangs is ended after TEST_LIMIT seconds
# (300; set it before sourcing). A script that is no *.t gets the same bed and
# clean-up, without watchdog and TAP plan; DOCKER_* of its caller are unset.
#
# Nothing here talks to the world: engines in the root namespace have no
# bridge and touch no packet filter; hosts have namespaces of their own.
#
# TAP
#	ok 'CONDITION' NAME	CONDITION is evaluated by bash
#	is GOT WANT NAME	equal strings
#	like GOT REGEX NAME	bash's =~
#	diag WORDS		a comment
#	must COMMAND...		COMMAND succeeds, or the test ends here
#	die WORDS		the test failed and ends here
#	skip_all WHY, need_root, need PROGRAM...
#	done_testing		last
#	tap_of COMMAND...	runs it; its lines "ok - NAME", "not ok - NAME" and
#				comments are the test's own
#	run [-t SECONDS] COMMAND...	with a time limit (60) and no input; sets
#				$rc (124: time out), $out, $err; the bytes are
#				in $BED/out and $BED/err. A function is not
#				stopped: it finds the limit in RUN_LIMIT
#	wait_for 'CONDITION' SECONDS	looks every 20 ms, less often where a
#				look itself takes long; fails with words.
#				A busy machine has three times as long.
#
# Processes
#	spawn [-n NETNS] NAME COMMAND...   in the background, output to
#				$BED/NAME.log
#	pid_of NAME, log_of NAME, alive NAME
#	code_of NAME		its exit code, once it is gone
#	end NAME [SIGNAL]	send it (TERM) and wait until it is gone
#
# Disks
#	small_disk NAME MIB	a folder $BED/NAME that is full at MIB
#	image_disk ENGINE MIB	such a one for the images of an engine, which
#				is not up yet
#
# Engines: dockerd with a containerd, folders and a cgroup of its own,
# live-restore on. $BED/engines/NAME/docker.sock
#	engine_up NAME [NETNS|-] [dockerd arguments...]
#	engine_host NAME	prints unix://...
#	dk NAME ...		the docker command line there, at most 60 s
#	engine_stop NAME	SIGTERM, wait; engine_start brings it back
#	engine_kill NAME [dockerd]	SIGKILL of dockerd and containerd (or
#				of dockerd alone); containers run on
#	engine_freeze NAME, engine_thaw NAME	SIGSTOP and SIGCONT of dockerd
#	engine_down NAME	and its containers, mounts, folders
#	TEST_ENGINE=podman in the environment: all engines are Podman's service,
#	without the dockerd arguments
#	CONTAINERD_STORE=1 in the environment: dockerd keeps images in
#	containerd's store, as Docker 29 does by itself (24 or later)
#	containers NAME		full ids, running or not
#
# Images without a hub
#	tool_image ENGINE [TAG]		/tool (tests/lab/tool.c) and an empty /out, as
#				regatta-test/tool:1; no entry point
#	copy_image ENGINE ENGINE TAG	from the first one to the second
#	random_image ENGINE TAG MIB [LAYERS]	/tool and MIB of bytes that do
#				not pack, in one layer, or in so many, /tool's
#				own not counted
#
# Registry: docker-registry
#	registry_up [NAME [NETNS ADDRESS:PORT]]	sets $REGISTRY, HOST:PORT;
#				a free port of 127.0.0.1 by itself
#				before it, a test may set REGISTRY_TLS and
#				REGISTRY_MORE: lines of its configuration
#	registry_down [NAME]
#	proxy_up NAME HOST:PORT stall|cut|slow BYTES	tests/lab/stall-proxy.c
#				before it; sets $PROXY, HOST:PORT
#	proxy_pass NAME		let all bytes pass from now on
#
# Hosts: namespaces 10.77.0.11, .12 ... on a switch, 10.77.0.1, that is a
# namespace too; an engine host1, host2 ... in each; a registry on the switch.
#	hosts_up N [dockerd arguments...]	sets $REGISTRY
#	on_host I COMMAND..., on_switch COMMAND...
#	host_netns I, switch_netns, host_address I	print a name
#	link_cut I, link_restore I	the wire of host I: no carrier
#	link_mute I, link_unmute I	every packet is dropped without a word
#	hosts_down

set -uo pipefail

# The watchdog: the test is run again under timeout(1), which signals the
# whole group, so a hung child ends too and the clean-up below runs.
if [[ $0 == *.t && ! ${BED_WATCHED-} ]]; then
	exec env BED_WATCHED=1 timeout -k 60 "$((3 * ${TEST_LIMIT:-300}))" \
		bash "$0" "$@"
fi

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${REGATTA_BUILD:=$ROOT/build}" "${TEST_ENGINE:=docker}"
BED_ID=$$
# Nobody else can have made it, with links in it. Other users read in it.
BED=$(mktemp -d "${TMPDIR:-/tmp}/regatta-XXXXXX") && chmod 755 "$BED" || exit 1
PATH=$REGATTA_BUILD:$PATH:/usr/local/sbin:/usr/sbin:/sbin
# Every process that this test starts, and theirs, carries the mark.
export PATH REGATTA_BUILD REGATTA_BED=$BED
# Not the settings and the policy of services that this machine may have.
export REGATTA_AGENT_CONFIG=/dev/null REGATTA_AGENT_POLICY=any
export REGATTA_CONTROLLER_CONFIG=/dev/null
# A disk with little room is no reason here to remove the output of jobs.
export REGATTA_CONTROLLER_DISK_FREE=0
# Neither the user's language, time zone and rights of new files ...
export LC_ALL=C.UTF-8 TZ=UTC
unset LANGUAGE
umask 022
# ... nor the user's engine, nor a proxy, nor a credential helper gets in.
unset DOCKER_HOST DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_CERT_PATH
unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY all_proxy
export DOCKER_CONFIG=$BED/docker DOCKER_BUILDKIT=0 DOCKER_CLI_HINTS=false

tap_count=0 tap_failed=0 tap_done=
# What run(), registry_up() and proxy_up() set.
# shellcheck disable=SC2034 # for the test
rc='' out='' err='' REGISTRY='' PROXY=''

# ---- TAP -----------------------------------------------------------------

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

tap()
{
	tap_count=$((tap_count + 1))
	if (($1 == 0)); then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
		tap_failed=$((tap_failed + 1))
		return 1
	fi
}

ok()
{
	if eval "$1"; then
		tap 0 "$2"
	else
		tap 1 "$2"
		diag "false: $1"
		return 1
	fi
}

is()
{
	if [[ $1 == "$2" ]]; then
		tap 0 "$3"
	else
		tap 1 "$3"
		diag " got: $1"
		diag "want: $2"
		return 1
	fi
}

like()
{
	if [[ $1 =~ $2 ]]; then
		tap 0 "$3"
	else
		tap 1 "$3"
		diag "   got: $1"
		diag "no match: $2"
		return 1
	fi
}

# With what the daemons said last: nobody can look after a run elsewhere.
die()
{
	local log

	tap 1 "$*"
	for log in "$BED"/*.log "$BED"/*/*.log; do
		[[ ! -s $log ]] || diag "$(tail -n 6 -v "$log" | cut -c 1-300)"
	done
	exit 1
}

must()
{
	"$@" || die "$* (line ${BASH_LINENO[0]})"
}

skip_all()
{
	echo "1..0 # skip $*"
	tap_done=1
	exit 0
}

need_root()
{
	((EUID == 0)) || skip_all "needs root: network namespaces, engines"
}

need()
{
	local program

	for program; do
		[[ -x $program ]] || command -v "$program" >/dev/null ||
			die "$program is missing: make check installs and builds it"
	done
}

done_testing()
{
	bed_down
	tap $? "nothing of the test is left behind"
	echo "1..$tap_count"
	tap_done=1
	exit $((tap_failed ? 1 : 0))
}

tap_of()
{
	local line

	while read -r line; do
		case $line in
		'ok - '*) tap 0 "${line#ok - }" ;;
		'not ok - '*) tap 1 "${line#not ok - }" ;;
		'ended with '*) is "$line" "ended with 0" "it came to its end" ;;
		*) diag "${line#\# }" ;;
		esac
	done < <("$@" 2>&1; echo "ended with $?")
}

run()
{
	local limit=60

	if [[ $1 == -t ]]; then
		limit=$2
		shift 2
	fi
	# In braces, as bash itself would say "Killed".
	if [[ $(type -t "$1") == function ]]; then
		RUN_LIMIT=$limit "$@" >"$BED/out" 2>"$BED/err" </dev/null
	else
		{
			timeout -k 5 "$limit" "$@" >"$BED/out" 2>"$BED/err" \
				</dev/null
		} 2>/dev/null
	fi
	rc=$?
	slurp out "$BED/out"
	slurp err "$BED/err"
	return $rc
}

# A file as $(<FILE) has it, without a process and without words about NULs.
slurp() # VARIABLE FILE
{
	local parts=()
	local -n text=$1

	mapfile -d '' -t parts <"$2"
	printf -v text %s "${parts[@]}"
	while [[ $text == *$'\n' ]]; do
		text=${text%$'\n'}
	done
}

# All of the input is read: a writer that is cut off has failed, and with it,
# under pipefail, the pipe.
finds()
{
	local rc=0

	grep -q "$@" || rc=$?
	cat >/dev/null
	return $rc
}

exec {BED_NEVER}<> <(:)
wait_for()
{
	local begun now=${EPOCHREALTIME/[^0-9]/} pause
	local end=$((now + 3 * $2 * 1000000))

	begun=$now
	until eval "$1" &>/dev/null; do
		now=${EPOCHREALTIME/[^0-9]/}
		if ((now > end)); then
			diag "waited $((3 * $2)) s in vain for: $1"
			return 1
		fi
		pause=$((2 * (now - begun)))
		((pause > 20000)) || pause=20000
		((pause < 200000)) || pause=200000
		printf -v pause 0.%06d "$pause"
		# Nobody writes: a pause without a process, of which a machine
		# that is busy with four tests would make hundreds a second.
		read -rt "$pause" -u "$BED_NEVER" || :
		begun=${EPOCHREALTIME/[^0-9]/}
	done
}

# ---- processes -----------------------------------------------------------

spawn()
{
	local enter=()

	if [[ $1 == -n ]]; then
		[[ $2 == - ]] || enter=(nsenter --net="/run/netns/$2" --)
		shift 2
	fi
	local name=$1
	shift
	mkdir -p "$(dirname "$BED/$name")"
	rm -f "$BED/$name".{pid,code}
	# nsenter and setsid exec, so $! is the program's own pid. Not "ip netns
	# exec", which hides the cgroups. The subshell keeps the exit code, and
	# keeps bash from saying "Killed".
	(
		exec {BED_NEVER}>&-
		"${enter[@]}" setsid "$@" >>"$BED/$name.log" 2>&1 </dev/null &
		echo $! >"$BED/$name.pid"
		wait $!
		echo $? >"$BED/$name.code"
	) >/dev/null 2>&1 &
	until [[ -s $BED/$name.pid ]]; do
		sleep 0.005
	done
}

pid_of()
{
	cat "$BED/$1.pid"
}

log_of()
{
	cat "$BED/$1.log"
}

code_of()
{
	wait_for "[[ -s $BED/$1.code ]]" 10 && cat "$BED/$1.code"
}

alive()
{
	local pid state

	{
		read -r pid <"$BED/$1.pid" && read -r state <"/proc/$pid/stat"
	} 2>/dev/null || return 1
	# A zombie is gone; only its exit code waits for us.
	[[ ${state##*) } != Z* ]]
}

end()
{
	alive "$1" || return 0
	kill "-${2:-TERM}" "$(pid_of "$1")" 2>/dev/null
	wait_for "! alive $1" 30
}

# Pids that carry the mark, but for this shell: it got the mark too late.
bed_processes()
(
	export -n REGATTA_BED
	grep -lszxF "REGATTA_BED=$BED" /proc/[0-9]*/environ | cut -d/ -f3
)

small_disk()
{
	mkdir -p "$BED/$1" &&
		mount -t tmpfs -o "size=$2m" "regatta-$BED_ID" "$BED/$1"
}

image_disk()
{
	local folder=data

	[[ ! ${CONTAINERD_STORE-} ]] || folder=containerd/root
	small_disk "engines/$1/$folder" "$2"
}

# ---- engines -------------------------------------------------------------

engine_folder()
{
	echo "$BED/engines/$1"
}

engine_host()
{
	echo "unix://$BED/engines/$1/docker.sock"
}

dk()
{
	local name=$1

	shift
	timeout -k 5 60 docker -H "$(engine_host "$name")" "$@"
}

containers()
{
	dk "$1" ps -aq --no-trunc
}

engine_answers()
{
	local limit=5

	# Podman searches the packages of the machine for its parts, each time.
	[[ $TEST_ENGINE == docker ]] || limit=30
	timeout "$limit" docker -H "$(engine_host "$1")" version \
		--format '{{.Server.Version}}' >/dev/null 2>&1
}

engine_up()
{
	local name=$1 netns=${2:--} folder

	shift $(($# > 1 ? 2 : 1))
	folder=$(engine_folder "$name")
	mkdir -p "$folder"/{data,exec}
	echo "$netns" >"$folder/netns"
	# The root namespace belongs to the machine: no bridge, no rules.
	if [[ $netns == - ]]; then
		set -- --bridge=none --iptables=false --ip-forward=false \
			--ip-masq=false "$@"
	fi
	[[ ! ${CONTAINERD_STORE-} || $TEST_ENGINE == podman ]] ||
		set -- --feature containerd-snapshotter=true "$@"
	printf '%s\n' "$@" >"$folder/arguments"
	# Not the machine's files in /etc/docker and /etc/containerd.
	echo '{}' >"$folder/daemon.json"
	cat >"$folder/containerd.toml" <<-END
		version = 2
		root = "$folder/containerd/root"
		state = "$folder/containerd/state"
		disabled_plugins = ["io.containerd.grpc.v1.cri"]
		[grpc]
		  address = "$folder/containerd.sock"
		[plugins."io.containerd.internal.v1.opt"]
		  path = "$folder/containerd/opt"
	END
	engine_start "$name"
}

engine_start()
{
	local name=$1 folder netns arguments

	folder=$(engine_folder "$name")
	netns=$(<"$folder/netns")
	mapfile -t arguments <"$folder/arguments"
	[[ ${arguments[*]} ]] || arguments=()
	if [[ $TEST_ENGINE == docker ]] &&
		! alive "engines/$name/containerd"; then
		rm -f "$folder"/containerd.sock*
		spawn -n "$netns" "engines/$name/containerd" containerd \
			--config "$folder/containerd.toml" --log-level warn
		wait_for "[[ -S $folder/containerd.sock ]]" 30 || return 1
	fi
	if [[ $TEST_ENGINE == podman ]]; then
		podman_start "$name" "$netns"
	elif ! alive "engines/$name/dockerd"; then
		rm -f "$folder/docker.pid"
		# cgroupfs: the other driver needs systemd, and slices of it.
		spawn -n "$netns" "engines/$name/dockerd" dockerd \
			--config-file "$folder/daemon.json" \
			--data-root "$folder/data" \
			--exec-root "$folder/exec" \
			--pidfile "$folder/docker.pid" \
			--containerd "$folder/containerd.sock" \
			--host "unix://$folder/docker.sock" \
			--exec-opt native.cgroupdriver=cgroupfs \
			--cgroup-parent "/regatta-$BED_ID-$name" \
			--live-restore "${arguments[@]}"
	fi
	wait_for "engine_answers $name || ! alive engines/$name/dockerd" 30
	engine_answers "$name" && return
	tail -5 "$folder/dockerd.log" | diag "$(cat)"
	return 1
}

# The same socket, answered by Podman: what is said to "dockerd" goes to it.
podman_start() # NAME NETNS
{
	local folder runtime=()

	folder=$(engine_folder "$1")
	alive "engines/$1/dockerd" && return
	# Podman asks for more than a limited machine may have: measured limits.
	cat >"$folder/containers.conf" <<-END
		[containers]
		default_ulimits = ["nofile=$(ulimit -Hn):$(ulimit -Hn)",
		  "nproc=32768:32768"]
	END
	# As dockerd takes it: the registries of a test speak plain HTTP.
	printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' \
		127.0.0.1 10.77.0.1 >"$folder/registries.conf"
	# crun cannot be used where cgroups are of both versions.
	[[ ! -d /sys/fs/cgroup/unified ]] || runtime=(--runtime runc)
	rm -f "$folder/docker.sock"
	# Where it works its monitors leave files, and it what it imports.
	spawn -n "$2" "engines/$1/dockerd" env --chdir="$folder" \
		TMPDIR="$folder" \
		CONTAINERS_CONF="$folder/containers.conf" \
		CONTAINERS_REGISTRIES_CONF="$folder/registries.conf" podman \
		--root "$folder/data" --runroot "$folder/exec" \
		--tmpdir "$folder/tmp" --cgroup-manager cgroupfs \
		--events-backend file "${runtime[@]}" \
		system service --time=0 "unix://$folder/docker.sock"
}

engine_stop()
{
	end "engines/$1/dockerd" TERM
}

engine_kill()
{
	end "engines/$1/dockerd" KILL
	[[ ${2-} == dockerd ]] || end "engines/$1/containerd" KILL
}

engine_freeze()
{
	kill -STOP "$(pid_of "engines/$1/dockerd")"
}

engine_thaw()
{
	kill -CONT "$(pid_of "engines/$1/dockerd")"
}

# Containers of an engine that is gone hang on their shims.
engine_shims()
{
	grep -lsz "^$(engine_folder "$1")/containerd.sock" \
		/proc/[0-9]*/cmdline | cut -d/ -f3
}

engine_down()
{
	local name=$1 folder pid group sockets
	local ids=()

	folder=$(engine_folder "$name")
	[[ -d $folder ]] || return 0
	if alive "engines/$name/dockerd"; then
		engine_thaw "$name"
		mapfile -t ids < <(containers "$name")
		((${#ids[@]})) && dk "$name" rm -f -v "${ids[@]}" >/dev/null
	fi
	end "engines/$name/dockerd" TERM || end "engines/$name/dockerd" KILL
	# Shims listen in a folder that all engines share.
	sockets=$(cat "$folder"/containerd/state/io.containerd.runtime.v2.task/*/*/address \
		2>/dev/null | sed 's|unix://||')
	for pid in $(engine_shims "$name"); do
		pkill -KILL -P "$pid"
		kill -KILL "$pid" 2>/dev/null
	done
	end "engines/$name/containerd" TERM ||
		end "engines/$name/containerd" KILL
	for pid in $sockets; do
		rm -f "$pid"
	done
	unmount_below "$folder"
	for group in /sys/fs/cgroup/{,*/}"regatta-$BED_ID-$name"; do
		[[ -d $group ]] || continue
		# A killed process may hold its group for a moment.
		wait_for "find $group -depth -type d -exec rmdir {} + ;
			[[ ! -d $group ]]" 10
	done
	rm -rf --one-file-system "$folder"
	[[ ! -e $folder ]]
}

unmount_below()
{
	local point

	awk -v below="$1/" 'index($5, below) == 1 {print $5}' \
		/proc/self/mountinfo | tac | while read -r point; do
		umount -l "$point"
	done
}

# ---- images --------------------------------------------------------------

tool_image()
{
	local tag=${2:-regatta-test/tool:1} folder=$BED/tool.$BASHPID

	# With a folder to write in: Podman 5 makes the root of such an image
	# 0555.
	mkdir -p "$folder/out" && cp "$REGATTA_BUILD/lab/tool" "$folder" &&
		tar -C "$folder" --owner=0 --group=0 -c tool out |
		dk "$1" import - "$tag" >/dev/null
}

# The same image on another engine: two imports have two ids.
copy_image() # FROM TO IMAGE
{
	[[ $1 == "$2" ]] || dk "$1" save "$3" | dk "$2" load >/dev/null
}

random_image()
{
	local folder=$BED/random.$BASHPID layers=${4:-1} i code

	mkdir "$folder" && cp "$REGATTA_BUILD/lab/tool" "$folder" || return 1
	printf '%s\n' 'FROM scratch' 'COPY tool /tool' >"$folder/Dockerfile"
	for ((i = 1; i <= layers; i++)); do
		head -c "$((($3 << 20) / layers))" /dev/urandom \
			>"$folder/random$i" || return 1
		echo "COPY random$i /random$i" >>"$folder/Dockerfile"
	done
	if ((layers > 1)); then
		DOCKER_BUILDKIT=0 dk "$1" build -q -t "$2" "$folder" \
			>/dev/null 2>&1
	else
		tar -C "$folder" --owner=0 --group=0 --exclude=Dockerfile -c . |
			dk "$1" import - "$2" >/dev/null
	fi
	code=$?
	rm -rf "$folder"
	return $code
}

# ---- registry ------------------------------------------------------------

# "listening on ADDRESS:PORT" in a log
listens()
{
	sed -n 's/.*listening on \([0-9.]*:[0-9]*\).*/\1/p' "$BED/$1.log" |
		tail -1
}

registry_up()
{
	local name=registry-${1:-main} netns=${2:--} address=${3:-127.0.0.1:0}

	mkdir -p "$BED/$name"
	cat >"$BED/$name.yml" <<-END
		version: 0.1
		log: {level: info}
		storage: {filesystem: {rootdirectory: $BED/$name}}
		http: {addr: "$address"${REGISTRY_TLS:+, $REGISTRY_TLS}}
		${REGISTRY_MORE-}
	END
	spawn -n "$netns" "$name" docker-registry serve "$BED/$name.yml"
	wait_for "[[ \$(listens $name) ]] || ! alive $name" 20
	REGISTRY=$(listens "$name")
	[[ $REGISTRY ]] && alive "$name"
}

registry_down()
{
	end "registry-${1:-main}" && rm -rf "$BED/registry-${1:-main}"
}

# A registry that wants a password, $locked, behind TLS of an authority of our
# own, which is in $BED/certs; and one that does not, $open. $user gets in with
# $secret: what nobody may ever read anywhere but in the file that it is in.
# shellcheck disable=SC2034 # for the test
registry_locked()
{
	need openssl base64
	user=reader secret=s3cret-word
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=regatta \
		-addext subjectAltName=IP:127.0.0.1 -keyout "$BED/tls.key" \
		-out "$BED/tls.crt" 2>/dev/null || return 1
	# bcrypt, of the secret.
	# shellcheck disable=SC2016 # dollars of the hash
	echo "$user:"'$2b$04$1esNX4PYwhBP8FOf9Fogi.1xd88JKvqxYEN1av.mYytX.xN7fgVDa' \
		>"$BED/htpasswd"
	REGISTRY_MORE="auth: {htpasswd: {realm: regatta, path: $BED/htpasswd}}"
	REGISTRY_TLS="tls: {certificate: $BED/tls.crt, key: $BED/tls.key}"
	registry_up locked || return 1
	locked=$REGISTRY REGISTRY_MORE='' REGISTRY_TLS=''
	registry_up || return 1
	open=$REGISTRY
	mkdir -p "$BED/certs/$locked" &&
		cp "$BED/tls.crt" "$BED/certs/$locked/ca.crt"
}

# login_file FILE HOST PASSWORD: as docker login would write it.
login_file()
{
	jq -n --arg host "$2" --arg auth \
		"$(printf %s "$user:$3" | base64 -w0)" \
		'{auths: {($host): {auth: $auth}}}' >"$1" && chmod 600 "$1"
}

proxy_up()
{
	local name=proxy-$1

	spawn "$name" "$REGATTA_BUILD/lab/stall-proxy" "${2%:*}" "${2#*:}" \
		"$3" "$4"
	wait_for "[[ \$(listens $name) ]]" 10
	PROXY=$(listens "$name")
	[[ $PROXY ]]
}

proxy_pass()
{
	kill -USR1 "$(pid_of "proxy-$1")"
}

# ---- hosts ---------------------------------------------------------------

switch_netns()
{
	echo "regatta-$BED_ID-switch"
}

host_netns()
{
	echo "regatta-$BED_ID-host$1"
}

host_address()
{
	echo "10.77.0.$((10 + $1))"
}

on_switch()
{
	nsenter --net="/run/netns/$(switch_netns)" -- "$@"
}

on_host()
{
	local i=$1

	shift
	nsenter --net="/run/netns/$(host_netns "$i")" -- "$@"
}

host_wire()
{
	local i=$1 switch netns

	switch=$(switch_netns)
	netns=$(host_netns "$i")
	ip netns add "$netns" &&
		ip -n "$netns" link set lo up &&
		ip -n "$switch" link add "port$i" type veth \
			peer name eth0 netns "$netns" &&
		ip -n "$switch" link set "port$i" master bridge0 up &&
		ip -n "$netns" address add "$(host_address "$i")/24" dev eth0 &&
		ip -n "$netns" link set eth0 up &&
		ip -n "$netns" route add default via 10.77.0.1
}

hosts_up()
{
	local count=$1 switch i

	shift
	switch=$(switch_netns)
	ip netns add "$switch" &&
		ip -n "$switch" link set lo up &&
		ip -n "$switch" link add bridge0 type bridge &&
		ip -n "$switch" address add 10.77.0.1/24 dev bridge0 &&
		ip -n "$switch" link set bridge0 up || return 1
	for ((i = 1; i <= count; i++)); do
		host_wire "$i" || return 1
	done
	registry_up switch "$switch" 10.77.0.1:5000 || return 1
	for ((i = 1; i <= count; i++)); do
		engine_up "host$i" "$(host_netns "$i")" \
			--insecure-registry 10.77.0.1:5000 "$@" || return 1
	done
}

link_cut()
{
	ip -n "$(switch_netns)" link set "port$1" down
}

link_restore()
{
	ip -n "$(switch_netns)" link set "port$1" up
}

link_mute()
{
	on_host "$1" iptables -w -I INPUT -i eth0 -j DROP &&
		on_host "$1" iptables -w -I OUTPUT -o eth0 -j DROP
}

link_unmute()
{
	on_host "$1" iptables -w -D INPUT -i eth0 -j DROP &&
		on_host "$1" iptables -w -D OUTPUT -o eth0 -j DROP
}

netns_of_bed()
{
	find /run/netns -maxdepth 1 -name "regatta-$BED_ID-*" \
		-printf '%f\n' 2>/dev/null
}

hosts_down()
{
	local folder netns bad=0

	for folder in "$BED"/engines/host[0-9]*; do
		[[ -d $folder ]] && { engine_down "${folder##*/}" || bad=1; }
	done
	registry_down switch
	for netns in $(netns_of_bed); do
		ip netns delete "$netns" || bad=1
	done
	return $bad
}

# ---- taking it down ------------------------------------------------------

# What there is of this bed, in words; nothing when it is gone.
bed_leftovers()
{
	local pid

	for pid in $(bed_processes); do
		echo "process $pid: $({ tr '\0' ' ' <"/proc/$pid/cmdline"; } \
			2>/dev/null)"
	done
	awk -v below="$BED/" 'index($5, below) == 1 {print "mount " $5}' \
		/proc/self/mountinfo
	netns_of_bed | sed 's/^/namespace /'
	find /sys/fs/cgroup -maxdepth 2 -name "regatta-$BED_ID-*" \
		-printf 'cgroup %p\n' 2>/dev/null
	[[ ! -e $BED ]] || echo "folder $BED"
}

bed_down()
{
	local folder pid left

	# What the test started, before the engines that it needs.
	for pid in "$BED"/*.pid; do
		[[ -e $pid ]] || continue
		pid=${pid##*/}
		[[ $pid == registry-* ]] || end "${pid%.pid}" ||
			end "${pid%.pid}" KILL
	done
	for folder in "$BED"/engines/*/; do
		[[ -d $folder ]] && engine_down "$(basename "$folder")"
	done
	hosts_down
	for pid in $(bed_processes); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait_for '[[ ! $(bed_processes) ]]' 10
	unmount_below "$BED"
	# Files of a program under test may still appear as it is killed.
	wait_for 'rm -rf --one-file-system "$BED"; [[ ! -e $BED ]]' 10
	left=$(bed_leftovers)
	# Not "return": in a trap that means the status before the trap.
	[[ ! $left ]] && return 0
	diag "left behind:"
	diag "$left"
	return 1
}

# With a command of the test's own, to end what this library does not know; it
# sees the exit code.
bed_exit() # [COMMAND...]
{
	local code=$?

	(exit "$code")
	"$@"
	trap '' INT TERM HUP
	trap - EXIT
	if [[ -e $BED ]]; then
		bed_down >&2 || code=1
	fi
	if [[ $0 == *.t && ! $tap_done ]]; then
		diag "ended before done_testing"
		code=1
	fi
	exit $code
}

mkdir -p "$BED/docker" || exit 1
trap bed_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
