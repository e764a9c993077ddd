#!/bin/bash
# services.t - a controller and two nodes, each a machine with systemd, network
# and engine of its own, set up as the README says: work, hang, restart, shut
# down, upgrade and go.
TEST_LIMIT=1500
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/box.sh
. "$(dirname "$0")/box.sh"
need_root
boxes_need
need ip "$REGATTA_BUILD/lab/tool"

address=10.77.0.10 # of the box `controller`; n1 and n2 follow
shared=$BED/shared # the tree as the README has it, in all boxes
BOX_ENGINE=yes

run -t 900 debs_build
[[ $rc == 0 ]] || die "no packages: $err"
must root_of "$DEBS/node.tar" iproute2,docker.io,iptables,kmod
must box_debs "$shared/build/deb" "$DEBS_VERSION"
must boxes_up "$DEBS/node.tar"
must box_switch
for box in controller n1 n2; do
	must box_new "$box" -v "$shared:/tree"
	must box_wire "$box" "$address"
	address=${address%.*}.$((${address##*.} + 1))
	# Root needs no sudo.
	printf '#!/bin/sh\nexec "$@"\n' | on "$box" sh -c '
		cat >/usr/local/bin/sudo && chmod +x /usr/local/bin/sudo'
done
on controller useradd -m ann

# ---- as the README says --------------------------------------------------

# The console blocks of the README about a cluster: the controller, a node. Then
# those of regatta-tutorial(7) about services: from the second token on.
mkdir -p "$BED/blocks"
sed -n '/^## A cluster/,/^The same sweep file/p' "$ROOT/README.md" |
	awk -v to="$BED/blocks" '
	/^```console$/ { file = to "/readme" ++n; next }
	/^```$/ { file = "" }
	file { sub(/^make deb$/, ""); print >file }'
awk -v to="$BED/blocks" '
	/^\.Sh / { here = /SYSTEMD SERVICES/ }
	!here { next }
	/^\.Bd -literal/ { file = to "/tutorial" ++n; next }
	/^\.Ed$/ { file = "" }
	file { gsub(/\\e/, "\\"); print >file }' \
	"$ROOT/controller/cli/regatta-tutorial.7"
is "$(cd "$BED/blocks" && echo *)" "readme1 readme2 tutorial1 tutorial2 \
tutorial3 tutorial4 tutorial5 tutorial6" \
	"the README and the tutorial tell in steps how services are set up"

# step N TOKEN BOX...: what it says there, on that box
step()
{
	local number=$1 token=$2

	shift 2
	sed -e "s|THE-CONTROLLER|10.77.0.10|; s|TOKEN|$token|" \
		"$BED/blocks/$number" >"$BED/step"
	run on_step "$@"
	is "$rc" 0 "$number does on ${*: -1}"
	[[ $rc == 0 ]] || diag "$out" "$err"
}
on_step()
{
	on -w /tree -e DEBIAN_FRONTEND=noninteractive "$@" \
		sh -e -s <"$BED/step"
}
# The journal is not to be paged, and apt not to ask.
for box in controller n1 n2; do
	on "$box" sh -c 'echo "APT::Get::Assume-Yes yes;" \
		>/etc/apt/apt.conf.d/99yes'
done
step readme1 '' controller
node_token=$(sed -n '$p' <<<"$out")
step readme2 "$node_token" n1
step tutorial3 '' controller
node_token=$(sed -n 1p <<<"$out") ann_token=$(sed -n 2p <<<"$out")
step tutorial4 "$node_token" n2
step tutorial5 "$ann_token" -e HOME=/home/ann -u ann controller
like "$out" "n1 +up" "and she sees the nodes"
step tutorial6 '' n1

ann()
{
	on -u ann -e HOME=/home/ann controller regatta "$@"
}
node_states()
{
	ann nodes --format json | jq -r '[.nodes[] | .name + " " + .state] |
		sort | join(", ")'
}
must wait_for '[[ $(node_states) == "n1 up, n2 up" ]]' 20
is "$(ann nodes --format json | jq -r '.nodes[] | .name + " " + .address' |
	sort | xargs)" "n1 10.77.0.11 n2 10.77.0.12" \
	"each by the address of its own network"

# ---- modes and owners ----------------------------------------------------

modes()
{
	on "$1" sh -c 'find /etc/regatta /var/lib/regatta* \
		-maxdepth 1 -printf "%m %u:%g %p\n"; stat -c "%a %U:%G %n" \
		$(dpkg -L regatta regatta-data regatta-agent \
			regatta-controller 2>/dev/null | sort -u |
			grep -e bin/ -e lib/regatta/regatta-init \
			-e "regatta-.*\.service" -e "\.d/regatta.conf")' |
		sort -k 3
}
user=regatta-controller:regatta-controller
is "$(modes controller)" "$(sort -k 3 <<-END
	755 root:root /etc/regatta
	640 root:regatta-controller /etc/regatta/authorized
	600 $user /etc/regatta/controller.key
	644 root:root /etc/regatta/controller.yaml
	600 root:root /etc/regatta/operator.key
	600 root:root /etc/regatta/operator.yaml
	755 root:root /usr/bin/regatta
	755 root:root /usr/lib/regatta/regatta-init
	644 root:root /usr/lib/systemd/system/regatta-controller.service
	644 root:root /usr/lib/sysusers.d/regatta.conf
	644 root:root /usr/lib/tmpfiles.d/regatta.conf
	755 root:root /usr/sbin/regatta-controller
	700 $user /var/lib/regatta-controller
	700 $user /var/lib/regatta-controller/content
	700 $user /var/lib/regatta-controller/logs
	600 $user /var/lib/regatta-controller/regatta.db
	600 $user /var/lib/regatta-controller/regatta.db-shm
	600 $user /var/lib/regatta-controller/regatta.db-wal
	600 $user /var/lib/regatta-controller/regatta.lock
END
)" "modes and owners on the controller's machine are as meant"
is "$(modes n1)" "$(sort -k 3 <<-END
	755 root:root /etc/regatta
	600 root:root /etc/regatta/agent.key
	644 root:root /etc/regatta/agent.yaml
	644 root:root /etc/regatta/policy.yaml
	755 root:root /usr/bin/regatta
	755 root:root /usr/lib/regatta/regatta-init
	644 root:root /usr/lib/systemd/system/regatta-agent.service
	644 root:root /usr/lib/tmpfiles.d/regatta.conf
	755 root:root /usr/sbin/regatta-agent
	755 root:root /var/lib/regatta-agent
	700 root:root /var/lib/regatta-agent/content
	700 root:root /var/lib/regatta-agent/spool
END
)" "and on a node"
is "$(on -u ann controller stat -c '%a %U' /home/ann/.config/regatta \
	/home/ann/.config/regatta/key /home/ann/.config/regatta/config.yaml |
	xargs)" "700 ann 600 ann 644 ann" "and of a person"

# ---- a gang over both, and what befalls it -------------------------------

# The same image on both: two imports have two ids.
tar -C "$REGATTA_BUILD/lab" --owner=0 --group=0 -c tool |
	on n1 docker import - regatta-test/tool:1 >/dev/null
on n1 docker save regatta-test/tool:1 | on n2 docker load >/dev/null
for box in n1 n2; do
	# So that the test need not wait for a minute.
	on "$box" sh -c 'mkdir /etc/systemd/system/regatta-agent.service.d
		printf "[Service]\nWatchdogSec=3\n" \
			>/etc/systemd/system/regatta-agent.service.d/test.conf
		systemctl daemon-reload; systemctl restart regatta-agent'
done

# gang NAME: a job over both nodes, which begins and waits to be let go
gang()
{
	printf '%s\n' "sweep: $1" "image: regatta-test/tool:1" "nodes: 2" \
		'command: [/tool, print, "100000", ",", wait, /go]' |
		on -u ann -e HOME=/home/ann controller sh -c '
			cat >/home/ann/gang.yaml
			regatta submit /home/ann/gang.yaml --format json \
				2>/dev/null' |
		jq -r .sweep
}
job()
{
	ann show job "$1" --format json | jq -r ".job | $2"
}
# task BOX: the container there
task()
{
	on "$1" docker ps -q --no-trunc --filter label=regatta.job
}
# Of each node: the container, its first process, and when it began.
tasks()
{
	local box

	for box in n1 n2; do
		echo "$box $(on "$box" docker inspect -f \
			'{{.Id}} {{.State.Pid}} {{.State.StartedAt}}' \
			"$(task "$box")")"
	done
}
let_go()
{
	local box

	for box in n1 n2; do
		on "$box" docker exec "$(task "$box")" /tool touch /go
	done
}
pid()
{
	on "$1" systemctl show -P MainPID "regatta-$2"
}
is_up()
{
	[[ $(on "$1" systemctl show -P ActiveState "regatta-$2") == active ]]
}
# runs_on NAME: all is as it was with the gang, and who should know does
runs_on()
{
	wait_for '[[ $(node_states) == "n1 up, n2 up" &&
		$(job 1 .state) == running ]]' 30
	is "$(job 1 '"\(.state) \(.attempt)"') $(tasks)" \
		"running 1 $were" "$1"
}

is "$(gang first)" 1 "ann submits a sweep"
must wait_for '[[ $(job 1 .state) == running ]]' 60
is "$(job 1 '.allocation | sort | join(" ")')" "n1 n2" \
	"its job runs on both nodes"
were=$(tasks)

old=$(pid n1 agent)
on n1 sh -c "kill -STOP $old"
ok 'wait_for "[[ \$(pid n1 agent) != $old ]] && is_up n1 agent" 30' \
	"an agent that hangs is started again"
like "$(on n1 journalctl -u regatta-agent -o cat)" "atchdog timeout" \
	"by systemd's watchdog"
runs_on "the gang runs on"
like "$(on n1 journalctl -u regatta-agent -o cat REGATTA_JOB=1)" \
	"task adopted" "the new agent adopted its task"

old="$(pid controller controller) $(pid n1 agent) $(pid n2 agent)"
on n1 systemctl restart --no-block regatta-agent
on n2 systemctl restart --no-block regatta-agent
on controller systemctl restart --no-block regatta-controller
new_pids()
{
	[[ $(pid controller controller) != "$1" && $(pid n1 agent) != "$2" &&
		$(pid n2 agent) != "$3" ]] && is_up controller controller &&
		is_up n1 agent && is_up n2 agent
}
# shellcheck disable=SC2086 # three words
ok 'wait_for "new_pids $old" 60' "all services are restarted at once"
runs_on "and the gang runs on"

must debs_repack "$DEBS_VERSION+1"
must box_debs "$shared/build/deb" "$DEBS_VERSION+1"
for box in controller n1 n2; do
	run on "$box" sh -c 'cd /tree/build/deb
		for package in $(ls | sed "s/_.*//"); do
			[ -e /usr/share/doc/$package ] &&
				set -- "$@" ./"$package"_*.deb
		done
		apt-get install "$@"'
	is "$rc $(on "$box" dpkg-query -W -f '${Version}\n' 'regatta*' |
		sort -u | xargs)" "0 $DEBS_VERSION+1" "$box is upgraded meanwhile"
	[[ $rc == 0 ]] || diag "$out" "$err"
done
runs_on "and the gang runs on"
let_go
must wait_for '[[ $(job 1 .state) == completed ]]' 30
is "$(job 1 .attempt)" 1 "it completes in its first attempt"
"$REGATTA_BUILD/lab/tool" print 100000 >"$BED/want"
for rank in 0 1; do
	ann logs 1 --rank $rank >"$BED/got"
	ok 'cmp "$BED/want" "$BED/got"' \
		"and not a byte of rank $rank is missing or twice"
done
like "$(ann report 1)" "completed" "ann has a report of it"

# ---- a node goes down ----------------------------------------------------

# down HOW JOB: box n2 is gone and comes back while job JOB runs on both
down()
{
	how=$1 number=$2

	gang "$how" >/dev/null
	must wait_for '[[ $(job $number .state) == running ]]' 60
	"$how" n2
	must box_boot n2
	must box_wire n2 10.77.0.12
	ok 'wait_for "[[ \$(node_states) == \"n1 up, n2 up\" ]]" 60' \
		"$how: the node comes back by itself"
	ok 'wait_for "[[ \$(job $number .attempt) == 2 &&
		\$(job $number .state) == running ]]" 60' \
		"$how: the gang begins again, on both nodes"
	like "$(job "$number" '.events[] | select(.kind == "exception") |
		.data.failure + " " + .data.text')" "node-lost n2: " \
		"$how: since its task there was lost, which is told"
	let_go
	ok 'wait_for "[[ \$(job $number .state) == completed ]]" 30' \
		"$how: and completes"
	ok 'wait_for "[[ ! \$(on n2 docker ps -aq) ]]" 20' \
		"$how: nothing is left there"
}
down box_cut 2
down box_halt 3

# ---- and goes ------------------------------------------------------------

must ann node remove n2
run on n2 apt-get purge regatta-agent regatta regatta-data
is "$rc" 0 "all is purged from a node"
is "$(on n2 sh -c 'find / -xdev -path /proc -prune -o -path /sys -prune \
	-o -path "/var/lib/dpkg/*" -prune -o -path /var/log -prune \
	-o -path /etc/systemd/system/regatta-agent.service.d -prune \
	-o -name "*regatta*" -print')" "" "and nothing of it is left"
is "$(node_states)" "n1 up" "the controller has forgotten it"
done_testing
