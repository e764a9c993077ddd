#!/bin/bash
# machines.t - a machine of few cards shows all of them, of every vendor.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need regatta jq
mknod "$BED/node" c 1 3 || skip_all "device nodes cannot be made here"

# The vendors whose numbers run against the bus must not count past the last.
for machine in "$ROOT"/tests/lab/machines/*; do
	vendor=${machine##*/}
	folder=$BED/$vendor
	must "$ROOT/tests/lab/machine" "$folder" "$vendor" 2
	run env PATH="$folder/bin:$PATH" REGATTA_IMAGES="$ROOT/images" \
		regatta vendors probe --device-root "$folder/dev" \
		--sysfs-root "$folder/sys" --proc-root "$folder/proc" \
		--format json
	# shellcheck disable=SC2154 # run sets it
	is "$(jq -r --arg v "$vendor" '.vendors[] | select(.vendor == $v) |
		"\(.devices | length) \([.devices[] | .chip // .name] |
			unique | length) \(.why) \([.devices[].text])"' \
			<<<"$out")" "2 1 null [null,null]" \
		"two cards of $vendor are two devices of one chip, to be used"
done
done_testing
