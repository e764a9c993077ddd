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

kept=$ROOT/build/ubuntu
shared=$BED/shared
BOX_ENGINE=yes

must ubuntu_root "$kept/build.tar" "$(sed -n \
	's/^\(build\|deb\)\t\([^=|\t]*\).*/\2/p' "$ROOT/deploy/setup" |
	paste -sd,)"

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

must ubuntu_root "$kept/root.tar" "$(debs_depend "$DEBS"/*_"$DEBS_VERSION"_*.deb),docker.io,iptables"
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
