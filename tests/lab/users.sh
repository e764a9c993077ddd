# users.sh - ordinary users of a test's own, who run containers without root.
# shellcheck shell=bash
#
# To be read after lib.sh, inside a mount namespace of the test (unshare -m), in
# which the machine's lists of users are covered by copies with two more.
#
#	users_up NAME...	each gets a folder $BED/NAME, and $BED/opt has
#				the programs and their parts, for all to read
#	as NAME COMMAND...	in that folder, with neither DOCKER_HOST nor root;
#				for spawn: $BED/opt/as
#	processes_of NAME	one a line; what has ended already is none

# Of this run alone: another one counts its processes by its own user.
USERS_FIRST=$((60000 + BED_ID % 2500 * 2))

user_number()
{
	id -u "$1"
}

users_up()
{
	local file name number=$USERS_FIRST

	mkdir -p "$BED"/users "$BED"/opt/{bin,sbin,lib/regatta}
	for file in passwd group subuid subgid; do
		touch "/etc/$file" || return 1
		cp "/etc/$file" "$BED/users/$file"
	done
	for name; do
		echo "$name:x:$number:$number::$BED/$name:/bin/bash" \
			>>"$BED/users/passwd"
		echo "$name:x:$number:" >>"$BED/users/group"
		echo "$name:$((number * 65536)):65536" |
			tee -a "$BED/users/subuid" >>"$BED/users/subgid"
		number=$((number + 1))
	done
	for file in passwd group subuid subgid; do
		mount --bind "$BED/users/$file" "/etc/$file" || return 1
	done
	for name; do
		mkdir -p "$BED/$name"/{run,tmp}
		chown -R "$name:$name" "$BED/$name"
		chmod 700 "$BED/$name"
	done
	cp "$REGATTA_BUILD/regatta" "$BED/opt/bin"
	cp "$REGATTA_BUILD"/regatta-{agent,controller} "$BED/opt/sbin"
	cp "$REGATTA_BUILD/regatta-init" "$BED/opt/lib/regatta"
	cp -r "$REGATTA_BUILD/images" "$BED/opt/lib/regatta"
	cp "$REGATTA_BUILD/lab/tool" "$BED/opt/tool"
	{
		echo '#!/bin/bash'
		declare -p BED
		declare -f as
		echo 'as "$@"'
	} >"$BED/opt/as"
	chmod -R a+rX "$BED/opt"
	chmod 755 "$BED/opt/as"
}

as()
{
	local name=$1

	shift
	(
		cd "$BED/$name" || exit 1
		# Podman as the packages set it up, with what this kernel lets
		# it have: crun cannot be used where cgroups are of both versions.
		[[ ! -d /sys/fs/cgroup/unified ]] || [[ -e containers.conf ]] ||
			printf '[engine]\nruntime = "runc"\n' >containers.conf
		exec env -u DOCKER_HOST -u DOCKER_CONFIG -u XDG_CONFIG_HOME HOME="$BED/$name" \
			XDG_RUNTIME_DIR="$BED/$name/run" USER="$name" \
			TMPDIR="$BED/$name/tmp" \
			CONTAINERS_CONF="$BED/$name/containers.conf" \
			PATH="$BED/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
			setpriv --reuid "$name" --regid "$name" --clear-groups "$@"
	)
}

processes_of()
{
	ps -o pid=,stat=,args= -u "$(user_number "$1")" |
		awk '$2 !~ /^Z/ { print }'
}
