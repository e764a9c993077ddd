# recorder.py - PyTorch's part of a process with a flight recorder: its pipe, looked at
# once a second, and the dump that it writes then, of the collectives of four ranks.
#
#	recorder.py stands	rank 2 does not come to call 41
#	recorder.py goes	rank 2 comes 40 ms after the others to all
import os, pickle, sys, time
rank, stands, calls = int(os.environ["RANK"]), sys.argv[1] == "stands", []
name = os.environ["TORCH_NCCL_DEBUG_INFO_PIPE_FILE"] + str(rank) + ".pipe"
os.mkfifo(name)
pipe = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
looked, step = time.time(), 0
while True:
    if not stands or step < 41 - (rank == 2):
        step += 1
        if not stands: # all at the same tenth of a second
            time.sleep(0.1 - time.time() % 0.1 + (0.04 if rank == 2 else 0))
        calls = calls[-1999:] + [{"process_group": ("0", "default_pg"),
            "collective_seq_id": step if stands else int(time.time() * 10),
            "profiling_name": "nccl:all_reduce", "is_p2p": False,
            "time_created_ns": time.time_ns(),
            "state": "started" if step == 41 and stands else "completed"}]
        if step % 10 == 1 and rank == 0:
            print("step %d/100000 | loss 2.5" % step, flush=True)
    else:
        time.sleep(0.1)
    if time.time() - looked > 1:
        looked = time.time()
        if os.read(pipe, 1):
            with open(os.environ["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"] + str(rank),
                    "wb") as file:
                pickle.dump({"version": "2.9", "entries": calls, "pg_config":
                    {"0": {"name": "0", "ranks": "[0, 1, 2, 3]"}}}, file, 2)
