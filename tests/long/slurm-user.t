#!/bin/bash
# slurm-user.t - ordinary users run sweeps as jobs of a real Slurm, each with
# Podman of the user's own; they see nothing of each other, and nothing is left.
: "${TEST_LIMIT:=500}"
SLURM_MOUNTS=1
# shellcheck source=tests/lab/slurm-test.sh
. "$(dirname "$0")/../lab/slurm-test.sh"
# shellcheck source=tests/lab/users.sh
. "$ROOT/tests/lab/users.sh"
need curl podman newuidmap setpriv

must slurm_network
must mkdir -p /var/run
[[ ! -e /var/run/docker.sock ]] || must mount --bind /dev/null /var/run/docker.sock
must users_up sailor diver
cd "$BED" || exit 1
run as sailor unshare -U true
[[ $rc == 0 ]] || skip_all "this kernel gives users no namespaces: $err"
for user in sailor diver; do
	tar -C "$BED/opt" -c tool >"$BED/$user/tool.tar"
	run as "$user" podman import tool.tar regatta-test/tool:1
	[[ $rc == 0 ]] || skip_all "rootless Podman does not work here: $err"
	pkill -9 -u "$user"
	mkdir "$BED/$user/host"
	cat >"$BED/$user/good.yaml" <<-END
		sweep: good
		vendor: cpu
		framework: cpu
		image: regatta-test/tool:1
		mounts: [{host: $BED/$user/host, container: /host}]
		command: [/tool, steps, "20", "5", ",", touch, "/host/\${nodes}-$user"]
		matrix: {nodes: [1, 2]}
	END
	sed 's/^sweep: .*/sweep: slow/; /^command/d; /^matrix/d; /^framework/d' \
		"$BED/$user/good.yaml" >"$BED/$user/slow.yaml"
	printf '%s\n' 'shared: true' \
		'command: [/tool, touch, /host/here, ",", wait, /host/go]' \
		>>"$BED/$user/slow.yaml"
	chown -R "$user" "$BED/$user"
done
# The nodes' folder for temporary files is everybody's.
mkdir -m 1777 "$BED/tmp"
must slurm_up a1 a2
trap 'bed_exit slurm_down' EXIT

# submit USER FOLDER WORDS...: the number of the job in $job
submit()
{
	local user=$1 folder=$2
	shift 2
	# What a login made is not there on the nodes of a job.
	run as "$user" env TMPDIR="$BED/tmp" XDG_RUNTIME_DIR="$BED/gone" \
		regatta slurm --state "$BED/$user/$folder" "$@"
	job=${out##* }
	[[ $rc == 0 && $job =~ ^[0-9]+$ ]] || die "submit: $out $err"
}
over()
{
	wait_for "[[ \$(slurm_state $job) =~ ^($1)\$ ]]" 60
}
nothing()
{
	wait_for '[[ ! $(processes_of '"$1"') ]]' 20
	is "$(processes_of "$1")" "" "$3: no process of the user is left"
	# Podman's own, which the user's next one uses again.
	is "$(find "$BED/tmp" -mindepth 1 -maxdepth 1 -user "$1" ! -name \
		'podman-run-*' ! -name 'containers-user-*')" "" \
		"nor a file on a node"
	is "$(find "$BED/$1/$2" -not -user "$1")" "" \
		"and all that was written is the user's"
	run as "$1" podman ps -aq
	is "$rc $out" "0 " "no container is left"
	pkill -9 -u "$1"
}

submit sailor good good.yaml -- -t 5
must over 'COMPLETED|FAILED'
is "$(slurm_state "$job") $(jq -c '[.rows[].state]' sailor/good/report.json)" \
	'COMPLETED ["completed","completed"]' \
	"a sweep over two nodes runs as a user's job" ||
	diag "$(tail -n 30 sailor/good/slurm.log sailor/good/agent.log)"
like "$(jq -r '.rows[0].provenance.engine' sailor/good/report.json)" Podman \
	"with Podman of the user's own"
is "$(cd sailor/host && stat -c '%U %n' ./* | xargs)" \
	"sailor ./1-sailor sailor ./2-sailor" "what root of a container writes, too"
is "$(find sailor/good/keys -type f -perm /077)" "" "keys are their owner's"
if [[ $(stat -fc %T /sys/fs/cgroup) == cgroup2fs ]]; then
	ok true "cgroups of version 2: what is delegated differs # SKIP"
else
	like "$(cat sailor/good/agent.log)" "cannot limit memory" \
		"that there are no limits is said"
fi
nothing sailor good "after a sweep"

# Two users on the same two nodes at once.
submit sailor slow slow.yaml -- -t 5
first=$job
submit diver slow slow.yaml -- -t 5
second=$job
must wait_for '[[ -e sailor/host/here && -e diver/host/here ]]' 60
mapfile -t private < <(find "$BED/tmp" -mindepth 1 -maxdepth 1 -user sailor
	echo "$BED/sailor/slow")
ok '((${#private[@]} > 1))' "the agent of one has a folder on the node"
run as diver ls "${private[@]}"
is "$out" "" "the other one cannot look into it, nor into the run"
run as diver cat "$BED/sailor/slow/keys/operator.key"
is "$out" "" "nor read keys"
socket=$(find "$BED/tmp" -name engine.sock -user sailor | head -n 1)
ok '[[ -S $socket ]]' "there is an engine's socket"
run as sailor curl -s --unix-socket "$socket" http://d/_ping
is "$out" OK "which answers its user"
run as diver curl -s --unix-socket "$socket" http://d/_ping
is "$out" "" "and nobody else"
run as diver regatta jobs --state "$BED/sailor/slow"
is "$rc" 2 "nor does the controller"
# One ends, the other is cancelled.
touch sailor/host/go
job=$first
must over 'COMPLETED|FAILED'
is "$(slurm_state "$first")" COMPLETED "one user's job ends"
is "$(slurm_state "$second")" RUNNING "that of the other runs on"
nothing sailor slow "after that"
must as diver scancel "$second"
job=$second
must over 'CANCELLED|COMPLETED|FAILED'
nothing diver slow "after scancel"

slurm_down
done_testing
