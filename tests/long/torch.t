#!/bin/bash
# torch.t - what fails or hangs in a training of PyTorch's, alone and under
# torchrun, on one and two hosts: for each the class, the rank, the line.
#
# The image holds the training; Python, PyTorch and gdb are this machine's own
# (Debian's python3-torch), mounted read-only. How long each verdict took, from
# the fault to the sentence, is told beside it.
TEST_LIMIT=1500
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
/usr/bin/python3 -c 'import torch.distributed' 2>/dev/null ||
	skip_all "needs python3-torch"
cluster_need
need gdb
must cluster_up 2 hosts

make_image()
{
	local image=$BED/image name

	mkdir -p "$image"/{etc,tmp,usr,root} &&
		cp -a /etc/alternatives /etc/passwd /etc/group \
			/etc/ld.so.cache "$image/etc" || return 1
	for name in bin lib lib64 sbin; do
		ln -s "usr/$name" "$image/$name"
	done
	cat >"$image/train.py"
	tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar" &&
		dk host1 import "$BED/image.tar" test/torch:1 >/dev/null &&
		copy_image host1 host2 test/torch:1
}

# A model of one layer, ten steps; in the sixth the last rank does FAULT, or the
# third one.
must make_image <<'END_OF_PYTHON'
import ctypes
import os
import signal
import socket
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

fault = os.environ.get("FAULT", "")
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
guilty = rank == (2 if fault == "third" else world - 1)
torch.set_num_threads(1)


def mark():
    with open("/host/fault", "w") as file:
        file.write(str(int(time.time() * 1000)))


class Samples(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, at):
        if fault == "worker" and at == 5:
            mark()
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.ones(4 << 20) if fault == "shm" else torch.ones(8)


def load_batch():
    mark()
    while fault == "spin":
        pass
    time.sleep(1000)


def wait_for_each_other():
    mark()
    dist.recv(torch.ones(1), (rank + 1) % world)


def break_down():
    mark()
    if fault in ("raise", "third"):
        raise ValueError("bad batch 17 in shard 3")
    if fault == "segv":
        ctypes.string_at(0)
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "abort":
        os.abort()
    if fault == "oom":
        kept = []
        while True:
            kept.append(bytearray(32 << 20))
    if fault == "device-oom":
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB "
                           "(GPU 1; 23.69 GiB total capacity)")
    if fault == "leave":
        os._exit(0)
    if fault == "nan":
        raise FloatingPointError("loss is NaN at step 6, stopping")
    if fault == "missing":
        open("/data/shard-3.bin", "rb")


def step(model, batch):
    loss = model(batch).sum()
    loss.backward()
    return loss.item()


# Else torchrun cannot tell which of two ranks failed first.
@record
def main():
    if fault == "port" and rank == 0:
        mark()
        taken = socket.socket()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("", int(os.environ["MASTER_PORT"])))
        taken.listen()
    elif fault == "port":
        time.sleep(60)  # else it may end first, as rank 0's socket closes
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    if fault in ("worker", "shm") and guilty:
        for batch in DataLoader(Samples(), num_workers=1):
            pass
        mark()
    for number in range(1, 11):
        if number == 6:
            if fault == "deadlock":
                wait_for_each_other()
            if fault == "early":
                mark()
                sys.exit(0)
            if guilty and fault in ("sleep", "spin"):
                load_batch()
            if guilty:
                break_down()
        begun = time.monotonic()
        loss = step(model, torch.ones(2, 8))
        took = (time.monotonic() - begun) * 1000
        print(f"step {number} loss {loss:.3f} time {took:.3f} ms")


main()
END_OF_PYTHON

bare="processes: 2
command: [python3, /train.py, --steps, '\${steps}']"
# With Python 3.11, PyTorch 1.13 does not take its own defaults for --redirects
# and --tee: those of a local rank that is not there stand for none.
torchrun="command: [python3, -m, torch.distributed.run, --redirects, '9:1',
  --tee, '9:1',
  '--nnodes=\${NNODES}', '--node_rank=\${NODE_RANK}', --nproc_per_node=2,
  '--master_addr=\${MASTER_ADDR}', '--master_port=\${MASTER_PORT}',
  /train.py, --steps, '\${steps}']"
# As FlagScale's own runner: into a file of the host, and it ends with 0.
runner="follow: ['/tmp/host_*.output']
command: [bash, -c, 'python3 -m torch.distributed.run --redirects 9:1
  --tee 9:1 --nnodes=\${NNODES} --node_rank=\${NODE_RANK} --nproc_per_node=2
  --master_addr=\${MASTER_ADDR} --master_port=\${MASTER_PORT} /train.py
  --steps \${steps}
  >/tmp/host_\${NODE_RANK}.output 2>&1; true']"

# breaks NAME NODES LAUNCH FAULT CLASS KIND RANK LINE KEY...: the job fails so
breaks()
{
	local name=$1 nodes=$2 launch=$3 fault=$4 class=$5 kind=$6 rank=$7 line=$8
	local host=$BED/host/torch now

	shift 8
	mkdir -p "$host"
	rm -f "$host/fault"
	printf '%s\n' "sweep: torch" "image: test/torch:1" "nodes: $nodes" \
		"steps: 10" "retries: 0" "grace: 2s" \
		"env: {FAULT: $fault, RES_OPTIONS: 'timeout:1 attempts:1'}" \
		"mounts: [{host: /usr, container: /usr, read_only: true}," \
		"  {host: $host, container: /host}]" \
		"log: {rules: [{match: '^step (?<step>\\d+) loss (?<loss>\\S+) time (?<iteration_ms>\\S+) ms'}]}" \
		"$launch" "$@" >"$BED/torch.yaml"
	must submit "$BED/torch.yaml"
	wait_job "$JOB" failed 60
	now=${EPOCHREALTIME/[^0-9]/}
	diag "$name: $(job_get "$JOB" .text)"
	[[ ! -s $host/fault ]] ||
		diag "$((now / 1000 - $(<"$host/fault"))) ms after the fault"
	like "$(job_get "$JOB" '"\(.failure) \(.reason.class) \(.reason.rank)"')" \
		"^$class ($kind) $rank\$" "$name: class, kind and rank"
	like "$(job_get "$JOB" '"\(.text) \(.reason.line)"')" "$line" \
		"$name: its sentence"
}

raised="ValueError: bad batch 17 in shard 3"
breaks "exception" 1 "$bare" raise exit error 1 "$raised"
is "$(job_get "$JOB" '[.ends[] | "\(.rank) \(.line)"][0]')" "1 $raised" \
	"and the end of the rank says so"
is "$(job_get "$JOB" '[.ends[] | select(.rank == 0)][0].step')" 5 \
	"rank 0 printed step 5 last"
breaks "exception, two nodes" 2 "$bare" raise exit error 3 "$raised"
breaks "exception, torchrun" 1 "$torchrun" raise exit error 1 "$raised"
is "$(job_get "$JOB" '[.ends[] | select(.rank == 1)][0] |
	"\(.exit_code)"')" 1 \
	"the rank that torchrun tells of is among the ends"
breaks "exception, torchrun, two nodes" 2 "$torchrun" raise exit error 3 \
	"$raised"
breaks "SIGSEGV" 1 "$bare" segv exit signal 1 "rank 1 .*(SEGV|Segmentation)"
breaks "SIGSEGV, torchrun" 1 "$torchrun" segv exit signal 1 \
	"SEGV|Segmentation"
breaks "SIGKILL" 1 "$bare" kill exit signal 1 "rank 1 .*signal 9"
breaks "SIGSEGV, torchrun, two nodes" 2 "$torchrun" segv exit signal 3 \
	"task [01] exited.*(SEGV|Segmentation)"
breaks "SIGKILL, torchrun, two nodes" 2 "$torchrun" kill exit signal 3 \
	"task [01] exited.*(SIGKILL|exitcode: -9)"
is "$(job_get "$JOB" '[.ends[] | select(.rank == 3)][0] | "\(.task) \(.signal)"')" \
	"1 9" "the end of the rank is of the second container"
is "$(job_get "$JOB" '[.ends[] | select(.rank == null)] | length')" 2 \
	"the containers have no rank"
breaks "abort, torchrun, two nodes" 2 "$torchrun" abort exit signal 3 \
	"(SIGABRT|Aborted)"
breaks "one leaves with 0, torchrun, two nodes" 2 "$torchrun" leave exit \
	communication 3 "rank 3 of task 1 ended before, without an error"
breaks "exception, a runner's files, two nodes" 2 "$runner" third incomplete \
	error 2 "$raised"
breaks "NaN, torchrun, two nodes" 2 "$torchrun" nan exit nan 3 \
	"loss is NaN at step 6"
breaks "missing file, torchrun, two nodes" 2 "$torchrun" missing exit data 3 \
	"FileNotFoundError.*/data/shard-3.bin"
breaks "asleep in a step, torchrun, two nodes" 2 "$torchrun" sleep hang other 3 \
	"rank 3 .*load_batch train.py:[0-9]+" "hang: 20s"
breaks "deadlock, torchrun, two nodes" 2 "$torchrun" deadlock hang \
	"other|null" null "wait_for_each_other train.py:[0-9]+" "hang: 20s"
breaks "memory limit" 1 "$bare" oom oom host-oom 1 \
	"rank 1: the kernel killed .* for memory null" "memory: 900m"
breaks "memory of a device" 1 "$bare" device-oom oom device-oom 1 \
	"CUDA out of memory"
breaks "asleep in a step" 2 "$bare" sleep hang other 3 \
	"rank 3 .*load_batch train.py:[0-9]+" "hang: 20s"
breaks "spinning in a step" 1 "$bare" spin hang other 1 \
	"rank 1 (load_batch train.py:[0-9]+|computing)" "hang: 20s"
breaks "deadlock" 1 "$bare" deadlock hang "other|null" null \
	"wait_for_each_other train.py:[0-9]+" "hang: 20s"
breaks "one leaves with 0" 1 "$bare" leave exit communication 1 \
	"rank 0 exited with code 1"
breaks "all leave early" 1 "$bare" early incomplete null null "5 of 10|5/10"
breaks "NaN" 1 "$bare" nan exit nan 1 "loss is NaN at step 6"
breaks "port taken" 1 "$bare" port exit communication 0 \
	"[Aa]ddress already in use"
# Which line Python prints depends on what its main process does at that moment.
breaks "worker killed" 1 "$bare" worker exit "[a-z-]*" 1 \
	"DataLoader worker \(pid|EOFError|ConnectionResetError"
breaks "shared memory full" 1 "$bare" shm exit "[a-z-]*" 1 \
	"[Ss]hared memory|Bus error|No space left" "shm: 1m"
breaks "missing file" 1 "$bare" missing exit data 1 \
	"FileNotFoundError.*/data/shard-3.bin"

# runs_job KEY...: a job of the image alone
runs_job()
{
	printf '%s\n' "sweep: other" "image: test/torch:1" "retries: 0" \
		"grace: 1s" \
		"mounts: [{host: /usr, container: /usr, read_only: true}]" \
		"$@" >"$BED/other.yaml"
	must submit "$BED/other.yaml"
}

runs_job "command: [bash, -c, \"echo 'ERROR:api:failed (exitcode: 1) \
local_rank: 1 (pid: 7) of binary: p'; sleep 1000\"]"
wait_job "$JOB" failed 90
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"^exit n[12]: the launcher reported a failed process and did not end" \
	"a launcher that gave up and stays does not hold its nodes"

# A stand-in for the recorder, which needs NCCL.
runs_job "command: [python3, -c, \"import os;
  open(os.environ['TORCH_FR_DUMP_TEMP_FILE'] + '0', 'wb').write(b'dump')\"]"
must wait_job "$JOB" completed 60
is "$(cat "$CLUSTER/controller/logs/$JOB/1/"*regatta-recorder-0.log)" dump \
	"what the flight recorder writes is kept"
runs_job "recorder: off" "command: [python3, -c, \"import os;
  assert 'TORCH_FR_DUMP_TEMP_FILE' not in os.environ\"]"
ok 'wait_job "$JOB" completed 60' "unless it is off"

runs_job "hang: 6s" "command: [sleep, '1000']"
wait_job "$JOB" failed 90
like "$(job_get "$JOB" .failure)" hang "a program without Python hangs"
like "$(<"$CLUSTER/controller/logs/$JOB/1/evidence-0.log")" \
	'nanosleep.*"tool":"gdb"' "and gdb says where"

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
