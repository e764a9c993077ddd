#!/bin/bash
# flagperf-launchers.t - 24 cases of the real FlagPerf tree, of all its vendors
# and launchers: what their programs are given by FlagPerf's own run.py and
# start_*_task.py, and what by us, differs as regatta-flagperf(7) says, no more and
# no less.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, which is not part
# of this project. In a copy of it the programs that train are replaced by one
# that writes down what it was given; run.py runs as it is, with an ssh that is a
# local shell, a docker that runs nothing but commands, and a sleep that does not
# wait. Ours run in containers, on pretended nodes. Two more cases have folders
# that the tree lacks: one without net.sh, and paddle on two nodes.
TEST_LIMIT=600
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
# shellcheck source=tests/lab/flagperf.sh
. "$(dirname "$0")/../lab/flagperf.sh"
need_root
cluster_need
[[ ${FLAGPERF_TREE-} ]] ||
	skip_all "FLAGPERF_TREE names no checkout of FlagOpen/FlagPerf"
differences=$ROOT/tests/lab/flagperf_differences.py

cases="
ascend ASCEND_VISIBLE_DEVICES chatglm3_6b:deepspeed:A100:1:8:1 llava1.5_7b:deepspeed-torch:Atlas800TA2:1:8:1 resnet50:mindspore:9100:1:8:1
cambricon MLU_VISIBLE_DEVICES baichuan2_13b:deepspeed:MLU:2:8:1 llava1.5_13b:deepspeed-torch:MLU:1:8:1 llama3_8B:megatron:MLU:1:8:1
dcu HIP_VISIBLE_DEVICES glm:pytorch_1.13:K100:1:1:1 glm:pytorch_1.13:K100:1:8:2
iluvatar CUDA_VISIBLE_DEVICES bert_hf:pytorch:BI-V100:2:8:1 llama3_8B:megatron:TG-V200:1:16:1 chatglm3_6b:deepspeed:BI-V150:1:16:1
kunlunxin XPU_VISIBLE_DEVICES bigtransfer:pytorch:R300:2:8:1 llama3_8B:megatron_core060:R300p:1:8:1 baichuan2_13b:deepspeed:R300:2:8:1
metax MACA_VISIBLE_DEVICES aquila2_7b:flagscale:C500:1:8:1 qwen1.5_MoE:megatron_pai:C500:1:8:1 llama2_7b:megatron-deepspeed:C500:1:8:1 gpt3_13B:paddle_2.6.0:TP1PP1SH2SP8C50040G:1:8:1
mthreads MUSA_VISIBLE_DEVICES bert_hf:pytorch_2.0:S4000:1:1:1 resnet50:pytorch_2.0:S4000:1:8:1 baichuan2_13b:deepspeed:H800:2:8:1
nvidia CUDA_VISIBLE_DEVICES resnet50:tensorflow2:A100:1:8:1 gpt3_13B:paddle_2.5.1:TP1PP1SH2SP8A10040G:1:8:1 baichuan2_13b:deepspeed:H800:2:8:1 aquila2_7b:flagscale:A100:1:8:1 bert:paddle:A100:2:8:1
"

# ---- the tree --------------------------------------------------------------

tree=$BED/FlagPerf
data=$BED/data
mkdir -p "$tree/record" "$data"
cp -r "$FLAGPERF_TREE/training" "$FLAGPERF_TREE/utils" "$tree"
must python3 "$differences" record "$tree/record" \
	>"$tree/record.py"
printf 'exec(open("%s/record.py").read())\n' "$tree" >"$BED/program.py"
for file in "$tree"/training/benchmarks/*/*/run_pretraining.py \
	"$tree/training/run_benchmarks/prepare_in_container.py" \
	"$tree"/utils/sys_monitor.py "$tree"/training/*/*_monitor.py; do
	cp "$BED/program.py" "$file"
done
for file in "$tree"/training/benchmarks/*/mindspore/cluster_offline_run.sh; do
	echo "exec python3 '$tree/record.py' \"\$0\" \"\$@\"" >"$file"
done

cp -r "$tree/training/nvidia/baichuan2_13b-deepspeed" "$tree/training/mthreads"
rm "$tree/training/mthreads/baichuan2_13b-deepspeed/config/net.sh"
mkdir "$tree/training/nvidia/bert-paddle/extern"

# Files of vendors' software that this machine has not stop neither side.
for file in "$tree"/training/*/*/config/environment_variables.sh; do
	printf '\ntrue\n' >>"$file"
done

# ---- theirs ----------------------------------------------------------------

stubs=$BED/stubs state=$BED/docker-state
engine_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p "$stubs/site" "$state"
local_ssh "$stubs"
stub "$stubs" docker <<END
case \$1 in
images) cat "$state/images" ;;
ps) cat "$state/\$HOST" 2>/dev/null ;;
stop) rm -f "$state/\$HOST" ;;
run)
	printf '%s\n' "\$*" >>"$state/runs"
	for word; do
		[[ \$word != --name=* ]] || echo "\${word#--name=}" >"$state/\$HOST"
	done
	;;
exec)
	cd "$tree/training" && exec env -i PATH="$stubs:$engine_path" HOME=/root \\
		HOSTNAME="\$HOSTNAME" PYTHONPATH="$stubs/site" bash -c "\${@: -1}"
	;;
esac
END
stub "$stubs" torchrun <<<"exec python3 '$tree/record.py' \"\$@\""
ln -s /usr/bin/python3 "$stubs/python"
echo 'import time; time.sleep = lambda seconds: None' >"$stubs/site/sitecustomize.py"

# ---- ours ------------------------------------------------------------------

image=$BED/image
must python_copy "$image" /usr/bin/{tee,cat,chmod,touch,ps}
ln -s bash "$image/bin/sh"
mkdir -p "$image/etc" "$image/usr/lib/locale"
echo "root:x:0:0::/root:/bin/sh" >"$image/etc/passwd"
cp -r /usr/lib/locale/C.utf8 "$image/usr/lib/locale"
must python_modules "$image" 'import tempfile
sys.path.insert(0, sys.argv[1] + "/training")
from utils import flagperf_logger, start_task_helper' "$FLAGPERF_TREE"
cat >"$image/usr/bin/torchrun" <<END
#!/bin/bash
exec python3 "$tree/record.py" "\$@"
END
chmod +x "$image/usr/bin/torchrun"
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must cluster_up 2 hosts
must dk host1 import "$BED/image.tar" test/python:1 >/dev/null
must copy_image host1 host2 test/python:1
must dk host1 run --rm --net=host test/python:1 \
	/usr/bin/cat /proc/self/mountinfo >"$BED/plain"

# How often this machine's caches were; theirs only says it.
caches_dropped()
{
	grep ^drop_ /proc/vmstat
}
dropped=$(caches_dropped)

# both VENDOR VARIABLE CASE...
both()
{
	local vendor=$1 word=$1 visible=$2 case

	shift 2
	rm -rf "$BED/record" "$stubs/alone" "${state:?}"/*
	mkdir -p "$BED/record"
	for case; do
		IFS=: read -r _ framework _ <<<"$case"
		echo "flagperf-$vendor-$framework t_v0.1" >>"$state/images"
		for host in host1 host2; do
			dk $host tag test/python:1 "flagperf-$vendor-$framework:t_v0.1"
		done
	done
	run_py_conf "$tree" "$vendor" "$visible" " --device=/dev/null" "$data" "$@"
	run -t 180 env PATH="$stubs:/usr/bin:/bin:/usr/sbin:/sbin" \
		PYTHONPATH="$stubs/site" python3 "$tree/training/run_benchmarks/run.py"
	is $rc 0 "$vendor: run.py ended well" || diag "$(tail -20 "$BED/out")"
	mv "$tree/record" "$BED/record/theirs"
	mkdir "$tree/record"
	cp "$state/runs" "$BED/record/runs"

	# The word that FlagPerf has for a vendor, and ours.
	[[ $vendor != dcu ]] || vendor=hygon
	machine=$BED/machine-$vendor
	must "$ROOT/tests/lab/machine" "$machine" "$vendor" 16
	AGENT_ARGS=(--device-root "$machine/dev" --sysfs-root "$machine/sys"
		--proc-root "$machine/proc" --file-root "$machine/files"
		--tools "$machine/bin")
	for node in 1 2; do
		agent_stop $node
		rm -rf "$CLUSTER/n$node"
		must agent_up $node
	done
	must wait_for "[[ \$(nodes_get '[.[].vendor] | join(\" \")') == '$vendor $vendor' ]]" 20
	{
		printf '%s\n' "sweep: all" "vendor: $vendor" "timeout: 2m" "shm: 64M" \
			"ulimits: {memlock: 65536, stack: 8388608}" "flagperf:" \
			"  vendor: $word" "  tree: $tree" "  visible: $visible" \
			"  pip_source: http://pip.example/simple" \
			"  hosts_ports: '2222'" \
			"  options: ' --device=/dev/null'" "  cases:"
		printf "    '%s': $data\n" "$@"
	} >"$BED/all.yaml"
	must nodes_up 2 20
	must submit "$BED/all.yaml"
	must wait_sweep "$SWEEP" 60
	mv "$tree/record" "$BED/record/ours"
	mkdir "$tree/record"
	is "$(regatta plan "$BED/all.yaml" --commands |
		sed -n 's/^sudo docker  *//p' | tr -d '"' | tr -s ' ' | sort -u)" \
		"$(sort -u "$BED/record/runs")" \
		"$vendor: plan shows the docker run of run.py"
	cp "$BED/plain" "$stubs/alone" "$BED/record"
	run python3 "$differences" compare "$BED/record" "$stubs"
	is "$rc $(grep unknown: <<<"$out")" "0 " \
		"$vendor: each difference has a name" || diag "$err"
	cat "$BED/out" >>"$BED/found"
}

while read -r vendor visible list; do
	# shellcheck disable=SC2086 # cases have no blanks
	[[ ! $vendor ]] || both "$vendor" "$visible" $list
done <<<"$cases"
# What programs cannot show stands in flagperf-container.t and flagperf-images.t.
run python3 "$differences" page "$ROOT/controller/cli/regatta-flagperf.7" \
	"$BED/found" container install
is "$rc $out" "0 " "the page has these differences, and no others" || diag "$err"
is "$(caches_dropped)" "$dropped" "no caches were dropped"
done_testing
