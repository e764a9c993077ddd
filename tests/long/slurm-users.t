#!/bin/bash
# slurm-users.t - two ordinary users at once on one node of a real Slurm: neither
# sees sockets, keys or files of the other.
SLURM_MOUNTS=1
# shellcheck source=tests/lab/slurm-test.sh
. "$(dirname "$0")/../lab/slurm-test.sh"
# shellcheck source=tests/lab/users.sh
. "$ROOT/tests/lab/users.sh"
need docker dockerd containerd setpriv
must slurm_bed
must users_up ada bob
must slurm_up a1
# Both may use the machine's engine; all else is each one's own.
must chmod 666 "${DOCKER_HOST#unix://}"
must chmod 1777 "$BED/nodes" "$BED/host"

# person NAME COMMAND...
person()
{
	local name=$1
	shift
	(cd "$BED/$name" && exec env HOME="$BED/$name" USER="$name" \
		PATH="$BED/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
		setpriv --reuid "$name" --regid "$name" --clear-groups "$@")
}
for name in ada bob; do
	cat >"$name/sweep.yaml" <<-END
	sweep: $name
	vendor: cpu
	shared: true
	cpus: 2
	memory: 64MiB
	image: regatta-test/tool:1
	mounts: [{host: $BED/host, container: /host}]
	command: [/tool, steps, "20", "5", ",", wait, "/host/\${go}"]
	matrix: {go: [go]}
	END
	chmod 644 "$name/sweep.yaml"
	run person "$name" regatta slurm --state run1 sweep.yaml -- -t 10 -w a1
	is "$rc" 0 "$name submits a sweep: $err"
done
must wait_for '[[ $(dk one ps -q | wc -l) == 2 ]]' 60
is "$(squeue -h -o "%u %N %t" | sort | xargs)" "ada a1 R bob a1 R" \
	"both run on one node"

# seen_by NAME OTHER: what one can read of the other, on the node too
seen_by()
{
	person "$1" find "$BED/$2" "$BED/nodes" -user "$2" \
		\( -readable -o -writable \) ! -type l 2>/dev/null |
		grep -vxF "$BED/$2"
}
is "$(seen_by ada bob)$(seen_by bob ada)" "" \
	"neither can read or write files of the other"
is "$(find "$BED"/{ada,bob}/run1/keys -name '*.key' -perm /077)" "" \
	"keys are their owner's"
like "$(find "$BED"/{ada,bob}/run1 -maxdepth 0 -printf '%m ')" "^700 700 $" \
	"as are the folders"
run person ada regatta jobs --state "$BED/bob/run1"
ok '((rc != 0))' "a run of another cannot be asked: $err"
sed -n 's/^secret: "\(.*\)"$/\1/p' "$BED"/{ada,bob}/run1/keys/*.key >secrets
ok '(($(wc -l <secrets) >= 8))' "there are secret keys"
is "$(grep -lFf secrets /proc/[0-9]*/{cmdline,environ} 2>/dev/null)" "" \
	"which no arguments and no environment tell"
is "$(find /tmp -maxdepth 1 -user ada -o -maxdepth 1 -user bob)" "" \
	"nothing lies openly in /tmp"

touch host/go
for name in ada bob; do
	must wait_for "[[ -e $name/run1/outcome ]]" 60
	is "$(cat "$name/run1/outcome")" 0 "$name's sweep completes"
done
must wait_for '[[ ! $(squeue -h) ]]' 60
must wait_for '[[ ! $(processes_of ada)$(processes_of bob) ]]' 30
is "$(containers one)$(ls -A "$BED/nodes")" "" "nothing is left on the node"

slurm_down
done_testing
