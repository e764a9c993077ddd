#!/bin/bash
# tarball.t - what `make tarball` makes runs from a folder that nodes share, on
# a clean Debian, of this machine and 13, and a clean Ubuntu 22.04, as an
# ordinary user.
#
# build/tarball-roots keeps the systems for the next time.
if ((EUID == 0)) && [[ ! ${TARBALL_ALONE-} ]]; then
	exec env TARBALL_ALONE=1 unshare -m "$0" "$@"
fi
TEST_LIMIT=900
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/box.sh
. "$(dirname "$0")/box.sh"
need_root
# shellcheck source=tests/lab/users.sh
. "$ROOT/tests/lab/users.sh"
need mmdebstrap docker dockerd containerd jq setpriv "$REGATTA_BUILD/lab/tool"

# What it may take of a machine: glibc and libstdc++.
machines='/lib(c|m|pthread|resolv|rt|dl|stdc\+\+|gcc_s)\.so\.|/ld-linux'
kept=$ROOT/build/tarball-roots
shared=$BED/shared
BOX_PACKAGES=apt

run -t 600 make -s -C "$ROOT" BUILD="$REGATTA_BUILD" tarball
is "$rc" 0 "the tarball is made"
tarball=${out##*$'\n'}
[[ $rc == 0 && -s $tarball ]] || die "$out" "$err"
cp "$tarball" "$BED/first.tar.gz"
run -t 600 make -s -C "$ROOT" BUILD="$REGATTA_BUILD" tarball
ok 'cmp "$BED/first.tar.gz" "$tarball"' "made again it is the same"
mkdir -p "$shared/home"
must tar -C "$shared" -xzf "$tarball"
mv "$shared"/regatta-* "$shared/regatta"
for file in share/man/man1/regatta.1 lib/regatta/images/cpu/corpus.txt \
	lib/regatta/regatta-init share/doc/regatta/libzmq5.copyright \
	share/bash-completion/completions/regatta; do
	ok '[[ -s $shared/regatta/$file ]]' "it has $file"
done
is "$(find "$shared/regatta/lib/regatta/libraries" -type f | wc -l)" \
	"$(find "$shared/regatta/lib/regatta/libraries" | sed 1d | wc -l)" \
	"and its libraries, not links"

must debian_root "$kept/debian.tar" ''
must debian_root "$kept/trixie.tar" '' trixie
must ubuntu_root "$kept/ubuntu.tar" ''
must engine_up one
must tool_image one
must ln "$(engine_folder one)/docker.sock" "$shared/engine.sock"
chown -R 1000 "$shared/home" "$shared/engine.sock"
chmod 755 "$BED"
cat >"$shared/home/first.yaml" <<END
sweep: first
vendor: cpu
framework: cpu
image: regatta-test/tool:1
matrix: {n: [10, 20]}
command: [/tool, steps, "\${n}", "5"]
END

# in_root NAME COMMAND...: there, as an ordinary user, in the shared folder
in_root()
{
	local root=$BED/$1

	shift
	run -t 120 chroot --userspec=1000:1000 "$root" /usr/bin/env -i \
		HOME="$shared/home" PATH="$shared/regatta/bin:/usr/bin:/bin" \
		DOCKER_HOST="unix://$shared/engine.sock" \
		sh -c 'cd "$0" && exec "$@"' "$shared/home" "$@"
}

for name in debian trixie ubuntu; do
	mkdir "$BED/$name"
	must tar -C "$BED/$name" -xf "$kept/$name.tar"
	must mkdir -p "$BED/$name$shared"
	must mount --bind "$shared" "$BED/$name$shared"
	must mount -t proc proc "$BED/$name/proc"
	must mount --bind /dev "$BED/$name/dev"
	words="$(sed -n 's/^PRETTY_NAME=//p' "$BED/$name/etc/os-release")"
	for program in bin/regatta sbin/regatta-{agent,controller}; do
		in_root "$name" "$shared/regatta/$program" --help
		is "$rc" 0 "$words: $program runs" || diag "$err"
		in_root "$name" ldd "$shared/regatta/$program"
		is "$(grep -vE "$machines|$shared/regatta/|linux-vdso" "$BED/out")" \
			"" "and takes glibc and libstdc++ alone of the machine"
	done
	in_root "$name" regatta plan first.yaml
	like "$rc $out" "^0 .*n=20" "regatta plan plans" || diag "$err"
	in_root "$name" regatta run first.yaml --state "$name"
	is "$rc $(jq -c '[.rows[].state]' "$shared/home/$name/report.json")" \
		'0 ["completed","completed"]' "regatta run runs a sweep" ||
		diag "$out" "$err"
	umount "$BED/$name"/{dev,proc} "$BED/$name$shared"
done

# Here, with an engine of the user's own.
mkdir -p /var/run
[[ ! -e /var/run/docker.sock ]] || must mount --bind /dev/null /var/run/docker.sock
must users_up sailor
tar -C "$BED/opt" -c tool >"$BED/sailor/tool.tar"
run as sailor podman import tool.tar regatta-test/tool:1
if [[ $rc == 0 ]]; then
	must as sailor tar -xzf "$tarball"
	cp "$shared/home/first.yaml" "$BED/sailor/"
	run as sailor sh -c 'exec regatta-*/bin/regatta run first.yaml --state own'
	is "$rc $(jq -c '[.rows[].state]' "$BED/sailor/own/report.json")" \
		'0 ["completed","completed"]' \
		"unpacked by a user, it runs a sweep without root" ||
		diag "$out" "$err"
	is "$(sed -n 's/.*engine=//p' "$BED/sailor/own/agent.log" | head -n 1)" \
		"unix://$BED/sailor/own/agent/engine.sock" \
		"with the user's own engine"
else
	ok true "rootless Podman does not work here: $err # SKIP"
fi
pkill -9 -u sailor
done_testing
