#!/bin/bash
# flagperf-tree.t - every training case of the real FlagPerf tree is planned.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, which is not part
# of this project. A case is each config_HARDWARExNODESxPROCESSES.py of it.
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
