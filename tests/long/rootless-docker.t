#!/bin/bash
# rootless-docker.t - an ordinary user with a Docker of the user's own, as
# Debian's packages have it: found, used, and left as it was.
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
need jq docker dockerd rootlesskit slirp4netns newuidmap setpriv \
	"$REGATTA_BUILD"/{regatta,lab/tool}
contrib=/usr/share/docker.io/contrib
[[ -x $contrib/dockerd-rootless.sh ]] ||
	skip_all "this docker.io has no dockerd-rootless.sh"

must ip link set lo up
must mkdir -p /var/run
[[ ! -e /var/run/docker.sock ]] || must mount --bind /dev/null /var/run/docker.sock
# Open to all, as udev makes it.
must mknod -m 666 "$BED/tun" c 10 200
must mount --bind "$BED/tun" /dev/net/tun
must users_up sailor
devices_make
cd "$BED" || exit 1
run as sailor unshare -U true
[[ $rc == 0 ]] || skip_all "this kernel gives users no namespaces: $err"
spawn docker "$BED/opt/as" sailor env PATH="$contrib:$PATH" \
	"$contrib/dockerd-rootless.sh" --exec-opt native.cgroupdriver=cgroupfs
wait_for '[[ -S $BED/sailor/run/docker.sock ]] || ! alive docker' 30
alive docker || skip_all "rootless Docker does not work here: $(tail -n 3 \
	"$BED/docker.log")"
tar -C "$BED/opt" -c tool >"$BED/sailor/tool.tar"
user_docker()
{
	run as sailor docker -H "unix://$BED/sailor/run/docker.sock" "$@"
}
user_docker import tool.tar regatta-test/tool:1
[[ $rc == 0 ]] || die "$err"
before=$(processes_of sailor)

cat >sailor/good.yaml <<END
sweep: good
vendor: cpu
framework: cpu
image: regatta-test/tool:1
memory: 64MiB
mounts: [{host: $BED/sailor/host, container: /host}]
matrix: {code: [0, 3]}
command: [/tool, steps, "20", "5", ",", touch, "/host/\${code}", ",", env, ",",
  exit, "\${code}"]
END
must as sailor mkdir host
run as sailor regatta run good.yaml --state good
is "$rc $(jq -c '[.rows[].state]' sailor/good/report.json)" \
	'1 ["completed","failed"]' "regatta run finds the user's own Docker" ||
	diag "$out" "$err"
like "$(cat sailor/good/agent.log)" "engine=unix://$BED/sailor/run/docker.sock" \
	"at the socket of the user"
if [[ $(stat -fc %T /sys/fs/cgroup) == cgroup2fs ]]; then
	ok true "cgroups of version 2: what is delegated differs # SKIP"
else
	like "$err" "cannot limit memory" \
		"that there are no limits without cgroups of version 2 is said"
fi
is "$(stat -c %U sailor/host/0)" sailor \
	"what root of a container writes is the user's"
is "$(find sailor/good -not -user sailor)" "" "and so is all of the run"
like "$(cat sailor/good/agent.log)" "host network is its own" \
	"that no other node reaches its containers is said"
like "$(cat sailor/good/controller/logs/1/1/rank-0.log)" \
	"MASTER_ADDR=127.0.0.1" "processes of one node meet inside"
# runc without root keeps the name.
devices_try docker /dev/shm/NAME
user_docker ps -aq
is "$rc $out" "0 " "no container is left"
is "$(processes_of sailor)" "$before" "no process is left beside the engine's"
pkill -u sailor rootlesskit
nothing "when that has ended" good
done_testing
