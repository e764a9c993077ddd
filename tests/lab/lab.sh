# lab.sh - nodes with simulated cards of a vendor, on one real engine.
# shellcheck shell=bash disable=SC2034 # cluster.sh and the test read them
#
#	. "$(dirname "$0")/lib.sh"
#	. "$(dirname "$0")/cluster.sh"
#	. "$(dirname "$0")/../lab/lab.sh"
#	need_root
#	lab_need
#	must lab_up
#	must lab_node c1 metax 8
#	must lab_node a1 nvidia 8 pci_device=20f3 model='NVIDIA A800-SXM4-80GB'
#	must nodes_up 2 30
#	...
#	done_testing
#
# After lib.sh and cluster.sh, in place of cluster_up; the rest of cluster.sh
# (cli, submit, job_get, wait_job, cluster_clean ...) is as ever.
#
#	lab_need		the programs, and the right to make device nodes
#	lab_up			engine e1 with an image of /tool and /inside,
#				$LAB_IMAGE; keys; a controller; no node yet
#	lab_node NAME VENDOR COUNT [SETTING=VALUE...]
#				a machine (tests/lab/machine) with COUNT cards,
#				and its agent, which calls itself NAME; does
#				not wait for it: see nodes_up
#	lab_agent NAME		start its agent again, with $AGENT_ARGS more;
#	lab_stop NAME		end it
#	lab_machine NAME	its folder: dev sys proc files bin cards
#	lab_lose NAME INDEX	a card falls off the bus
#
# Profiles ask for an unlimited memlock, which an engine without
# CAP_SYS_RESOURCE cannot give: a sweep for the lab says
#
#	ulimits: {memlock: 65536}
#
# in LAB_LIMITS as submit_tool takes it; Podman raises limits of its own, too.

LAB=$ROOT/tests/lab
LAB_IMAGE=regatta-test/lab:1
LAB_LIMITS='ulimits={memlock: 65536}'
[[ $TEST_ENGINE == docker ]] ||
	LAB_LIMITS="ulimits={memlock: 65536, nofile: $(ulimit -Hn), nproc: 32768}"
declare -A LAB_NODES=()

lab_need()
{
	cluster_need
	need mknod "$REGATTA_BUILD/lab/inside"
	mknod "$BED/node" c 1 3 || skip_all "device nodes cannot be made here"
	rm "$BED/node"
}

lab_up()
{
	# For what cluster.sh asks of "all engines".
	CLUSTER_NODES=1 CLUSTER_KIND=one
	# shellcheck disable=SC2153 # of cluster.sh
	engine_up e1 - "${ENGINE_ARGS[@]}" &&
		tar -C "$REGATTA_BUILD/lab" --owner=0 --group=0 -c tool inside |
		dk e1 import - "$LAB_IMAGE" >/dev/null || return 1
	TOOL_IMAGE=$LAB_IMAGE
	CLUSTER_NODES=0 cluster_keys && controller_up
}

lab_machine()
{
	echo "$BED/machines/$1"
}

lab_node()
{
	local name=$1 i=$((${#LAB_NODES[@]} + 1))

	shift
	mkdir -p "$BED/machines"
	"$LAB/machine" "$(lab_machine "$name")" "$@" || return 1
	make_key "$CLUSTER/n$i.key" "$name" agent || return 1
	LAB_NODES[$name]=$i CLUSTER_NODES=$i
	lab_agent "$name"
}

lab_agent()
{
	local folder own=("${AGENT_ARGS[@]}")

	folder=$(lab_machine "$1")
	AGENT_ARGS=(--device-root "$folder/dev" --sysfs-root "$folder/sys"
		--proc-root "$folder/proc" --file-root "$folder/files"
		--tools "$folder/bin" "${own[@]}")
	agent_up "${LAB_NODES[$1]}"
	AGENT_ARGS=("${own[@]}")
}

lab_stop()
{
	agent_stop "${LAB_NODES[$1]}"
}

lab_lose()
{
	"$LAB/machine" "$(lab_machine "$1")" remove "$2"
}
