#!/bin/bash
# readme.t - the command blocks of README.md, and then of regatta-tutorial(7),
# work, one after the other.
#
# All ```sh blocks, and those of the page without an offset, run in one shell, in a copy of the tree, with mounts and a
# network of their own: what `make install` writes to /usr/local, the engine's
# socket in /run and the ports are this test's.
if ((EUID == 0)) && [[ ! ${README_ALONE-} ]]; then
	exec env README_ALONE=1 unshare -mn "$0" "$@"
fi
# It builds nothing, but trains for a while.
: "${TEST_LIMIT:=500}"
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need docker dockerd containerd ip make gcc

tree=$BED/tree
blocks=$BED/blocks
must mkdir -p "$tree" "$blocks" "$BED"/{upper,work,shims,home}
must ip link set lo up
must mount -t overlay -o "lowerdir=/usr/local,upperdir=$BED/upper" \
	-o "workdir=$BED/work" overlay /usr/local
must mount -t tmpfs run /run

must engine_up one
must ln -s "$BED/engines/one/docker.sock" /run/docker.sock

# The tree, and what is built of it, so that make has little to do.
tar -C "$ROOT" --exclude=./build --exclude=./.git -c . | tar -C "$tree" -x
tar -C "$REGATTA_BUILD" --exclude=./{asan,fuzz,tidy,bench,demo,tests} -c . |
	tar -C "$tree" --one-top-level=build -x

# Root needs no sudo; and the engine that is to be started runs already.
cat >"$BED/shims/sudo" <<-'END'
	#!/bin/sh
	exec "$@"
END
cat >"$BED/shims/systemctl" <<-'END'
	#!/bin/sh
	[ "$*" = "start docker" ]
END
chmod +x "$BED"/shims/*

# A test cannot run all tests; that it is the right word, make can say.
awk -v to="$blocks" '
	/^```sh$/ { file = sprintf("%s/%02d", to, ++n); next }
	/^```$/ { file = "" }
	file { sub(/^make check$/, "make -n check >/dev/null"); print >file }
' "$tree/README.md"
awk -v to="$blocks" '
	/^\.Bd -literal$/ { file = sprintf("%s/t%02d", to, ++n); next }
	/^\.Ed$/ { file = "" }
	file { gsub(/\\e/, "\\"); sub(/^\\&/, ""); print >file }
' "$tree/controller/cli/regatta-tutorial.7"

cat >"$BED/session" <<-'END'
	set -e
	for block in "$1"/*[0-9]; do
		. "$block"
		echo "$block" >>"$1/done"
	done
END

# Nothing of the bed's environment is what a newcomer has.
newcomer()
{
	cd "$tree" && env -i HOME="$BED/home" REGATTA_BED="$BED" TERM=dumb \
		PATH="$BED/shims:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
		timeout -k 5 400 bash "$BED/session" "$blocks" \
		>"$BED/session.out" 2>&1
}
(newcomer)
is $? 0 "the commands of the README run from the first to the last"
for block in "$blocks"/*[0-9]; do
	ok 'grep -qx "$block" "$blocks/done"' \
		"block ${block##*/}: $(head -1 "$block")"
done
((tap_failed == 0)) || diag "$(tail -40 "$BED/session.out")"

# The Chinese page has the same commands, whatever its comments say.
commands()
{
	awk '/^```/ { inside = !inside; next } inside || /^    /' "$1" |
		sed -E 's/ +#.*//'
}
is "$(commands "$ROOT/README.zh-CN.md")" "$(commands "$ROOT/README.md")" \
	"README.zh-CN.md has the commands of README.md"
ok '[[ -x /usr/local/bin/regatta && -x /usr/local/sbin/regatta-agent ]]' \
	"make install puts the programs below /usr/local"
is "$(cd /usr/local/share/man && echo man?/regatta*)" \
	"$(cd "$ROOT" && find agent controller -name 'regatta*.[1578]' |
		sed -E 's/.*\/(.*)\.(.)$/man\2\/\1.\2/' | sort | xargs)" \
	"and every manual page"
is "$(grep -c '| completed |' "$tree/build/demo/report.md")" 8 \
	"the demonstration completes its 8 cells"
is "$(grep -c '| completed |' "$tree/first/report.md")" 4 \
	"a sweep of one's own completes on one machine"
is "$(grep -c ',completed,' "$tree/second.csv")" 2 \
	"a sweep completes on two nodes"
# The last agent may be killed before it has removed the last container.
is "$(dk one ps -q)" "" "no container runs on"
done_testing
