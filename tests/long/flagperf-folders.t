#!/bin/bash
# flagperf-folders.t - of each folder of images of the real FlagPerf tree, the
# base image that cannot be had is named.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, which is not part
# of this project. Which folder a case builds is in flagperf-tree.t. The engine
# has no base image, and its namespace leads to no registry.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
[[ ${FLAGPERF_TREE-} ]] ||
	skip_all "FLAGPERF_TREE names no checkout of FlagOpen/FlagPerf"
AGENT_ARGS=(--devices 8)
must cluster_up 1 hosts
must on_host 1 ip route replace unreachable default

# base DOCKERFILE: the image after its first FROM
base()
{
	sed -nE 's/^ARG FROM_IMAGE_NAME=//Ip; s/^from +([^$ ]+).*/\1/Ip' "$1" |
		tr -d '\r' | head -1
}

count=0
(cd "$FLAGPERF_TREE" && ls training/*/docker_image/*/Dockerfile \
	{base,operation}/vendors/*/*/Dockerfile \
	inference/docker_images/*/*/Dockerfile) >"$BED/files"
{
	printf '%s\n' 'sweep: all' 'vendor: cpu' 'devices: 1' 'shared: true' \
		'retries: 0' 'command: [none]' 'include:'
	while read -r file; do
		folder=$FLAGPERF_TREE/${file%/*}
		echo "- {image: 'flagperf$((++count)):t', build: '$folder'}"
		echo "build of $folder: no base image $(base "$folder/Dockerfile"): " \
			>>"$BED/wanted"
	done <"$BED/files"
} >"$BED/all.yaml"
is "$(wc -l <"$BED/files")" 72 "there are 72 folders"
must submit "$BED/all.yaml"
must wait_sweep "$SWEEP" 60
jobs_get "$SWEEP" '.[] | .text' >"$BED/told"
while IFS= read -r wanted; do
	grep -qF "$wanted" "$BED/told" || echo "${wanted#"build of $FLAGPERF_TREE/"}"
done <"$BED/wanted" >"$BED/lacking"
is "$(<"$BED/lacking")" "" "for each, the job names it and the folder" ||
	diag "$(<"$BED/told")"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
