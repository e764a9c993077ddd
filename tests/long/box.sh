# box.sh - machines of a test's own that boot systemd; after lib.sh.
# shellcheck shell=bash
#
# A box is a system container: systemd is PID 1, and host name, network, cgroups
# and disk are its own. The engine `boxes` runs all of them. One that is made
# with BOX_ENGINE=yes may also run an engine of its own, under its systemd.
#
#	boxes_need		programs, and cgroups that can be shared out
#	debs_build		sets $DEBS, where the packages of this tree are
#	root_of FILE PACKAGES	a tar of a clean Debian, made when it is missing,
#				with systemd, what our packages depend on, and
#				more packages, separated by commas
#	debian_root FILE PACKAGES [SUITE]	the same without what ours depend on,
#				of this machine's suite or that
#	ubuntu_root FILE PACKAGES	that of Ubuntu 22.04; skips the test where
#				Ubuntu's archive is out of reach
#	boxes_up FILE		the engine, with that root as image
#	box_new NAME [ARGUMENT...]	made and booted; more for docker run
#	box_boot NAME		booted again; box_halt shuts it down in order,
#				box_cut pulls its plug
#	box_switch		a switch, before box_wire
#	box_wire NAME ADDRESS	its eth0, until it is halted or cut
#	on NAME COMMAND...	a command on that box, at most 300 s
#	box_debs FOLDER VERSION	copies the packages of that version there
#	debs_repack VERSION	makes them another version, with a line more in
#				the units

DEBS=$ROOT/build/deb
DEBS_VERSION=$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")
BOX_ENGINE=no
BOX_PACKAGES=apt,systemd-sysv,dbus # in every root
UBUNTU=http://archive.ubuntu.com/ubuntu
# "Ubuntu Archive Automatic Signing Key (2018)", in Ubuntu's words.
UBUNTU_KEY=F6ECB3762474EDA9D21B7022871920D1991BC93C

boxes_need()
{
	need mmdebstrap dpkg-deb dpkg-buildpackage docker jq
	[[ -d /sys/fs/cgroup/systemd ]] ||
		skip_all "needs cgroups of version 1"
}

debs_build()
{
	run -t 900 make -s -C "$ROOT" deb
}

# The libraries and programs that packages need, other than each other.
debs_depend() # PACKAGE...
{
	local file

	for file; do
		dpkg-deb -f "$file" Depends Pre-Depends
	done | tr ',' '\n' | sed 's/[|(].*//; s/.*: //; s/ //g' |
		grep -v -e '^regatta' -e '^$' | sort -u | paste -sd,
}

root_make() # FILE PACKAGES SUITE SOURCE... (- is standard input)
{
	local file=$1 packages=$2 part options=()

	shift 2
	# The machine's own way to its packages is the new system's, too.
	for part in /etc/apt/apt.conf.d/*; do
		grep -q Acquire "$part" && options+=(--aptopt="$part")
	done
	mmdebstrap --quiet --variant=minbase --mode=root "${options[@]}" \
		--include="$BOX_PACKAGES${packages:+,$packages}" \
		--customize-hook='rm -rf $1/var/cache/apt $1/var/lib/apt/lists' \
		"$1" "${file%.tar}.new.tar" "${@:2}" &&
		mv "${file%.tar}.new.tar" "$file"
}

debian_root()
{
	local sources=(/etc/apt/sources.list.d/*.sources /etc/apt/sources.list) own

	[[ ! -s $1 ]] || return 0
	mkdir -p "$(dirname "$1")"
	# shellcheck disable=SC1091
	own=$(. /etc/os-release && echo "$VERSION_CODENAME")
	root_make "$1" "$2" "${3:-$own}" - \
		< <(cat "${sources[@]}" 2>/dev/null | sed "s/\\<$own\\>/${3:-$own}/g")
}

root_of()
{
	local depends

	[[ -s $1 ]] || depends=$(debs_depend "$DEBS"/*_"$DEBS_VERSION"_*.deb)
	debian_root "$1" "${depends-}${2:+,$2}"
}

# A keyring of that key alone, from the archive that it vouches for.
ubuntu_keyring() # FILE
{
	local package

	need gpg curl
	package=$(curl -sf -m 60 "$UBUNTU/dists/jammy/main/binary-amd64/Packages.xz" |
		xz -d | awk '/^Package: / { found = $2 == "ubuntu-keyring" }
			found && /^Filename: / { print $2; exit }')
	mkdir -m 700 "$BED/gnupg"
	curl -sf -m 60 -o "$BED/keyring.deb" "$UBUNTU/$package" &&
		dpkg-deb -x "$BED/keyring.deb" "$BED/keyring" &&
		gpg --homedir "$BED/gnupg" --no-default-keyring --keyring \
			"$BED/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" \
			--export "$UBUNTU_KEY" >"$1" &&
		[[ -s $1 ]]
}

ubuntu_root()
{
	local suite sources=() key

	[[ ! -s $1 ]] || return 0
	curl -sfI -m 20 "$UBUNTU/dists/jammy/InRelease" >/dev/null ||
		skip_all "$UBUNTU is out of reach"
	key=$(dirname "$1")/archive.gpg
	mkdir -p "$(dirname "$1")"
	[[ -s $key ]] || ubuntu_keyring "$key" || return 1
	for suite in jammy jammy-updates; do
		sources+=("deb [signed-by=$key] $UBUNTU $suite main universe")
	done
	root_make "$1" "$2" jammy "${sources[@]}"
}

boxes_up()
{
	engine_up boxes && dk boxes import "$1" regatta-test/box:1 >/dev/null
}

# What an engine in a box needs beside its cgroups, which Docker mounts for
# reading only.
box_abilities()
{
	local name

	for name in SYS_ADMIN $([[ $BOX_ENGINE != yes ]] ||
		echo NET_ADMIN SYS_PTRACE SYS_RAWIO SYS_NICE IPC_LOCK SYSLOG); do
		echo "--cap-add=$name"
	done
	[[ $BOX_ENGINE != yes ]] ||
		echo "--security-opt=systempaths=unconfined"
}

box_new()
{
	local name=$1 more

	shift
	mapfile -t more < <(box_abilities)
	# What an engine keeps cannot lie on a file system that one made.
	if [[ $BOX_ENGINE == yes ]]; then
		mkdir -p "$BED/box/$name/"{docker,containerd}
		more+=(-v "$BED/box/$name/docker:/var/lib/docker"
			-v "$BED/box/$name/containerd:/var/lib/containerd")
	fi
	dk boxes run -d --name "$name" --hostname "$name" --network none \
		--stop-signal SIGRTMIN+3 --stop-timeout 30 -e container=docker \
		--tmpfs /run --tmpfs /run/lock --tmpfs /tmp \
		--cgroupns private --security-opt seccomp=unconfined \
		"${more[@]}" "$@" regatta-test/box:1 sh -c '
			mount -o remount,rw /sys/fs/cgroup
			for group in /sys/fs/cgroup/*; do
				[ -L "$group" ] ||
					mount -o remount,rw,bind "$group"
			done
			exec /sbin/init' >/dev/null && box_runs "$name"
}

box_runs()
{
	wait_for "[[ \$(on $1 systemctl is-system-running) =~ \
		^(running|degraded)$ ]]" 60
}

box_boot()
{
	dk boxes start "$1" >/dev/null && box_runs "$1"
}

box_halt()
{
	dk boxes stop "$1" >/dev/null
}

box_cut()
{
	dk boxes kill "$1" >/dev/null
}

box_switch()
{
	local switch

	switch=$(switch_netns)
	ip netns add "$switch" &&
		ip -n "$switch" link set lo up &&
		ip -n "$switch" link add bridge0 type bridge &&
		ip -n "$switch" link set bridge0 up
}

box_wire()
{
	local pid switch

	switch=$(switch_netns)
	# Where a machine was cut its wire may still hang: the kernel takes a
	# network of the dead down in its own time.
	ip -n "$switch" link delete "$1" 2>/dev/null
	pid=$(dk boxes inspect -f '{{.State.Pid}}' "$1") &&
		ip -n "$switch" link add "$1" type veth \
			peer name eth0 netns "$pid" &&
		ip -n "$switch" link set "$1" master bridge0 up &&
		nsenter --net="/proc/$pid/ns/net" \
			ip address add "$2/24" dev eth0 &&
		nsenter --net="/proc/$pid/ns/net" ip link set eth0 up
}

on()
{
	timeout -k 5 300 docker -H "$(engine_host boxes)" exec -i "$@"
}

box_debs()
{
	local file

	mkdir -p "$1"
	rm -f "$1"/*.deb
	for file in "$DEBS"/*_"$2"_*.deb; do
		[[ $file == *dbgsym* ]] || cp "$file" "$1/" || return 1
	done
}

debs_repack()
{
	local file folder=$BED/repack unit

	for file in "$DEBS"/*_"$DEBS_VERSION"_*.deb; do
		[[ $file == *dbgsym* ]] && continue
		rm -rf "$folder"
		dpkg-deb -R "$file" "$folder"
		sed -i "s/$DEBS_VERSION\b/$1/" "$folder/DEBIAN/control"
		for unit in "$folder"/usr/lib/systemd/system/*.service; do
			[[ -e $unit ]] && echo "# $1" >>"$unit"
		done
		dpkg-deb --root-owner-group -b "$folder" \
			"${file/_${DEBS_VERSION}_/_$1_}" >/dev/null || return 1
	done
}
