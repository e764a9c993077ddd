#!/bin/sh
# node.sh SECONDS FOLDER - what this node reaches in each test, on a line: events of
# sysbench, MiB/s of its memory test, operations of stress-ng's matrices, which checks
# them, and MiB/s that fio writes to the folder and syncs.
set -eu
seconds=$1
folder=$2
threads=$(nproc)

cpu=$(sysbench cpu --threads="$threads" --time="$seconds" run |
	awk '/events per second:/ { print $4 }')
memory=$(sysbench memory --threads="$threads" --time="$seconds" \
	--memory-block-size=1M --memory-total-size=1000T run |
	awk '/MiB transferred/ { print substr($4, 2) }')
matrix=$(stress-ng --matrix "$threads" --timeout "${seconds}s" --verify --metrics-brief 2>&1 |
	awk '$4 == "matrix" && $6 + 0 > 0 { print $9 }')
disk=$(fio --name=disk --directory="$folder" --rw=write --bs=1M --size=64M \
	--fsync=4 --unlink=1 --time_based --runtime="$seconds" --minimal |
	awk -F';' '{ print $48 / 1024 }')
echo "tools | cpu $cpu events/s | memory $memory MiB/s | matrix $matrix ops/s |" \
	"disk $disk MiB/s"
