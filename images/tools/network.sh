#!/bin/sh
# network.sh SECONDS - what the first node receives from the second one, on a line.
set -eu
seconds=$1
if [ "$NODE_RANK" = 0 ]; then
	iperf3 --server --one-off --port "$MASTER_PORT" --format m --interval 0 |
		awk '/receiver/ { print "tools | network " $7 " Mbit/s" }'
	exit
fi
tries=60
until iperf3 --client "$MASTER_ADDR" --port "$MASTER_PORT" --time "$seconds"; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || exit 1
	sleep 1
done
