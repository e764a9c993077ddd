#!/bin/bash
# units.t - the services' units are sound and confined, as far as a machine
# without systemd as PID 1 can tell.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need systemd-analyze regatta-agent

must make -s -C "$ROOT" BUILD="$REGATTA_BUILD" DESTDIR="$BED/root" \
	install >"$BED/install.log" 2>&1
units=$BED/root/usr/local/lib/systemd/system
install -D /bin/true "$BED/root/bin/sh"
for unit in controller agent; do
	run systemd-analyze verify --man=no --root="$BED/root" \
		"regatta-$unit.service"
	# Of a tree that has no other units than ours.
	is "$(grep -i "regatta-$unit" <<<"$err" | grep -v 'not found')" "" \
		"systemd finds nothing wrong with the unit of the $unit"
done

# exposure UNIT MOST: ten times the number that systemd gives, at most
exposure()
{
	run systemd-analyze security --offline=true --threshold="$2" \
		"$units/regatta-$1.service"
	is "$rc" 0 "the $1's exposure is $(tail -1 <<<"$out")"
}

# Of systemd 250 and later.
if systemd-analyze --help | finds -e --offline; then
	exposure controller 20
	exposure agent 50
fi
like "$(<"$units/regatta-agent.service")" 'KillMode=mixed' \
	"stopping the agent ends what it started itself, and no container"

# What the packages install as settings is good.
run regatta check config "$ROOT"/deploy/systemd/*.yaml
is "$rc" 0 "the settings and the policy that come with packages are good $err"
ok '[[ -s $BED/root/usr/local/share/bash-completion/completions/regatta ]]' \
	"completion is installed"
rm "$BED/root/bin/sh"
must make -s -C "$ROOT" BUILD="$REGATTA_BUILD" DESTDIR="$BED/root" \
	uninstall >"$BED/install.log" 2>&1
is "$(find "$BED/root" -type f)" "" "uninstall leaves no file"
done_testing
