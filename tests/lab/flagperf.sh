# flagperf.sh - what FlagPerf's run.py finds instead of a cluster.
# shellcheck shell=bash
#
# For tests and benchmarks, after lib.sh.
#
#	stub FOLDER NAME	a program of bash, whose text is read
#	local_ssh FOLDER	ssh, scp and sudo: a command for another host is run
#				by a local shell, with HOST set; monitors and
#				caches are left alone, and listed in FOLDER/alone
#	run_py_conf TREE VENDOR VISIBLE OPTIONS DATA CASE...
#				test_conf.py and cluster_conf.py, for two hosts

stub()
{
	{
		echo '#!/bin/bash'
		cat
	} >"$1/$2"
	chmod +x "$1/$2"
}

local_ssh()
{
	stub "$1" ssh <<'END'
command=${@: -1}
case $command in
*_monitor.py* | *drop_caches*)
	echo "$command" >>"$(dirname "$0")/alone"
	exit 0
	;;
esac
HOST=${@: -2:1} exec bash -c "$command"
END
	stub "$1" scp <<<'exit 0'
	stub "$1" sudo <<<'exec "$@"'
}

run_py_conf()
{
	local tree=$1 vendor=$2 visible=$3 options=$4 data=$5
	local shipped=$1/training/run_benchmarks/config

	shift 5
	cat >"$shipped/test_conf.py" <<-END
		VENDOR = "$vendor"
		ACCE_CONTAINER_OPT = "$options"
		ACCE_VISIBLE_DEVICE_ENV_NAME = "$visible"
		PIP_SOURCE = "http://pip.example/simple"
		FLAGPERF_PATH = "$tree/training"
		FLAGPERF_LOG_PATH = FLAGPERF_PATH + "/result/"
		FLAGPERF_LOG_LEVEL = "debug"
		SHM_SIZE = "64M"
		CLEAR_CACHES = True
		CASES = {$(printf '"%s": "'"$data"'", ' "$@")}
	END
	cat >"$shipped/cluster_conf.py" <<-END
		HOSTS = ["10.77.0.11", "10.77.0.12"]
		HOSTS_PORTS = ["2222"]
		MASTER_PORT = "29501"
		SSH_PORT = "22"
	END
}
