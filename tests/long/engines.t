#!/bin/bash
# engines.t - the engines of newer systems: the same tests pass on the newest
# Docker of Debian with each of its image stores, and on its newest Podman.
#
# build/engines keeps the system that they come from, for the next time: remove
# it for a newer one. They run in a mount namespace with that system as root, and
# with this tree and the folder of the tests as they are here.
TEST_LIMIT=1750
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
need mmdebstrap unshare nsenter

root=$ROOT/build/engines/root
shared=$BED/s
bin=$shared/bin

newer_make()
{
	local part options=() mirror

	[[ ! -x $root/usr/sbin/dockerd ]] || return 0
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

# again TEST [NAME=VALUE...]: on these engines
again()
{
	run -t 400 env -u BED_WATCHED TMPDIR="$shared" PATH="$bin:$PATH" \
		"${@:2}" "$ROOT/tests/$1.t"
	if ((rc == 0)) && [[ $out == *1..* ]]; then
		tap 0 "${*:2} $1.t, $(grep -c ^ok <<<"$out") tests"
	else
		tap 1 "${*:2} $1.t ended with $rc"
		diag "$(grep -v '^ok' <<<"$out")"
	fi
}

newer_make || skip_all "the archive of Debian is out of reach"
must newer_up
diag "$("$bin/dockerd" --version), $("$bin/podman" --version)"

again system/stores
for test in image image-gc image-pull images failures collect; do
	again "system/$test" CONTAINERD_STORE=1
done
for test in run gang; do
	again "system/$test" CONTAINERD_STORE=1
	again "system/$test" CONTAINERD_STORE=
	again "system/$test" TEST_ENGINE=podman
done
again system/cdi CDI_FOLDER="$root/etc/cdi"
again chaos/engine CONTAINERD_STORE=1
again attack/build CONTAINERD_STORE=1
again system/image CONTAINERD_STORE=
again system/failures TEST_ENGINE=podman
done_testing
