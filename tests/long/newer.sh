# newer.sh - the engines of a newer system, for whole tests; after lib.sh.
# shellcheck shell=bash disable=SC2153,SC2154 # rc, out and ROOT are of lib.sh
#
#	newer_need		programs
#	newer_there		are they in build/engines?
#	newer_up		start them
#	newer_engines		Docker and Podman of Debian's newest suite, ready; skips
#				the test where its archive is out of reach
#	again TEST [NAME=VALUE...]	TEST.t on these engines, as a test of ours
#	here TEST [NAME=VALUE...]	the same on the engines of this machine
#	attacks COMMAND [NAME=VALUE...]	all of tests/attack by one of the two
#
# build/engines keeps the system that they come from, for the next time: remove
# it for a newer one. They run in a mount namespace with that system as root, and
# with this tree and the folder of the tests as they are here.

root=$ROOT/build/engines/root
shared=$BED/s
bin=$shared/bin

newer_there()
{
	[[ -x $root/usr/sbin/dockerd ]]
}

newer_make()
{
	local part options=() mirror

	newer_there && return
	rm -rf "$root"
	mkdir -p "${root%/*}"
	# The machine's own way to its packages is the new system's, too.
	for part in /etc/apt/apt.conf.d/*; do
		grep -q Acquire "$part" && options+=(--aptopt="$part")
	done
	mirror=$(grep -rhoE 'https?://[^ ]*/debian/?( |$)' \
		/etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
		head -1)
	mmdebstrap --quiet --variant=minbase --mode=root "${options[@]}" \
		--include=docker.io,containerd,runc,iptables,podman,crun \
		--customize-hook='rm -rf $1/var/cache/apt $1/var/lib/apt/lists' \
		sid "$root" ${mirror:+"deb $mirror sid main"}
}

# NAME PROGRAM: a command that runs it there
newer_command()
{
	cat >"$bin/$1" <<-END
		#!/bin/sh
		exec nsenter --mount=/proc/$(pid_of inside)/ns/mnt -- \\
			env PATH=/usr/sbin:/usr/bin:/sbin:/bin $2 "\$@"
	END
	chmod +x "$bin/$1"
}

newer_up()
{
	mkdir -p "$bin" "$root$shared" "$root$ROOT" "$root"/{old,run} &&
		mount --bind "$shared" "$shared" &&
		mount --make-shared "$shared" || return 1
	# shellcheck disable=SC2016 # for the shell inside
	spawn inside unshare --mount --propagation slave bash -c '
		mount --bind "$1" "$1" && mount --rbind "$2" "$1$2" &&
		mount --rbind "$3" "$1$3" || exit
		for folder in dev proc sys; do
			mount --rbind "/$folder" "$1/$folder" || exit
		done
		mount -t tmpfs tmpfs "$1/run" && cd "$1" &&
		pivot_root . old && umount -l /old && echo inside &&
		exec sleep infinity' - "$root" "$ROOT" "$shared"
	wait_for 'log_of inside | finds inside || ! alive inside' 20
	alive inside || return 1
	newer_command dockerd /usr/sbin/dockerd
	newer_command containerd /usr/bin/containerd
	newer_command podman /usr/bin/podman
}

# A test that skips itself says why. One that ends well has no failure among its lines.
here()
{
	local words=("${@:2}" "$1.t")

	run -t "${AGAIN_LIMIT:-400}" env -u BED_WATCHED "${@:2}" \
		"$ROOT/tests/$1.t"
	if ((rc)) || finds '^not ok' <<<"$out"; then
		tap 1 "${words[*]} ended with $rc"
		diag "$(grep -v '^ok' <<<"$out")"
	elif [[ $out == *1..0* ]]; then
		tap 0 "${words[*]}: ${out#*# }"
	elif [[ $out == *1..* ]]; then
		tap 0 "${words[*]}, $(grep -c ^ok <<<"$out") tests"
	else
		tap 1 "${words[*]} has no plan"
		diag "$out"
	fi
}

again()
{
	TMPDIR=$shared PATH=$bin:$PATH here "$@"
}

newer_need()
{
	need_root
	need mmdebstrap unshare nsenter
}

newer_engines()
{
	newer_make || skip_all "the archive of Debian is out of reach"
	must newer_up
	diag "$("$bin/dockerd" --version), $("$bin/podman" --version)"
}

attacks()
{
	local file name

	AGAIN_LIMIT=2000
	for file in "$ROOT"/tests/attack/*.t; do
		name=${file##*/}
		if grep -qE 'cluster_up|engine_up' "$file"; then
			# No engine changes how a folder is made.
			"$1" "attack/${name%.t}" RACES=50 "${@:2}"
		else
			diag "$name uses no engine"
		fi
	done
}
