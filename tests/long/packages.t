#!/bin/bash
# packages.t - the packages on a clean Debian with systemd as PID 1: install,
# upgrade beside a running job, watchdog, remove, purge.
#
# Systemd runs in a container; the engine that it uses is the test's own, one
# level up. So the agent's state lies where both see it.
TEST_LIMIT=1500
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/box.sh
. "$(dirname "$0")/box.sh"
need_root
boxes_need

shared=$BED/shared # the same path in the machine that boots

# The only machine here.
box()
{
	on box "$@"
}

install_packages()
{
	box_debs "$shared/debs" "$1" &&
		box sh -c "DEBIAN_FRONTEND=noninteractive \
			dpkg -i $shared/debs/*.deb"
}

mode()
{
	box stat -c '%a %U:%G' "$1"
}

prop()
{
	box systemctl show -P "$2" "regatta-$1.service"
}

cli()
{
	box env REGATTA_CONTROLLER=tcp://127.0.0.1:7117 \
		REGATTA_CONTROLLER_KEY=/etc/regatta/controller.public \
		REGATTA_KEY=/root/me.key regatta "$@"
}

run -t 900 debs_build
is "$rc" 0 "the packages are built, and lintian finds them good"
[[ $rc == 0 ]] || die "$err"
# Made again from nothing they are the same, byte for byte.
mkdir "$BED/first"
cp "$DEBS"/*_"$DEBS_VERSION"_*.deb "$BED/first"
rm -rf "$DEBS/objects"
run -t 900 debs_build
is "$rc" 0 "(they are built again)"
different=0
for file in "$BED"/first/*.deb; do
	cmp "$file" "$DEBS/${file##*/}" || ((++different))
done
is "$different" 0 "what is built twice is the same"
dpkg-deb --fsys-tarfile "$DEBS/regatta-controller_${DEBS_VERSION}_"*.deb |
	tar -xO ./usr/share/doc/regatta-controller/sbom.spdx.json >"$BED/sbom"
is "$(jq -r '.spdxVersion, .creationInfo.created,
	(.packages[] | select(.name | test("^(libzmq5|libsqlite3-0)$")) | .name),
	([.relationships[] | select(.relationshipType == "DYNAMIC_LINK")] |
	length > 8)' "$BED/sbom" | tr '\n' ' ')" \
	"SPDX-2.3 2026-11-21T00:00:00Z libsqlite3-0 libzmq5 true " \
	"a package says what it is made of"
must root_of "$DEBS/root.tar" ''
mkdir -p "$shared/agent"
must engine_up one
must tool_image one
must boxes_up "$DEBS/root.tar"
must box_new box -v "$shared:$shared"

# ---- install -------------------------------------------------------------

run -t 120 install_packages "$DEBS_VERSION"
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
run box regatta check config /etc/regatta/controller.yaml \
	/etc/regatta/policy.yaml
is "$rc" 0 "what was installed as settings is good"
is "$(box stat -c %U "/proc/$(prop controller MainPID)")" regatta-controller \
	"the controller is not root"
like "$(box journalctl -u regatta-controller -o cat)" "listening at tcp://" \
	"the journal has what it says"

# ---- a node --------------------------------------------------------------

box sh -s <<-END
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
run box systemctl start regatta-agent
is "$rc" 0 "the agent starts once it is told where to"
[[ $rc == 0 ]] || diag "$(box journalctl -u regatta-agent -o cat | tail -5)"
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

must debs_repack "$DEBS_VERSION+1"
pid=$(prop agent MainPID)
run -t 120 install_packages "$DEBS_VERSION+1"
is "$rc" 0 "the packages are upgraded beside a running job"
ok '[[ $(prop agent MainPID) != "$pid" ]]' "the new agent runs"
runs_on "the job runs on, untouched, through the upgrade"
like "$(box journalctl -u regatta-agent -o cat)" "task adopted job=1" \
	"and the new agent adopted it"
like "$err" "regatta-agent.service changed, and tasks run here" \
	"systemd is not reloaded while it runs, and that is told"
is "$(prop agent NeedDaemonReload)" yes "the changed unit counts later"

# ---- services ------------------------------------------------------------

pid=$(prop agent MainPID)
box sh -c "kill -STOP $pid"
wait_for '[[ $(prop agent MainPID) != "$pid" &&
	$(prop agent ActiveState) == active ]]' 30
ok '[[ $(prop agent MainPID) != "$pid" ]]' \
	"the watchdog starts an agent that hangs again"
runs_on "and the job runs on"
like "$(box journalctl REGATTA_JOB=1 REGATTA_RANK=0 -o cat)" "task adopted" \
	"the journal knows which job a line is about"
ok 'wait_for "[[ \$(prop agent StatusText) == *\"1 task, controller connected\"* ]]" 30' \
	"and systemctl status how the agent fares"
ok 'wait_for "[[ \$(prop controller StatusText) == \"1 of 1 nodes in reach, 1 jobs\" ]]" 30' \
	"and the controller"
box systemctl restart regatta-controller regatta-agent
runs_on "so it does when all services are restarted"
box systemctl reload regatta-agent regatta-controller
is "$(prop agent ActiveState) $(prop controller ActiveState)" \
	"active active" "both reload"
like "$(box journalctl -u regatta-agent -o cat)" "settings read again" \
	"and say so"
cli cancel job 1 >/dev/null
must wait_for '[[ $(job_state) == cancelled &&
	! $(dk one ps -aq --filter label=regatta.job) ]]' 60

# Nothing runs any more: now a changed unit counts at once.
must debs_repack "$DEBS_VERSION+2"
run -t 120 install_packages "$DEBS_VERSION+2"
is "$rc $(prop agent NeedDaemonReload)" "0 no" \
	"without tasks an upgrade reloads systemd"

# ---- remove and purge ----------------------------------------------------

run box dpkg -r regatta-agent regatta-controller
is "$rc" 0 "the services' packages are removed"
is "$(prop agent ActiveState) $(prop controller ActiveState)" \
	"inactive inactive" "with their services"
ok 'box test -e /etc/regatta/controller.key -a -e /etc/regatta/policy.yaml' \
	"keys and settings stay"
run -t 60 install_packages "$DEBS_VERSION"
wait_for "[[ \$(cli nodes --format json |
	jq -r '.nodes[0].state') == up ]]" 20
is "$(cli nodes --format json | jq -r '.nodes[0].state')" up \
	"installed again, the node is back"
is "$(cli sweeps --format json | jq '.sweeps | length')" 1 \
	"and so are the sweeps"
# The test's own.
box rm -r /etc/regatta/controller.public \
	/etc/systemd/system/regatta-agent.service.d
run box dpkg -P regatta-agent regatta-controller regatta regatta-data
is "$rc" 0 "all is purged"
like "$err" "Results and logs stay in /var/lib/regatta-controller" \
	"but for results, and that is told"
is "$(box sh -c 'find / -xdev -path /proc -prune -o -path "/var/lib/dpkg/*" -prune \
	-o -path /var/lib/regatta-controller -prune -o -path /var/log -prune \
	-o -name "*regatta*" -print')" "" "and nothing else is left"
done_testing
