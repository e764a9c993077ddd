#!/bin/bash
# flagperf-tree.t - every case of the real FlagPerf tree is planned.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, which is not part
# of this project. A case of the training is each of its files
# config_HARDWARExNODESxPROCESSES.py; of base and operation each folder
# CASE/VENDOR/CHIP, and CASE/VENDOR where that has its files; of inference each
# model in each image of a vendor.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
[[ ${FLAGPERF_TREE-} ]] ||
	skip_all "FLAGPERF_TREE names no checkout of FlagOpen/FlagPerf"
need "$REGATTA_BUILD/regatta" jq python3
mkdir -p "$BED"
export REGATTA_IMAGES=$REGATTA_BUILD/images XDG_CONFIG_HOME=$BED
unset REGATTA_CONTROLLER

# cases VENDOR: their names, from the files of the tree
cases()
{
	find "$FLAGPERF_TREE/training/$1" -path '*/config/config_*.py' |
		sed -nE 's,.*/([^/-]+)-([^/]+)/config/config_(.+)x([0-9]+)x([0-9]+)\.py$,\1:\2:\3:\4:\5:1,p' |
		LC_ALL=C sort
}

for vendor in ascend cambricon dcu iluvatar kunlunxin metax mthreads nvidia; do
	{
		echo "sweep: all"
		echo "vendor: $vendor"
		echo "flagperf:"
		echo "  tree: $FLAGPERF_TREE"
		echo "  cases:"
		cases "$vendor" | sed 's|.*|    "&": /data|'
	} >"$BED/$vendor.yaml"
	run regatta plan "$BED/$vendor.yaml" --keep-going --format json
	is $rc 0 "$vendor: the cases are planned"
	jq -r '.kept[].cell' <<<"$out" >>"$BED/kept"
	jq -r '.dropped[] | .cell + " " + (.reason | sub(".*: "; ""))' \
		<<<"$out" >>"$BED/dropped"
done
is "$(wc -l <"$BED/kept")" 339 "339 cases can run"
is "$(sed "s| in $FLAGPERF_TREE\$||" "$BED/dropped" | LC_ALL=C sort)" \
	"Waveglow:pytorch:R300:1:8:1 no training/benchmarks/Waveglow/pytorch
bert:paddle:A100:1:1:1 no training/nvidia/bert-paddle/extern
bert:paddle:A100:1:8:1 no training/nvidia/bert-paddle/extern
bert:paddle:A100:2:8:1 no training/nvidia/bert-paddle/extern
bert:paddle:BI-V100:1:8:1 no training/iluvatar/bert-paddle/extern
bert:paddle:R300:1:8:1 no training/kunlunxin/bert-paddle/extern
bert:pytorch:A100:1:1:1 no training/nvidia/bert-pytorch/extern
bert:pytorch:A100:1:8:1 no training/nvidia/bert-pytorch/extern
bert:pytorch:A100:2:8:1 no training/nvidia/bert-pytorch/extern
llama2_7b:deepspeed:A100:1:8:1 no training/nvidia/llama2_7b-deepspeed/config/ds_config.json
llama2_7b:deepspeed:H800:1:8:1 no training/nvidia/llama2_7b-deepspeed/config/ds_config.json
llama3_8B:megatron-deepspeed:BI-V150:1:16:1 no training/benchmarks/llama3_8B/megatron-deepspeed" \
	"the 12 others lack a file, which FlagPerf's launchers ask for, too"

# planned SUITE VENDOR HEAD "CASE...": adds to the counts of the suite, cases and kept
declare -A asked=() kept=()
planned()
{
	[[ $4 ]] || return
	{
		printf 'sweep: all\nvendor: %s\nflagperf:\n  tree: %s\n  %s:\n' \
			"$2" "$FLAGPERF_TREE" "$1"
		[[ ! $3 ]] || echo "    $3"
		echo "    cases:"
		# shellcheck disable=SC2086 # no case has blanks
		printf '      "%s": pytorch_2.3\n' $4
	} >"$BED/$1.yaml"
	run regatta plan "$BED/$1.yaml" --keep-going --format json
	asked[$1]=$((${asked[$1]-0} + $(wc -l <<<"$4")))
	kept[$1]=$((${kept[$1]-0} + $(jq '.kept | length' <<<"$out")))
}
# chips FOLDER VENDOR FORMAT: CASE and CHIP of each folder CASE/VENDOR/CHIP
chips()
{
	find "$FLAGPERF_TREE/$1" -mindepth 3 -maxdepth 3 -type d -path "*/$2/*" \
		-printf '%P\n' | LC_ALL=C sort | sed -E "s|(.*)/.*/(.*)|$3|"
}
vendors()
{
	find "$FLAGPERF_TREE/$1" -mindepth "$2" -maxdepth "$2" -type d \
		-printf '%f\n' | LC_ALL=C sort -u
}
for kind in benchmark toolkit; do
	for vendor in $(vendors base/${kind}s 2); do
		planned base "$vendor" "kind: $kind" \
			"$(chips base/${kind}s "$vendor" '\1:\2')"
	done
done
# Five name no chip.
planned base ascend "kind: benchmark" \
	"$(find "$FLAGPERF_TREE/base/benchmarks" -path '*/ascend/case_config.yaml' \
		-printf '%P\n' | LC_ALL=C sort | sed 's|/.*||')"
is "${asked[base]} ${kept[base]}" "203 203" "all of the base suite"
for vendor in $(vendors operation/benchmarks 2); do
	planned operation "$vendor" "" \
		"$(chips operation/benchmarks "$vendor" '\1:FP32:312:nativetorch:\2')"
done
is "${asked[operation]} ${kept[operation]}" "258 258" \
	"all of the operation suite"
for image in $(cd "$FLAGPERF_TREE/inference/docker_images" && ls -d -- */*/); do
	image=${image%/}
	planned inference "${image%/*}" "" \
		"$(find "$FLAGPERF_TREE/inference/benchmarks" -mindepth 2 \
			-maxdepth 2 -type d -name "$(sed 's|.*/||; s|_.*||' <<<"$image")" \
			-printf '%P\n' | LC_ALL=C sort | sed "s|/.*|:${image#*/}|")"
done
# Of hexaflake and zixiao no more than the name is known.
is "${asked[inference]} ${kept[inference]}" "77 77" \
	"all of inference: 55, and 22 on hardware of which little is public"

# folders PATTERN CASE: what is built of each folder with a Dockerfile, as the
# plan of a case of that vendor and framework tells it. The tree is not looked
# into, as some folders have no case.
folders()
{
	find "$FLAGPERF_TREE" -path "$FLAGPERF_TREE/$1" -name Dockerfile \
		-printf '%P\n' | LC_ALL=C sort | while IFS=/ read -ra part; do
		vendor=${part[${3-2}]} framework=${part[-2]}
		# shellcheck disable=SC2059 # a format
		printf "sweep: s\nvendor: cpu\nflagperf:\n  vendor: $vendor\n  tree: /no\n$2\n" \
			"$framework" >"$BED/folder.yaml"
		regatta plan "$BED/folder.yaml" --format json |
			jq -r '.kept[] | .image + " " + .build'
	done >"$BED/folders"
	sed 's|.* /no/||; s|$|/Dockerfile|' "$BED/folders" | LC_ALL=C sort >"$BED/built"
	find "$FLAGPERF_TREE" -path "$FLAGPERF_TREE/$1" -name Dockerfile \
		-printf '%P\n' | LC_ALL=C sort >"$BED/there"
	cmp "$BED/built" "$BED/there" && wc -l <"$BED/there"
}
is "$(folders 'training/*/docker_image/*' '  cases: {"m:%s:X:1:8:1": /d}' 1)" 46 \
	"the 46 folders of images of the training are those that cases build"
like "$(<"$BED/folders")" 'flagperf-metax-megatron_pai:t_v0.1 /no/training/metax/docker_image/megatron_pai' \
	"under FlagPerf's names"
is "$(folders 'base/*' '  base: {kind: benchmark, cases: {"computation-FP32:X": %s}}')" 14 \
	"so are the 14 of base"
is "$(folders 'operation/*' '  operation: {cases: {"a:FP32:1:native:X": %s}}')" 5 \
	"the 5 of operation"
is "$(folders 'inference/docker_images/*' '  inference: {cases: {"m:%s": /d}}')" 7 \
	"and the 7 of inference"

run regatta import flagperf "$FLAGPERF_TREE" "$BED/import"
is $rc 1 "the shipped configuration has a case that cannot run"
like "$err" 'test_conf.py:174: llama3_8B:megatron:TG-V200:1:16:1: no training/nvidia/llama3_8B-megatron/config/config_TG-V200x1x16.py' \
	"which is told"
is "$(ls "$BED/import")" "flagperf-base.yaml
flagperf-inference.yaml
flagperf-nodes
flagperf-operation.yaml" "and the other suites are imported"
run regatta plan "$BED/import/flagperf-base.yaml" --format json
is "$rc $(jq '.kept | length' <<<"$out")" "0 1" \
	"its base case, which names no chip, is planned"
done_testing
