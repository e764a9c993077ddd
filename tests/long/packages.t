#!/bin/bash
# packages.t - the packages on a clean Debian with systemd as PID 1: install,
# upgrade beside a running job, watchdog, remove, purge.
#
# Systemd runs in a container; the engine that it uses is the test's own, one
# level up. So the agent's state lies where both see it.
TEST_LIMIT=1500
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
need mmdebstrap dpkg-deb dpkg-buildpackage docker jq
[[ -d /sys/fs/cgroup/systemd ]] || skip_all "needs cgroups of version 1"

version=$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")
debs=$ROOT/build/deb
shared=$BED/shared # the same path in the machine that boots
box=box-$BED_ID
# Below the group of the engine, which is removed with it.
group=/sys/fs/cgroup/systemd/regatta-$BED_ID-one/$box

# ---- the machine ---------------------------------------------------------

make_root()
{
	local file sources options=() names

	# The machine's own way to its packages.
	for file in /etc/apt/apt.conf.d/*; do
		grep -q Acquire "$file" && options+=(--aptopt="$file")
	done
	sources=(/etc/apt/sources.list.d/*.sources /etc/apt/sources.list)
	names=$(for file in "$debs"/*_"$version"_*.deb; do
		dpkg-deb -f "$file" Depends Pre-Depends
	done | tr ',' '\n' | sed 's/[|(].*//; s/.*: //; s/ //g' |
		grep -v -e '^regatta' -e '^$' | sort -u | paste -sd,)
	# shellcheck disable=SC1091
	mmdebstrap --quiet --variant=minbase --mode=root "${options[@]}" \
		--include="systemd-sysv,dbus,$names" \
		--customize-hook='rm -rf $1/var/cache/apt $1/var/lib/apt/lists' \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$1" - \
		< <(cat "${sources[@]}" 2>/dev/null)
}

boot()
{
	mkdir -p "$group" &&
		dk one run -d --name "$box" --network none \
			--stop-signal SIGRTMIN+3 -e container=docker \
			--tmpfs /run --tmpfs /run/lock --tmpfs /tmp \
			--cgroupns private -v "$group:/sys/fs/cgroup/systemd" \
			--cap-add SYS_ADMIN --security-opt seccomp=unconfined \
			-v "$shared:$shared" debian-systemd:1 /sbin/init \
			>/dev/null &&
		wait_for "[[ \$(on systemctl is-system-running) =~ \
			^(running|degraded)$ ]]" 60
}

# A command on that machine.
on()
{
	dk one exec -i "$box" "$@"
}

install_packages()
{
	local file

	rm -f "$shared"/debs/*.deb
	for file in "$debs"/*_"$1"_*.deb; do
		[[ $file == *dbgsym* ]] || cp "$file" "$shared/debs/"
	done
	on sh -c "DEBIAN_FRONTEND=noninteractive dpkg -i $shared/debs/*.deb"
}

# The packages again, as another version, with a line more in their units.
repack()
{
	local file folder=$BED/repack

	for file in "$debs"/*_"$version"_*.deb; do
		[[ $file == *dbgsym* ]] && continue
		rm -rf "$folder"
		dpkg-deb -R "$file" "$folder"
		sed -i "s/$version\b/$1/" "$folder/DEBIAN/control"
		for unit in "$folder"/usr/lib/systemd/system/*.service; do
			[[ -e $unit ]] && echo "# $1" >>"$unit"
		done
		dpkg-deb --root-owner-group -b "$folder" \
			"${file/_${version}_/_$1_}" >/dev/null || return 1
	done
}

mode()
{
	on stat -c '%a %U:%G' "$1"
}

prop()
{
	on systemctl show -P "$2" "regatta-$1.service"
}

cli()
{
	on env REGATTA_CONTROLLER=tcp://127.0.0.1:7117 \
		REGATTA_CONTROLLER_KEY=/etc/regatta/controller.public \
		REGATTA_KEY=/root/me.key regatta "$@"
}

run -t 900 make -s -C "$ROOT" deb
is "$rc" 0 "the packages are built, and lintian finds them good"
[[ $rc == 0 ]] || die "$err"
root=$ROOT/build/deb/root.tar
[[ -s $root ]] || must make_root "$root"
mkdir -p "$shared/debs" "$shared/agent"
must engine_up one
must tool_image one
dk one import "$root" debian-systemd:1 >/dev/null
must boot

# ---- install -------------------------------------------------------------

run -t 120 install_packages "$version"
is "$rc" 0 "the packages install on a clean system"
[[ $rc == 0 ]] || diag "$err"
wait_for '[[ $(prop controller ActiveState) == active ]]' 20
is "$(prop controller ActiveState)" active "the controller serves at once"
is "$(prop agent ActiveState)" inactive "the agent waits for its settings"
is "$(prop agent UnitFileState)" enabled "but is enabled"
is "$(mode /etc/regatta/controller.key)" \
	"600 regatta-controller:regatta-controller" "the key is the user's alone"
is "$(mode /etc/regatta/authorized)" "640 root:regatta-controller" \
	"the list of keys is root's, and read by the controller"
is "$(mode /var/lib/regatta-controller)" \
	"700 regatta-controller:regatta-controller" "so is the state"
is "$(mode /etc/regatta/policy.yaml)" "644 root:root" "the policy"
run on regatta check config /etc/regatta/controller.yaml \
	/etc/regatta/policy.yaml
is "$rc" 0 "what was installed as settings is good"
is "$(on stat -c %U "/proc/$(prop controller MainPID)")" regatta-controller \
	"the controller is not root"
like "$(on journalctl -u regatta-controller -o cat)" "listening at tcp://" \
	"the journal has what it says"

# ---- a node --------------------------------------------------------------

on sh -s <<-END
	set -e
	regatta key new /root/me.key --name me --role operator \
		>>/etc/regatta/authorized
	regatta key new /etc/regatta/agent.key --name n1 --role agent \
		>>/etc/regatta/authorized
	regatta key show /etc/regatta/controller.key \
		>/etc/regatta/controller.public
	cp /usr/lib/regatta/regatta-init $shared/agent/regatta-init
	cat >/etc/regatta/agent.yaml <<-YAML
		controller: tcp://127.0.0.1:7117
		controller_key: controller.public
		key: agent.key
		state: $shared/agent/state
		init: $shared/agent/regatta-init
		engine: unix://$shared/engine.sock
	YAML
	# The engine is not of this machine, see above.
	mkdir -p /etc/systemd/system/regatta-agent.service.d
	cat >/etc/systemd/system/regatta-agent.service.d/test.conf <<-UNIT
		[Service]
		ReadWritePaths=$shared
		WatchdogSec=3
	UNIT
	systemctl daemon-reload
END
must ln "$(engine_folder one)/docker.sock" "$shared/engine.sock"
run on systemctl start regatta-agent
is "$rc" 0 "the agent starts once it is told where to"
[[ $rc == 0 ]] || diag "$(on journalctl -u regatta-agent -o cat | tail -5)"
wait_for "[[ \$(cli nodes --format json |
	jq -r '.nodes[0].state') == up ]]" 20
is "$(cli nodes --format json | jq -r '.nodes[] | .name + " " + .state')" \
	"n1 up" "the node appears"
like "$(prop agent OOMScoreAdjust)" -900 "training dies before the agent"

# A job that outlives what follows, until it is told.
cat >"$shared/job.yaml" <<-END
	sweep: upgrade
	image: regatta-test/tool:1
	command: [/tool, print, "1000", ",", sleep, "600000"]
END
cli submit "$shared/job.yaml" >/dev/null
job_state()
{
	cli show job 1 --format json | jq -r .job.state
}
must wait_for '[[ $(job_state) == running ]]' 30
task=$(dk one ps -q --no-trunc --filter label=regatta.job)
started=$(dk one inspect -f '{{.State.Pid}} {{.State.StartedAt}}' "$task")

# ---- upgrade beside it ---------------------------------------------------

# runs_on NAME: the container and its process are the same, and all know it
runs_on()
{
	wait_for "[[ \$(cli nodes --format json |
		jq -r '.nodes[0].state') == up && \$(job_state) == running ]]" 20
	is "$(job_state) $(dk one inspect -f \
		'{{.State.Pid}} {{.State.StartedAt}}' "$task")" \
		"running $started" "$1"
}

must repack "$version+1"
pid=$(prop agent MainPID)
run -t 120 install_packages "$version+1"
is "$rc" 0 "the packages are upgraded beside a running job"
ok '[[ $(prop agent MainPID) != "$pid" ]]' "the new agent runs"
runs_on "the job runs on, untouched, through the upgrade"
like "$(on journalctl -u regatta-agent -o cat)" "task adopted job=1" \
	"and the new agent adopted it"
like "$err" "regatta-agent.service changed, and tasks run here" \
	"systemd is not reloaded while it runs, and that is told"
is "$(prop agent NeedDaemonReload)" yes "the changed unit counts later"

# ---- services ------------------------------------------------------------

pid=$(prop agent MainPID)
on sh -c "kill -STOP $pid"
wait_for '[[ $(prop agent MainPID) != "$pid" &&
	$(prop agent ActiveState) == active ]]' 30
ok '[[ $(prop agent MainPID) != "$pid" ]]' \
	"the watchdog starts an agent that hangs again"
runs_on "and the job runs on"
like "$(on journalctl REGATTA_JOB=1 REGATTA_RANK=0 -o cat)" "task adopted" \
	"the journal knows which job a line is about"
like "$(prop agent StatusText)" "1 task, controller in reach" \
	"and systemctl status how the agent fares"
is "$(prop controller StatusText)" "1 of 1 nodes in reach, 1 jobs" \
	"and the controller"
on systemctl restart regatta-controller regatta-agent
runs_on "so it does when all services are restarted"
on systemctl reload regatta-agent regatta-controller
is "$(prop agent ActiveState) $(prop controller ActiveState)" \
	"active active" "both reload"
like "$(on journalctl -u regatta-agent -o cat)" "settings read again" \
	"and say so"
cli cancel job 1 >/dev/null
must wait_for '[[ $(job_state) == cancelled &&
	! $(dk one ps -aq --filter label=regatta.job) ]]' 60

# Nothing runs any more: now a changed unit counts at once.
must repack "$version+2"
run -t 120 install_packages "$version+2"
is "$rc $(prop agent NeedDaemonReload)" "0 no" \
	"without tasks an upgrade reloads systemd"

# ---- remove and purge ----------------------------------------------------

run on dpkg -r regatta-agent regatta-controller
is "$rc" 0 "the services' packages are removed"
is "$(prop agent ActiveState) $(prop controller ActiveState)" \
	"inactive inactive" "with their services"
ok 'on test -e /etc/regatta/controller.key -a -e /etc/regatta/policy.yaml' \
	"keys and settings stay"
run -t 60 install_packages "$version"
wait_for "[[ \$(cli nodes --format json |
	jq -r '.nodes[0].state') == up ]]" 20
is "$(cli nodes --format json | jq -r '.nodes[0].state')" up \
	"installed again, the node is back"
is "$(cli sweeps --format json | jq '.sweeps | length')" 1 \
	"and so are the sweeps"
# The test's own.
on rm -r /etc/regatta/controller.public \
	/etc/systemd/system/regatta-agent.service.d
run on dpkg -P regatta-agent regatta-controller regatta regatta-data
is "$rc" 0 "all is purged"
like "$err" "Results and logs stay in /var/lib/regatta-controller" \
	"but for results, and that is told"
is "$(on sh -c 'find / -xdev -path /proc -prune -o -path "/var/lib/dpkg/*" -prune \
	-o -path /var/lib/regatta-controller -prune -o -path /var/log -prune \
	-o -name "*regatta*" -print')" "" "and nothing else is left"
done_testing
