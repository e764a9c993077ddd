#!/bin/bash
# ubuntu.t - on a clean Ubuntu 22.04, too, packages are made, install, and a
# machine that joins itself runs a job.
#
# build/ubuntu keeps the systems and what was compiled, for the next time.
TEST_LIMIT=1700
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/box.sh
. "$(dirname "$0")/box.sh"
need_root
boxes_need
need gpg curl

mirror=http://archive.ubuntu.com/ubuntu
# "Ubuntu Archive Automatic Signing Key (2018)", in Ubuntu's words.
archive_key=F6ECB3762474EDA9D21B7022871920D1991BC93C
kept=$ROOT/build/ubuntu
shared=$BED/shared
BOX_ENGINE=yes
mkdir -p "$kept"

# A keyring of that key alone, from the archive that it vouches for.
make_keyring()
{
	local package

	package=$(curl -sf -m 60 "$mirror/dists/jammy/main/binary-amd64/Packages.xz" |
		xz -d | awk '/^Package: / { found = $2 == "ubuntu-keyring" }
			found && /^Filename: / { print $2; exit }')
	mkdir -m 700 "$BED/gnupg"
	curl -sf -m 60 -o "$BED/keyring.deb" "$mirror/$package" &&
		dpkg-deb -x "$BED/keyring.deb" "$BED/keyring" &&
		gpg --homedir "$BED/gnupg" --no-default-keyring --keyring \
			"$BED/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" \
			--export "$archive_key" >"$kept/archive.gpg" &&
		[[ -s $kept/archive.gpg ]]
}

jammy() # FILE PACKAGES
{
	local suite sources=()

	[[ ! -s $1 ]] || return 0
	for suite in jammy jammy-updates; do
		sources+=("deb [signed-by=$kept/archive.gpg] $mirror $suite main universe")
	done
	root_make "$1" "$2" jammy "${sources[@]}"
}

[[ -s $kept/build.tar ]] || curl -sfI -m 20 "$mirror/dists/jammy/InRelease" \
	>/dev/null || skip_all "$mirror is out of reach"
[[ -s $kept/archive.gpg ]] || must make_keyring
must jammy "$kept/build.tar" "$(sed -n 's/^\(build\|deb\)\t\([^=|\t]*\).*/\2/p' \
	"$ROOT/deploy/setup" | paste -sd,)"

# ---- make ----------------------------------------------------------------

must engine_up boxes
dk boxes import "$kept/build.tar" regatta-test/build:1 >/dev/null
mkdir -p "$BED/tree" "$kept/tree"
tar -C "$ROOT" --exclude=./build --exclude=./.git -c . | tar -C "$BED/tree" -x
run -t 1200 docker -H "$(engine_host boxes)" run --rm --network none \
	-v "$BED/tree:/tree" -v "$kept/tree:/tree/build" -w /tree \
	regatta-test/build:1 make -s deb
is "$rc" 0 "packages are made on Ubuntu 22.04, and its lintian finds them good"
[[ $rc == 0 ]] || die "$out" "$err"
DEBS=$kept/tree/deb

must jammy "$kept/root.tar" "$(debs_depend "$DEBS"/*_"$DEBS_VERSION"_*.deb),docker.io,iptables"
must boxes_up "$kept/root.tar"
must box_debs "$shared" "$DEBS_VERSION"
must box_new u1 -v "$shared:/debs"

# ---- install, join, run --------------------------------------------------

mapfile -t files < <(cd "$shared" && printf "/debs/%s\n" *.deb)
run on u1 apt-get -y install "${files[@]}"
is "$rc" 0 "they install on a clean one"
[[ $rc == 0 ]] || die "$out" "$err"
is "$(on u1 systemctl is-active regatta-controller)" active \
	"the controller serves at once"
token=$(on u1 regatta node token 2>/dev/null)
run on u1 regatta-agent join "$token"
is "$rc" 0 "the machine joins itself"
[[ $rc == 0 ]] || diag "$out" "$err"
tar -C "$REGATTA_BUILD/lab" --owner=0 --group=0 -c tool |
	on u1 docker import - regatta-test/tool:1 >/dev/null
on u1 sh -c 'cat >/root/job.yaml' <<-'END'
	sweep: ubuntu
	image: regatta-test/tool:1
	command: [/tool, print, "100000"]
END
run on u1 regatta submit /root/job.yaml --wait
is "$rc" 0 "and runs a job"
[[ $rc == 0 ]] || diag "$out" "$err"
"$REGATTA_BUILD/lab/tool" print 100000 >"$BED/want"
on u1 regatta logs 1 --rank 0 >"$BED/got"
ok 'cmp "$BED/want" "$BED/got"' "of which no byte is missing"
is "$(on u1 systemctl show -P NRestarts regatta-agent regatta-controller |
	xargs)" "0 0" "and the confinement of this systemd stops nothing"
run on u1 apt-get -y purge regatta-agent regatta-controller regatta \
	regatta-data
is "$rc" 0 "all is purged"
done_testing
