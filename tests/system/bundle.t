#!/bin/bash
# bundle.t - a sweep as one signed file, and the words that name a sweep.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need docker dockerd containerd jq zstd "$REGATTA_BUILD"/{regatta,lab/tool}

must engine_up one
unset REGATTA_CONFIG REGATTA_CONTROLLER
export HOME=$BED XDG_CONFIG_HOME=$BED/config DOCKER_HOST
DOCKER_HOST=$(engine_host one)
cd "$BED" || exit 1

cat >a.yaml <<'END'
sweep: nightly
framework: cpu
steps: 20
collect: [/etc/hostname]
matrix: {batch.micro: [1, 2]}
END
run regatta run a.yaml --state first
is $rc 0 "a sweep"
run regatta run a.yaml --state second -s env.HF_TOKEN=hush
is $rc 0 "and again, with a variable that looks like a secret"

# Which sweep.
run regatta report
is $rc 0 "without a name, the last run of this folder is read"
like "$err" "of second, the last run here" "which is told"
run regatta report first --format json
is "$rc $(jq -r '.table[0].sweep_name' "$BED/out")" "0 nightly" "by its folder"
run regatta report --state first nightly
is $rc 0 "by its name"
run regatta report --state first weekly
like "$rc $err" "^2 .*no sweep 'weekly'" "another name is refused"
run regatta jobs first
is "$rc $(grep -c completed "$BED/out")" "0 2" "its jobs"
run regatta logs --state first
like "$rc $err" "^0 .*job 2, of the last sweep" "the output of its last job"
run regatta compare first second --format json
is "$rc $(jq length "$BED/out")" "0 2" "two folders are compared"
run regatta report first --baseline second
like "$rc $out" "^0 (.|\n)*Relative to second" "one is a baseline"
run regatta verify first
is "$rc $(grep -c 'the log gives the stored result' "$BED/out")" "0 2" \
	"the results of a folder come out of its logs again"

# One file.
run regatta bundle --state second
like "$rc $err" "^2 .*env.HF_TOKEN looks like a secret" "a secret is not shown"
ok '[[ ! -e sweep-1.tar.zst && ! -e sweep-1.tar.zst.part ]]' "and nothing is left"
run regatta bundle --state first -o nightly.tar.zst
is $rc 0 "a bundle is written"
signer=${err##*signer: }
run regatta bundle --state first -o nightly.tar.zst
like "$rc $err" '^2 .*nightly.tar.zst exists; .*--replace' \
	"another one does not replace it"
mkdir in && zstd -dqc nightly.tar.zst | tar -C in -x
ok 'cmp in/logs/1/1/rank-0 first/controller/logs/1/1/rank-0.log' \
	"the log in it is that of the job"
for key in controller agent operator; do
	ok "! grep -rqF -f <(sed -n 's/^secret: \"\(.*\)\"/\1/p' first/keys/$key.key) in" \
		"the key of the $key is not in it"
done
is "$(sha256sum <in/report.json | cut -d' ' -f1)" \
	"$(jq -r '.files[] | select(.path == "report.json").sha256' in/manifest.json)" \
	"the manifest has the hashes"
run regatta bundle --state first --files -o whole.tar.zst
is $rc 0 "another one has the collected files"
mkdir whole && zstd -dqc whole.tar.zst | tar -C whole -x
like "$(tar -xOf whole/files/2/0/0-hostname.tar)" '^[[:alnum:].-]+$' \
	"each path as it was collected"
ok '[[ ! -e in/files ]]' "which the first one has not"
run regatta verify whole.tar.zst --signer "$signer"
is $rc 0 "and it is read like any other"

# Away from all that, there is no run and no controller.
mkdir far && cp nightly.tar.zst far && cd far || exit 1
run regatta report nightly.tar.zst
is "$rc $(grep -c '| completed *|$' "$BED/out")" "0 2" "it is reported elsewhere"
run regatta report nightly.tar.zst --format html
like "$rc $(<"$BED/out")" "^0 .*<svg" "as a page with curves"
run regatta compare nightly.tar.zst ../second
is $rc 0 "and compared with a folder"
run regatta trend batch.micro=1 nightly.tar.zst ../second --format json
is "$(jq '.[0].points | length' "$BED/out")" 2 "and stands in a trend"
run regatta verify nightly.tar.zst --signer "$signer"
is "$rc $(grep -c 'the log gives the stored result' "$BED/out")" "0 2" \
	"its results follow from its logs"
run regatta verify nightly.tar.zst --signer "${signer//[0-9]/0}"
like "$rc $err" "^2 .*the signer is" "another signer is refused"
run regatta report
like "$rc $err" "^2 .*--state DIR of a regatta run" \
	"without any of these, it says what there is"

# What is not as it was signed.
sed -i 's/finished/vanished/' ../in/logs/1/1/rank-0
tar -C ../in --zstd -cf changed.tar.zst sweep.yaml report.{json,csv,md,html} \
	logs/{1,2}/1/{rank,samples}-0 manifest.json signature.json
run regatta verify changed.tar.zst
like "$rc $err" "^2 .*logs/1/1/rank-0 was changed" "a changed log is told"
run regatta report changed.tar.zst
is "$rc $out" "2 " "and no result of it is shown"

# A full disk.
must small_disk full 1
dd if=/dev/zero of="$BED/full/ballast" bs=4k 2>/dev/null
run regatta bundle ../first -o "$BED/full/x.tar.zst"
ok '(( rc && rc != 124 ))' "a full disk is an error: $err"
is "$(ls "$BED/full")" ballast "and leaves nothing"

done_testing
