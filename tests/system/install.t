#!/bin/bash
# install.t - an ordinary user installs Regatta; nothing is compiled for that,
# and the same programs find their parts wherever they lie.
if ((EUID == 0)) && [[ ! ${INSTALL_ALONE-} ]]; then
	exec env INSTALL_ALONE=1 unshare -n -m "$0" "$@"
fi
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
# shellcheck source=tests/lab/users.sh
. "$ROOT/tests/lab/users.sh"
need docker dockerd containerd setpriv make jq "$REGATTA_BUILD"/regatta

must ip link set lo up
must users_up sailor
# A tree that nobody can write into.
must mkdir "$BED/tree"
must mount --bind "$ROOT" "$BED/tree"
must mount -o remount,bind,ro "$BED/tree"
build=$BED/tree${REGATTA_BUILD#"$ROOT"}
home=$BED/sailor
# Not the settings of the test bed: those of the installation.
unset REGATTA_AGENT_CONFIG REGATTA_AGENT_POLICY REGATTA_CONTROLLER_CONFIG

# finds_its_own PREFIX SETTINGS: what the programs there take for theirs
finds_its_own()
{
	run as sailor "$1/sbin/regatta-agent" --help
	is "$(grep -o '(/.*/[a-z.-]*)' "$BED/out" | xargs)" \
		"($2/agent.yaml) (/var/lib/regatta-agent) ($2/policy.yaml) \
($1/lib/regatta/images) \
($2/registry.json) ($1/lib/regatta/regatta-init)" \
		"in $1 the agent finds parts and settings"
	run as sailor "$1/sbin/regatta-controller" --help
	is "$(grep -o '(/.*/[a-z.-]*)' "$BED/out" | xargs)" \
		"($2/controller.yaml) (/var/lib/regatta-controller) \
($1/lib/regatta/images)" "and so does the controller"
	run as sailor "$1/bin/regatta" vendors
	is "$rc" 0 "and the command line: $err"
}

run as sailor make -s -C "$BED/tree" BUILD="$build" PREFIX="$home/x" install
is "$rc" 0 "an ordinary user installs, and nothing is compiled: $err"
is "$(find "$home/x" -not -user sailor)" "" "all of it is the user's"
finds_its_own "$home/x" "$home/x/etc/regatta"
ok 'grep -q "=$home/x/sbin/" "$home/x/lib/systemd/system/regatta-agent.service"' \
	"its units name its programs"
must as sailor mkdir -p "$home/x/etc/regatta"
echo 'module load everything' >"$home/x/etc/regatta/slurm.sh"
must as sailor mv "$home/x" "$home/elsewhere"
finds_its_own "$home/elsewhere" "$home/elsewhere/etc/regatta"

must engine_up one
chmod 755 "$BED" "$BED/engines" "$BED/engines/one"
chown sailor "$BED/engines/one/docker.sock"
printf '%s\n' 'sweep: one' 'framework: cpu' 'steps: 5' >"$home/one.yaml"
run as sailor env DOCKER_HOST="$(engine_host one)" \
	"$home/elsewhere/bin/regatta" run one.yaml --state one
is "$rc $(jq -c '[.rows[].state]' "$home/one/report.json")" \
	'0 ["completed"]' "it runs a sweep"
((rc == 0)) || diag "$out" "$err"
run as sailor "$home/elsewhere/bin/regatta" slurm --print one.yaml
like "$rc $out" "^0 .*module load everything" \
	"its site's lines are among its settings"
must as sailor make -s -C "$BED/tree" BUILD="$build" \
	PREFIX="$home/elsewhere" uninstall
is "$(find "$home/elsewhere" -type f)" \
	"$home/elsewhere/etc/regatta/slurm.sh" \
	"uninstall leaves the user's settings alone"

# For the whole machine, as root and as packages do it.
for prefix in /usr/local /usr; do
	must make -s -C "$BED/tree" BUILD="$build" DESTDIR="$BED/root" \
		PREFIX=$prefix install >"$BED/install.log" 2>&1
done
ok 'cmp "$BED/root/usr/bin/regatta" "$BED/root/usr/local/bin/regatta"' \
	"the programs are the same for every place"
must mount --bind "$BED/root/usr/local" /usr/local
finds_its_own /usr/local /etc/regatta
done_testing
