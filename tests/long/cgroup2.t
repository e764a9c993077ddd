#!/bin/bash
# cgroup2.t - under a kernel whose cgroups are all of version 2, with systemd
# and an engine as users have them, limits of memory hold and are measured.
#
# Debian's own kernel runs in QEMU, without KVM, so all takes ten times longer
# than it should. Its disk is memory, and a script in there tells on the console
# what it found: a line "PROOF WORD VALUE" each.
TEST_LIMIT=1200
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/box.sh
. "$(dirname "$0")/box.sh"
need_root
need mmdebstrap dpkg-deb dpkg-buildpackage jq cpio "$REGATTA_BUILD/lab/tool"
command -v qemu-system-x86_64 >/dev/null || skip_all "needs qemu-system-x86_64"

guest=$BED/guest
kernel=$DEBS/kernel

# The kernel of the newest package of Debian's for virtual machines.
fetch_kernel()
{
	local name

	[[ ! -d $kernel ]] || return 0
	name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null |
		sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -1)
	[[ $name ]] || skip_all "no kernel linux-image-cloud-amd64 to be had"
	(
		mkdir -p "$DEBS" && cd "$BED" &&
			apt-get -q download "$name" >/dev/null 2>&1 &&
			dpkg-deb -x "$name"_*.deb "$BED/kernel" &&
			mv "$BED/kernel" "$kernel"
	)
}

make_guest()
{
	local units=$guest/etc/systemd/system name

	mkdir -p "$guest" &&
		tar -C "$guest" -xf "$DEBS/node.tar" \
			--exclude='./usr/share/doc/*' \
			--exclude='./usr/share/man/*' \
			--exclude='./usr/share/locale/*' &&
		box_debs "$guest/proof" "$DEBS_VERSION" || return 1
	chroot "$guest" sh -c 'dpkg -i /proof/*.deb' >"$BED/dpkg" 2>&1 || {
		diag "$(<"$BED/dpkg")"
		return 1
	}
	rm "$guest"/proof/*.deb
	cp "$REGATTA_BUILD/lab/tool" "$guest/proof/" &&
		cp "$(find "$kernel/lib/modules" -name overlay.ko)" \
			"$guest/proof/" || return 1
	mkdir "$units/docker.service.d"
	cat >"$units/docker.service.d/proof.conf" <<-'END'
		[Service]
		ExecStartPre=/sbin/insmod /proof/overlay.ko
		ExecStart=
		ExecStart=/usr/sbin/dockerd -H fd:// --bridge=none --iptables=false \
			--containerd=/run/containerd/containerd.sock
	END
	cat >"$units/proof.service" <<-'END'
		[Unit]
		Wants=docker.service
		After=docker.service regatta-controller.service
		[Service]
		Type=oneshot
		ExecStart=/proof/run
		ExecStopPost=/bin/systemctl poweroff --force --force
	END
	ln -s ../proof.service "$units/multi-user.target.wants/"
	# Nothing can be moved away from the first root, which engines do.
	cat >"$guest/init" <<-'END'
		#!/bin/sh
		mount -t tmpfs -o size=90% root /mnt
		cp -ax /. /mnt
		exec switch_root /mnt /sbin/init
	END
	cat >"$guest/proof/run" <<-'END'
		#!/bin/sh
		tell()
		{
			printf 'PROOF %s\n' "$*" >/dev/console
		}
		# work NAME BYTES: a job that takes so much memory
		work()
		{
			cat >"/proof/$1.yaml" <<-YAML
				sweep: $1
				image: regatta-test/tool:1
				memory: 64M
				framework: cpu
				model: gpt-nano
				batch: {micro: 1, accumulate: 1, sequence: 64}
				command: [/tool, eat, "$2", ",", steps, "20", "20"]
			YAML
			regatta submit "/proof/$1.yaml" --wait >/proof/words 2>&1
			tell "$1-exit" $?
			tell "$1-words" "$(tail -1 /proof/words)"
		}
		cd /proof
		tell cgroup "$(stat -fc %T /sys/fs/cgroup)"
		tar -c tool | docker import - regatta-test/tool:1 >/dev/null
		tell engine "$(docker info -f '{{.CgroupVersion}} {{.CgroupDriver}}')"
		regatta-agent join "$(regatta node token)" >/proof/words 2>&1
		tell join "$? $(tail -1 /proof/words)"
		work fits 40000000
		tell fits "$(regatta show job 1 --format json)"
		work bursts 200000000
		tell bursts "$(regatta show job 2 --format json)"
		tell restarts "$(systemctl show -P NRestarts regatta-agent \
			regatta-controller | tr -d '\n')"
	END
	chmod +x "$guest/init" "$guest/proof/run"
	(cd "$guest" && find . -xdev | cpio -o -H newc --quiet) >"$BED/disk"
}

boot_guest()
{
	timeout -k 5 600 qemu-system-x86_64 -accel tcg,thread=multi -smp 2 \
		-m 3072 -net none -nographic -no-reboot \
		-kernel "$kernel"/boot/vmlinuz-* -initrd "$BED/disk" \
		-append "console=ttyS0 rdinit=/init quiet panic=-1 apparmor=0 \
systemd.show_status=0" </dev/null >"$BED/console" 2>&1
}

told()
{
	tr -d '\r' <"$BED/console" | sed -n "s/^PROOF $1 //p"
}

fetch_kernel || die "the kernel is not to be had"
run -t 900 debs_build
[[ $rc == 0 ]] || die "no packages: $err"
must root_of "$DEBS/node.tar" iproute2,docker.io,iptables,kmod
must make_guest
SECONDS=0
boot_guest
diag "it ran for $SECONDS s"
is "$(told cgroup)" cgroup2fs "a machine with cgroups of version 2 is there"
is "$(told engine)" "2 systemd" "its engine goes by them, as it is by itself"
like "$(told join)" "^0 " "the installed agent joins the installed controller"
is "$(told fits-exit)" 0 "a job below its limit of memory completes" ||
	diag "$(told fits-words)"
peak=$(told fits | jq ".job.result.inputs.memory_peak_bytes // 0")
ok '((peak > 40000000 && peak < 64 << 20))' \
	"and how much it took is measured: $peak bytes"
is "$(told bursts-exit)" 1 "one above it fails"
is "$(told bursts | jq -r .job.failure)" oom "and is told to be killed for it"
diag "$(told bursts | jq -r .job.text)"
is "$(told restarts)" 00 "no service stumbled over its confinement"
((tap_failed == 0)) || diag "$(tail -c 3000 "$BED/console")"
done_testing
