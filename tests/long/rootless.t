#!/bin/bash
# rootless.t - an ordinary user without Docker: Podman in the user's namespaces
# is found, does the work, and leaves nothing.
if ((EUID == 0)) && [[ ! ${ROOTLESS_ALONE-} ]]; then
	exec env ROOTLESS_ALONE=1 unshare -n -m "$0" "$@"
fi
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
# shellcheck source=tests/lab/users.sh
. "$ROOT/tests/lab/users.sh"
# shellcheck source=tests/long/rootless.sh
. "$(dirname "$0")/rootless.sh"
need jq podman newuidmap setpriv "$REGATTA_BUILD"/{regatta,lab/tool}

must ip link set lo up
# Docker is not there for them, whatever this machine has.
must mkdir -p /var/run "$BED/empty"
[[ ! -e /var/run/docker.sock ]] || must mount --bind /dev/null /var/run/docker.sock
must users_up sailor poor
cd "$BED" || exit 1
run as sailor unshare -U true
[[ $rc == 0 ]] || skip_all "this kernel gives users no namespaces: $err"
tar -C "$BED/opt" -c tool >"$BED/sailor/tool.tar"
run as sailor podman import tool.tar regatta-test/tool:1
[[ $rc == 0 ]] || skip_all "rootless Podman does not work here: $err"
# Podman's own process that holds the namespaces: as before the first use.
pkill -9 -u sailor
must wait_for '[[ ! $(processes_of sailor) ]]' 10

cat >sailor/good.yaml <<END
sweep: good
vendor: cpu
framework: cpu
image: regatta-test/tool:1
memory: 64MiB
mounts: [{host: $BED/sailor/host, container: /host}]
matrix: {code: [0, 3]}
command: [/tool, steps, "20", "5", ",", touch, "/host/\${code}", ",", exit,
  "\${code}"]
END
must as sailor mkdir host
run as sailor regatta run good.yaml --state good
is "$rc $(jq -c '[.rows[].state]' sailor/good/report.json)" \
	'1 ["completed","failed"]' "regatta run finds the user's own engine"
if [[ $(stat -fc %T /sys/fs/cgroup) == cgroup2fs ]]; then
	ok true "cgroups of version 2: what is delegated differs # SKIP"
else
	like "$err" "cannot limit memory" \
		"that there are no limits without cgroups of version 2 is said"
fi
like "$(jq -r '.rows[0].provenance.engine' sailor/good/report.json)" Podman \
	"the results name Podman"
is "$(stat -c %U sailor/host/0)" sailor \
	"what root of a container writes is the user's"
nothing "after a sweep" good
run as sailor podman ps -aq
is "$rc $out" "0 " "no container is left"
pkill -9 -u sailor

# The command line is killed while a job runs.
cat >sailor/slow.yaml <<END
sweep: slow
image: regatta-test/tool:1
mounts: [{host: $BED/sailor/host, container: /host}]
command: [/tool, touch, /host/here, ",", wait, /host/go]
END
spawn killed "$BED/opt/as" sailor regatta run slow.yaml --state slow
must wait_for '[[ -e $BED/sailor/host/here ]]' 40
kill -9 "$(pgrep -u sailor -f '^regatta run')"
nothing "after kill -9" slow
touch sailor/host/go
run as sailor regatta run --resume slow
is "$rc" 0 "and --resume goes on, with the same engine"
nothing "after that" slow

# service_ticks: its CPU time, in 1/100 s
service_ticks()
{
	pgrep -u sailor -f "podman system service" | while read -r pid; do
		cat "/proc/$pid/stat"
	done | awk '{ sum += $14 + $15 } END { print sum + 0 }'
}

# Podman's service is killed while a job runs.
rm -f sailor/host/*
spawn service "$BED/opt/as" sailor regatta run slow.yaml --state service
must wait_for '[[ -e $BED/sailor/host/here ]]' 40
before=$(service_ticks)
sleep 3
spent=$(($(service_ticks) - before))
ok '((before && spent < 100))' \
	"while a job runs, Podman's service leaves the CPUs to it" ||
	diag "$spent/100 s of CPU time in 3 s, $before before"
pkill -9 -u sailor -f "podman system service"
must wait_for 'finds "is restarted" <sailor/service/agent.log' 20
touch sailor/host/go
is "$(code_of service)" 0 "a service that dies is started again"
nothing "after that" service

# What the user may open, and nothing else.
devices_make
devices_try podman /dev/card0
nothing "after that" mine
host_network_try
nothing "after that" host-network

# A user to whom the administrator gave no further numbers.
must engine_up one
must registry_up
tar -C "$BED/opt" --owner=42 --group=42 -c tool |
	dk one import - "$REGISTRY/tool:42" >/dev/null
must dk one push -q "$REGISTRY/tool:42"
for file in sub{u,g}id; do
	grep -v '^poor:' "/etc/$file" >"$BED/numbers"
	cat "$BED/numbers" >"/etc/$file" # which is mounted
done
printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "$REGISTRY" \
	>"$BED/registries.conf"
printf '%s\n' 'sweep: numbers' "image: $REGISTRY/tool:42" \
	'command: [/tool, exit, "0"]' >"$BED/poor/numbers.yaml"
run as poor env CONTAINERS_REGISTRIES_CONF="$BED/registries.conf" \
	regatta run numbers.yaml --state numbers
like "$rc $(jq -r '.rows[].text' "$BED/poor/numbers/report.json")" \
	"^1 .*65536 ids in /etc/subuid" \
	"an image that needs numbers of users says where they come from" ||
	diag "$out" "$err"

# What a login made is not there on another machine.
run as sailor env XDG_RUNTIME_DIR="$BED/sailor/run/gone" \
	regatta run good.yaml --state gone
is "$rc $(jq -c '[.rows[].state]' sailor/gone/report.json)" \
	'1 ["completed","failed"]' \
	"without the folder of XDG_RUNTIME_DIR there is another" ||
	diag "$err" "$(tail -n 5 sailor/gone/agent.log)"
is "$(processes_of sailor)" "" "and no process is left there, either"
rm -rf "$BED"/sailor/tmp/* # Podman's own

# Neither Docker nor Podman.
mkdir none
run as sailor env PATH="$BED/none" "$BED/opt/bin/regatta" run good.yaml
like "$rc $err" "^3 .*podman and uidmap|^3 .*start Docker" \
	"where there is none, it says what to install"

done_testing
