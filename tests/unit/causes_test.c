/* causes_test.c - why a program failed, by what it printed.
 *
 *	causes_test [FOLDER]	also recorded outputs: NAME.log beside
 *				NAME.expect.json with the diagnosis
 */
#include "controller/causes/causes.h"
#include "tests/tap.h"

#include <dirent.h>
#include <limits.h>

static struct failure_patterns *patterns;

static cJSON *diagnose(const char *text, size_t size, size_t piece, bool failed)
{
	owned(causes_free) struct causes *causes = causes_new(patterns, NULL);
	struct diagnosis diagnosis;

	for (size_t at = 0; at < size; at += piece)
		causes_feed(causes, text + at,
			    size - at < piece ? size - at : piece, NULL);
	causes_finish(causes, NULL);
	causes_diagnose(causes, failed, &diagnosis);
	return diagnosis_json(&diagnosis);
}

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(get(object, name));
}

static int number_of(const cJSON *object, const char *name)
{
	const cJSON *number = get(object, name);

	return cJSON_IsNumber(number) ? number->valueint : -1;
}

#define TRACEBACK                                                              \
	"Traceback (most recent call last):\n"                                 \
	"  File \"/app/fit.py\", line 12, in <module>\n"                       \
	"    main()\n"

/* clang-format off */
static const struct {
	const char *about;
	const char *text;
	const char *class; /* NULL: nothing failed */
	int rank;          /* -1: not told */
	int line_number;
	const char *line;
} samples[] = {
	{ "an exception that Python could not print",
	  TRACEBACK "object address  : 0x7f00\nobject refcount : 2\n"
	  "object type     : 0x9f\nobject type name: EOFError\n"
	  "object repr     : EOFError()\nlost sys.stderr\n",
	  "error", -1, 8, "object repr     : EOFError()" },
	{ "an exception in a last line that has no end",
	  TRACEBACK "ValueError: 7 pears", "error", -1, 4, "ValueError: 7 pears" },
	{ "the class of an exception whose text is in the next line",
	  TRACEBACK "AssertionError: \nThe NVIDIA driver on your system is too "
	  "old (found version 7).\n",
	  "device-missing", -1, 5,
	  "The NVIDIA driver on your system is too old (found version 7)." },
	{ "a thread that loses its other side",
	  "RuntimeError: fjord.cpp:9 HCCL function error: hcclPear(&root), error "
	  "code is 4\nException in thread Thread-2:\n" TRACEBACK "EOFError\n",
	  "communication", -1, 1,
	  "RuntimeError: fjord.cpp:9 HCCL function error: hcclPear(&root), error "
	  "code is 4" },
	{ "what a bar has counted of its data",
	  "pears: Scanning /pears.cache... 90 images, 0 backgrounds, 2 corrupt: "
	  "100% ==== 90/90 600.5Mit/s 0.0s\n",
	  NULL, -1, -1, NULL },
	{ "an exception that quotes the source of a kernel",
	  TRACEBACK "RuntimeError:\n  #define PEARS 7\n  }\n"
	  "nvrtc: error: invalid value for --pear-architecture (-arch)\n",
	  "error", -1, 7,
	  "nvrtc: error: invalid value for --pear-architecture (-arch)" },
	{ "the module of an exception is no word of its text",
	  TRACEBACK "pear.python.errors_impl.InvalidArgumentError: Key: "
	  "pear/name.  Can't parse serialized Example.\n",
	  "error", -1, 4,
	  "pear.python.errors_impl.InvalidArgumentError: Key: pear/name.  "
	  "Can't parse serialized Example." },
	{ "a link in a file",
	  TRACEBACK "RuntimeError: Unable to create link (name already exists)\n",
	  "data", -1, 4,
	  "RuntimeError: Unable to create link (name already exists)" },
	{ "a queue that a fault of its device ends",
	  ":0:heron.cpp:12: Callback: Queue 0x7f00 aborting with error : "
	  "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent went far. "
	  "code: 0x29\n",
	  "hardware", -1, 1,
	  ":0:heron.cpp:12: Callback: Queue 0x7f00 aborting with error : "
	  "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent went far. "
	  "code: 0x29" },
	{ "tasks that do not register",
	  "Stopping coordination service as cluster registration failed. This "
	  "may be due to 1) tasks that ended\n\n"
	  "Original error: DEADLINE_EXCEEDED: Barrier timed out.\n",
	  "communication", -1, 1,
	  "Stopping coordination service as cluster registration failed. This "
	  "may be due to 1) tasks that ended" },
	{ "a port that is taken",
	  TRACEBACK "[rank0]: RuntimeError: failed to bind to [::]:2 (errno: 98 "
	  "- Address already in use).\n",
	  "communication", 0, 4,
	  "RuntimeError: failed to bind to [::]:2 (errno: 98 - Address already "
	  "in use)." },
	{ "an exception that says only that another process died",
	  "(Pear pid=7) fjord:7:9 [0] NCCL WARN NET/IB: Got completion from peer "
	  "10.0.0.4<5> with status=12 opcode=0 len=0\n"
	  TRACEBACK "ray.exceptions.ActorDiedError: The actor died unexpectedly "
	  "before finishing this task.\n",
	  "communication", -1, 1,
	  "fjord:7:9 [0] NCCL WARN NET/IB: Got completion from peer 10.0.0.4<5> "
	  "with status=12 opcode=0 len=0" },
	{ "what Ray says before it quotes an error that nobody took",
	  "(Pear pid=7) RuntimeError: fjord.ts:9 HCCL function error: "
	  "hcclPear(&root), error code is 4\n"
	  "(Pear pid=7) Unhandled error (suppress with "
	  "'RAY_IGNORE_UNHANDLED_ERRORS=1'): ray::Pear.init() (pid=8)\n"
	  "(Pear pid=7)   File \"/app/fit.py\", line 9, in init\n",
	  "communication", -1, 1,
	  "RuntimeError: fjord.ts:9 HCCL function error: hcclPear(&root), "
	  "error code is 4" },
	{ "a kernel's word of a device comes before what a kernel launch says",
	  TRACEBACK "RuntimeError: HIP error: unspecified launch failure\n"
	  "[9.1] amdgpu: 3 uncorrectable hardware errors detected in pear block\n",
	  "hardware", -1, 5,
	  "[9.1] amdgpu: 3 uncorrectable hardware errors detected in pear block" },
	{ "a launch failure by itself",
	  TRACEBACK "RuntimeError: HIP error: unspecified launch failure\n",
	  "hardware", -1, 4, "RuntimeError: HIP error: unspecified launch failure" },
	{ "out of memory, whoever spells it",
	  "CUDA Error: out of memory at /pear/allocator.cpp:62\n",
	  "device-oom", -1, 1,
	  "CUDA Error: out of memory at /pear/allocator.cpp:62" },
	{ "a driver that is too old, of any vendor",
	  TRACEBACK "RuntimeError: MUSA error: MUSA driver version is "
	  "insufficient for MUSA runtime version\n",
	  "device-missing", -1, 4,
	  "RuntimeError: MUSA error: MUSA driver version is insufficient for "
	  "MUSA runtime version" },
	{ "Ascend's message behind the end of a stream",
	  TRACEBACK "RuntimeError: Call aclrtSynchronizeStream failed, ret: 5\n"
	  "EI0006: [PID: 12] Getting socket times out\n",
	  "communication", -1, 5, "EI0006: [PID: 12] Getting socket times out" },
	{ "the end of a stream by itself",
	  TRACEBACK "RuntimeError: Call aclrtSynchronizeStream failed, ret: 5\n",
	  "error", -1, 4,
	  "RuntimeError: Call aclrtSynchronizeStream failed, ret: 5" },
	{ "tasks that send no heartbeats",
	  "E1010 16:24:31.1 31 agent.cc:3] UNAVAILABLE: The following tasks are "
	  "unhealthy (stopped sending heartbeats):\nFatal Python error: Aborted\n",
	  "communication", -1, 1,
	  "E1010 16:24:31.1 31 agent.cc:3] UNAVAILABLE: The following tasks are "
	  "unhealthy (stopped sending heartbeats):" },
	{ "a node that Slurm lost",
	  "slurmstepd: error: *** STEP 5.0 ON fjord CANCELLED AT "
	  "2026-01-01T00:00:00 ***\nsrun: error: Node failure on birch\n",
	  "hardware", -1, 2, "srun: error: Node failure on birch" },
	{ "a signal that a launcher tells on two lines",
	  "prterun noticed that process rank 5 with PID 11 on node birch exited "
	  "on\nsignal 9 (Killed).\n"
	  "horovod.common.exceptions.HorovodInternalError: pear failed\n",
	  "signal", 5, 2, "signal 9 (Killed)." },
	{ "a signal that Open MPI's process tells of itself",
	  "sweep 31 pear = 68\n[birch7:44] *** Process received signal ***\n"
	  "[birch7:44] Signal: Segmentation fault (11)\n"
	  "[birch7:44] *** End of error message ***\n"
	  "mpirun noticed that process rank 9 with PID 44 on node birch7 exited "
	  "on signal 11 (Segmentation fault).\n",
	  "signal", 9, 3, "[birch7:44] Signal: Segmentation fault (11)" },
	{ "an operation whose failure stands above its exception",
	  "2026-01-02 03:04:05.1: W fjord/op_kernel.cc:18] OP_REQUIRES failed at "
	  "pear_op.cc:9 : INVALID_ARGUMENT: 3 pears, wanted 4\n"
	  TRACEBACK "fjord.errors_impl.InvalidArgumentError: Graph execution "
	  "error:\n\nDetected at node pear/Fill defined at (most recent call "
	  "last):\n  File \"fit.py\", line 10, in <module>\n",
	  "error", -1, 1,
	  "2026-01-02 03:04:05.1: W fjord/op_kernel.cc:18] OP_REQUIRES failed at "
	  "pear_op.cc:9 : INVALID_ARGUMENT: 3 pears, wanted 4" },
	{ "an operation that came to the end of its data",
	  "2026-01-02 03:04:05.1: W fjord/op_kernel.cc:18] OP_REQUIRES failed at "
	  "pear_op.cc:9 : OUT_OF_RANGE: End of sequence\n", NULL, -1, -1, NULL },
	{ "an operation whose failure stands below its node",
	  "fjord.InvalidArgumentError: Graph execution error:\n\n"
	  "Detected at node 'pear/Fill' defined at (most recent call last):\n"
	  "    File \"fit.py\", line 10, in <module>\n      fit(pears)\n"
	  "Node: 'pear/Fill'\nthe basket has 3 pears, wanted 4\n"
	  "\t [[{{node pear/Fill}}]]\n",
	  "error", -1, 7, "the basket has 3 pears, wanted 4" },
	{ "a node that is no part of a traceback",
	  "Node: 'birch7'\nthe basket of pears stands ready\n", NULL, -1, -1,
	  NULL },
	{ "an allocation that is no failure",
	  "W allocator.cc:24] Allocator (GPU_0) ran out of memory trying to "
	  "allocate 3GiB. This is not a failure, it may be slow.\n",
	  NULL, -1, -1, NULL },
	{ "a ring that one breaks as another is silent",
	  "step 9 loss 2\nrank 1: rank 5 has been silent for 60 s, breaking the "
	  "ring\nrank 2: ring broken by rank 1\nrank 3: ring broken by rank 2\n",
	  "communication", -1, 2,
	  "rank 1: rank 5 has been silent for 60 s, breaking the ring" },
	{ "what a launcher quotes of a stream",
	  "stderr: " TRACEBACK "stderr: KeyError: 'pear'\n",
	  "error", -1, 4, "KeyError: 'pear'" },
	{ "words of two classes: the one that says more",
	  "[ERROR] (7,pear):2026 [op.cc:9][Init][PearConfig]hcclInitRoot "
	  "failed.\n",
	  "communication", -1, 1,
	  "[ERROR] (7,pear):2026 [op.cc:9][Init][PearConfig]hcclInitRoot "
	  "failed." },
	{ "a pod that had to go",
	  "pod/pear-2: Preempted by pod 5b1a on node fjord\n"
	  "[pod/pear-1/train] [Rank 9] Watchdog caught collective operation "
	  "timeout: x\n",
	  "other", -1, 1, "pod/pear-2: Preempted by pod 5b1a on node fjord" },
	{ "what the program raises",
	  "step 1 loss 2.0\n" TRACEBACK "KeyError: 'pear'\n",
	  "error", -1, 5, "KeyError: 'pear'" },
	{ "a rank's prefix names it, colours are no part of the line",
	  "[rank5]: Traceback (most recent call last):\n"
	  "[rank5]:   File \"/app/fit.py\", line 3, in f\n"
	  "[rank5]: \033[31mKeyError\033[0m: 'pear'\n",
	  "error", 5, 3, "KeyError: 'pear'" },
	{ "the memory of a device comes before what follows from it",
	  "[rank1]: Traceback (most recent call last):\n"
	  "[rank1]:   File \"/app/fit.py\", line 3, in f\n"
	  "[rank1]: RuntimeError: Connection closed by peer [10.0.0.1]:7\n"
	  "[rank2]: Traceback (most recent call last):\n"
	  "[rank2]:   File \"/app/fit.py\", line 3, in f\n"
	  "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to "
	  "allocate 3 GiB\n",
	  "device-oom", 2, 6,
	  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3 "
	  "GiB" },
	{ "a process that another one says a signal ended",
	  "Fatal Python error: Segmentation fault\n\n" TRACEBACK
	  "torch.multiprocessing.spawn.ProcessExitedException: process 1 "
	  "terminated with signal SIGSEGV\n",
	  "signal", 1, 1, "Fatal Python error: Segmentation fault" },
	{ "a group of exceptions",
	  "  + Exception Group Traceback (most recent call last):\n"
	  "  |   File \"/app/fit.py\", line 12, in <module>\n"
	  "  |     row()\n"
	  "  | ExceptionGroup: two oars (2 sub-exceptions)\n"
	  "  +-+---------------- 1 ----------------\n"
	  "    | ValueError: oar 3\n"
	  "    +---------------- 2 ----------------\n"
	  "    | OSError: oar 4\n    +------------------------------------\n",
	  "error", -1, 4, "| ExceptionGroup: two oars (2 sub-exceptions)" },
	{ "what a program in C++ threw",
	  "terminate called after throwing an instance of "
	  "'std::runtime_error'\n  what():  the hull leaks\n",
	  "error", -1, 2, "what():  the hull leaks" },
	{ "a script that cannot be read", "run.sh: line 7: syntax error: "
	  "unexpected end of file\n", "error", -1, 1,
	  "run.sh: line 7: syntax error: unexpected end of file" },
	{ "a scheduler that is not there",
	  "srun: error: no configuration\nsrun: fatal: Could not establish a "
	  "configuration source\n",
	  "other", -1, 2,
	  "srun: fatal: Could not establish a configuration source" },
	{ "a help text about memory",
	  "usage: row [--oars N]\n  when it says \"CUDA out of memory\": take "
	  "fewer oars\n",
	  NULL, -1, -1, NULL },
	{ "a device's number, where no rank is told",
	  TRACEBACK "RuntimeError: NPU out of memory. Tried to allocate 9.00 MiB "
	  "(NPU 6; 29.50 GiB total capacity)\n",
	  "device-oom", 6, 4,
	  "RuntimeError: NPU out of memory. Tried to allocate 9.00 MiB "
	  "(NPU 6; 29.50 GiB total capacity)" },
	{ "hydra's ranks",
	  "[5] Traceback (most recent call last):\n"
	  "[5]   File \"/app/fit.py\", line 12, in <module>\n"
	  "[5]     main()\n[5] KeyError: 'pear'\n",
	  "error", 5, 4, "KeyError: 'pear'" },
	{ "a loss that is no number",
	  "Monitored metric val_loss = nan is not finite. Stopping.\n", "nan",
	  -1, 1, "Monitored metric val_loss = nan is not finite. Stopping." },
	{ "a container that Kubernetes ended",
	  "    Reason:       OOMKilled\n", "host-oom", -1, 1,
	  "Reason:       OOMKilled" },
	{ "a collective that could not begin",
	  TRACEBACK "RuntimeError: Call failed: HcclCommInitRootInfo failed, "
	  "ret: 9\n",
	  "communication", -1, 4,
	  "RuntimeError: Call failed: HcclCommInitRootInfo failed, ret: 9" },
	{ "an error without a traceback",
	  "step 3 loss 2.0\nRuntimeError: no water\n", "error", -1, 2,
	  "RuntimeError: no water" },
	{ "one that did no harm",
	  "RuntimeError: no water\nstep 3 loss 2.0\n", NULL, -1, -1, NULL },
	{ "torchrun is ended by a signal",
	  TRACEBACK "torch.distributed.elastic.multiprocessing.api."
	  "SignalException: Process 17 got signal: 15\n",
	  "signal", -1, 4,
	  "torch.distributed.elastic.multiprocessing.api.SignalException: "
	  "Process 17 got signal: 15" },
	{ "torchrun takes a victim of the same second for the first",
	  TRACEBACK "ValueError: bad oar\n"
	  TRACEBACK "RuntimeError: [pair.cc:598] Connection closed by peer "
	  "[127.0.0.1]:1\n"
	  "ERROR:torch.distributed.elastic.multiprocessing.api:failed "
	  "(exitcode: 1) local_rank: 0 (pid: 9) of binary: /bin/python3\n"
	  "Other Failures:\n[1]:\n  host      : n2\n"
	  "  rank      : 3 (local_rank: 1)\n  exitcode  : 1 (pid: 8)\n"
	  "  traceback : Traceback (most recent call last):\n"
	  "    File \"/app/fit.py\", line 12, in <module>\n"
	  "  ValueError: bad oar\n  \n"
	  "Root Cause (first observed failure):\n[0]:\n  host      : n2\n"
	  "  rank      : 2 (local_rank: 0)\n  exitcode  : 1 (pid: 9)\n"
	  "  traceback : Traceback (most recent call last):\n"
	  "    File \"/app/fit.py\", line 12, in <module>\n"
	  "  RuntimeError: [pair.cc:598] Connection closed by peer "
	  "[127.0.0.1]:1\n",
	  "error", 3, 4, "ValueError: bad oar" },
	{ "of ranks that raise the same, the one that torchrun calls the first",
	  TRACEBACK "ValueError: bad oar\n" TRACEBACK "ValueError: bad oar\n"
	  "Other Failures:\n[0]:\n  rank      : 0 (local_rank: 0)\n"
	  "  exitcode  : 1 (pid: 8)\n  ValueError: bad oar\n"
	  "Root Cause (first observed failure):\n[1]:\n"
	  "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 9)\n"
	  "  ValueError: bad oar\n",
	  "error", 1, 4, "ValueError: bad oar" },
	{ "torchrun's block names the rank that a signal ended",
	  "Fatal Python error: Segmentation fault\n"
	  TRACEBACK "RuntimeError: Connection closed by peer [10.0.0.1]:7\n"
	  "Failures:\n[1]:\n  host      : oak7\n  rank      : 4 (local_rank: "
	  "0)\n  exitcode  : -11 (pid: 8)\n"
	  "Root Cause (first observed failure):\n[0]:\n  host      : oak3\n"
	  "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 7)\n",
	  "signal", 4, 1, "Fatal Python error: Segmentation fault" },
	{ "who only reports a time-out is not blamed",
	  "[rank3]:[E1 x.cpp:1] [Rank 3] Watchdog caught collective operation "
	  "timeout: SeqNum=9\n",
	  "communication", -1, 1,
	  "[E1 x.cpp:1] [Rank 3] Watchdog caught collective operation "
	  "timeout: SeqNum=9" },
	{ "an exception whose text is in the next line",
	  TRACEBACK "AssertionError: \nlayers must be even\n",
	  "error", -1, 5, "layers must be even" },
	{ "the earlier of a chain",
	  TRACEBACK "OSError: [Errno 28] No space left on device\n\n"
	  "During handling of the above exception, another exception occurred:"
	  "\n\n" TRACEBACK "RuntimeError: cannot save\n",
	  "data", -1, 4, "OSError: [Errno 28] No space left on device" },
	{ "after a launcher's restart it trains on",
	  "[ERROR] failed (exitcode: 1) local_rank: 2 (pid: 7) of binary: p\n"
	  "step 1 loss 3.1\nstep 2 loss 3.0\nstep 3 loss 2.9\n"
	  "step 4 loss 2.8\nstep 5 loss 2.7\nstep 6 loss 2.6\n"
	  "step 7 loss 2.5\nstep 8 loss 2.4\nstep 9 loss 2.3\n"
	  "step 10 loss 2.2\n",
	  NULL, -1, -1, NULL },
	{ "a loss without a word for the step is progress",
	  "ValueError: cannot use the fast path\n"
	  "[10] size = 4.5, train_loss = 7.44\n"
	  "[20] size = 4.6, train_loss = 7.32\n"
	  "[30] size = 4.7, train_loss = 7.11\n",
	  NULL, -1, -1, NULL },
	{ "so is a rate",
	  "ValueError: cannot use the fast path\n"
	  "10it; L 3.1; 412 img/s\n20it; L 3.0; 411 img/s\n"
	  "30it; L 2.9; 413 img/s\n",
	  NULL, -1, -1, NULL },
	{ "a batch that was skipped",
	  "level=error msg=\"batch 8 skipped: torch.OutOfMemoryError: CUDA out "
	  "of memory (9 tokens); going on\"\n",
	  NULL, -1, -1, NULL },
	{ "an error that was survived is none",
	  TRACEBACK "KeyError: 'pear'\nINFO built it anew\nstep 1 loss 2.0\n",
	  NULL, -1, -1, NULL },
	{ "but of two the one that ended it",
	  TRACEBACK "KeyError: 'pear'\nINFO built it anew\n"
	  TRACEBACK "ValueError: -4\n",
	  "error", -1, 9, "ValueError: -4" },
	{ "words that frighten are no failure",
	  "error rate 0.1, 0 failures, retry after timeout, killed: 0\n"
	  "Connection refused, retrying (1/34)\nOVERFLOW! Skipping step.\n",
	  NULL, -1, -1, NULL },
	{ "an intended end outdoes what follows from it",
	  "slurmstepd: error: *** JOB 9 ON oak3 CANCELLED AT "
	  "2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n"
	  TRACEBACK "KeyboardInterrupt\n",
	  "other", -1, 1,
	  "slurmstepd: error: *** JOB 9 ON oak3 CANCELLED AT "
	  "2026-01-01T00:00:00 DUE TO TIME LIMIT ***" },
	{ "of two jobs that were ended, the last counts",
	  "slurmstepd: error: *** JOB 9 ON oak3 CANCELLED AT "
	  "2026-01-01T00:00:00 ***\n"
	  "step 1 loss 9\nstep 2 loss 8\nstep 3 loss 7\nstep 4 loss 6\n"
	  "step 5 loss 5\nstep 6 loss 4\nstep 7 loss 3\nstep 8 loss 2\n"
	  "step 9 loss 2\nstep 10 loss 2\nstep 11 loss 1\nstep 12 loss 1\n"
	  "slurmstepd: error: *** JOB 10 ON oak4 CANCELLED AT "
	  "2026-01-02T00:00:00 DUE TO PREEMPTION ***\n",
	  "other", -1, 14,
	  "slurmstepd: error: *** JOB 10 ON oak4 CANCELLED AT "
	  "2026-01-02T00:00:00 DUE TO PREEMPTION ***" },
	{ "a bar that is drawn over itself is one line",
	  "  1%|#| 1/9\r  2%|#| 2/9Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in b\nValueError: no\n",
	  "error", -1, 3, "ValueError: no" },
	{ "a program that stops itself",
	  "step 1 loss 2.0\nLoss is nan, stopping training\n",
	  "nan", -1, 2, "Loss is nan, stopping training" },
	{ "an assertion of C comes before the signal it ends with",
	  "fit: src/fit.c:8: int f(int): Assertion `n > 0' failed.\n"
	  "Aborted (core dumped)\n",
	  "error", -1, 1,
	  "fit: src/fit.c:8: int f(int): Assertion `n > 0' failed." },
	{ "an exception of C++ comes before the signal it ends with",
	  "terminate called after throwing an instance of 'std::logic_error'\n"
	  "Aborted (core dumped)\n",
	  "error", -1, 1,
	  "terminate called after throwing an instance of 'std::logic_error'" },
	{ "an exception comes before what is thrown while the process ends",
	  "RuntimeError: HIP error: no kernel image is available\n"
	  "terminate called after throwing an instance of 'c10::Error'\n"
	  "  what():  invalid device pointer: 0x54\n",
	  "error", -1, 1,
	  "RuntimeError: HIP error: no kernel image is available" },
	{ "and before the abort that the shell tells",
	  "ValueError: bad oar\nterminate called without an active exception\n"
	  "Aborted (core dumped)\n",
	  "error", -1, 1, "ValueError: bad oar" },
	{ "an abort, and peers that see a reset at the end of their line",
	  "Fatal Python error: Aborted\n\n"
	  TRACEBACK "RuntimeError: [pair.cc:547] Read error [::1]:1: Connection "
	  "reset by peer\n",
	  "signal", -1, 1, "Fatal Python error: Aborted" },
	{ "a reset that nothing else explains",
	  "step 1 loss 2.5\nread from worker: connection reset by peer\n",
	  "communication", -1, 2, "read from worker: connection reset by peer" },
	{ "an abort comes before the connections that it closes",
	  "Fatal Python error: Aborted\n\n"
	  TRACEBACK "RuntimeError: [pair.cc:5] Connection reset by peer [::1]:1\n"
	  "E1 torch/distributed/elastic/multiprocessing/api.py:869] failed "
	  "(exitcode: -6) local_rank: 3 (pid: 9) of binary: p\n",
	  "signal", -1, 1, "Fatal Python error: Aborted" },
	{ "of ranks that fail alike no launcher knows the first",
	  TRACEBACK "KeyError: 'pear'\n"
	  TRACEBACK "RuntimeError: [pair.cc:5] Connection closed by peer [::1]:1\n"
	  "Failures:\n[1]:\n  time      : 2026-01-02_03:04:05\n"
	  "  host      : oak3\n  rank      : 1 (local_rank: 1)\n"
	  "  exitcode  : 1 (pid: 8)\nRoot Cause (first observed failure):\n"
	  "[0]:\n  time      : 2026-01-02_03:04:05\n  host      : oak3\n"
	  "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 7)\n",
	  "error", -1, 4, "KeyError: 'pear'" },
	{ "but it knows one that ended earlier",
	  TRACEBACK "KeyError: 'pear'\n"
	  TRACEBACK "RuntimeError: [pair.cc:5] Connection closed by peer [::1]:1\n"
	  "Failures:\n[1]:\n  time      : 2026-01-02_03:04:06\n"
	  "  host      : oak3\n  rank      : 1 (local_rank: 1)\n"
	  "  exitcode  : 1 (pid: 8)\nRoot Cause (first observed failure):\n"
	  "[0]:\n  time      : 2026-01-02_03:04:05\n  host      : oak3\n"
	  "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 7)\n",
	  "error", 0, 4, "KeyError: 'pear'" },
	{ "torchrun's block alone",
	  "fit.py FAILED\nFailures:\n  <NO_OTHER_FAILURES>\n"
	  "Root Cause (first observed failure):\n[0]:\n  host      : oak3\n"
	  "  rank      : 5 (local_rank: 1)\n  exitcode  : 1 (pid: 7)\n",
	  "other", 5, 4, "Root Cause (first observed failure):" },
	{ "who was killed after the first failure was ended by the launcher",
	  "Failures:\n[1]:\n  time      : 2026-01-02_03:04:36\n"
	  "  host      : oak3\n  rank      : 0 (local_rank: 0)\n"
	  "  exitcode  : -9 (pid: 8)\n"
	  "  traceback : Signal 9 (SIGKILL) received by PID 8\n"
	  "Root Cause (first observed failure):\n"
	  "[0]:\n  time      : 2026-01-02_03:04:05\n  host      : oak3\n"
	  "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 7)\n",
	  "other", 1, 8, "Root Cause (first observed failure):" },
	{ "who was killed in the same second may be the cause",
	  "Failures:\n[1]:\n  time      : 2026-01-02_03:04:05\n"
	  "  host      : oak3\n  rank      : 0 (local_rank: 0)\n"
	  "  exitcode  : -9 (pid: 8)\n"
	  "  traceback : Signal 9 (SIGKILL) received by PID 8\n"
	  "Root Cause (first observed failure):\n"
	  "[0]:\n  time      : 2026-01-02_03:04:05\n  host      : oak3\n"
	  "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 7)\n",
	  "signal", 0, 7, "traceback : Signal 9 (SIGKILL) received by PID 8" },
	{ "so may be who was seen dead some seconds after",
	  "Failures:\n[1]:\n  time      : 2026-01-02_03:05:01\n"
	  "  host      : oak3\n  rank      : 3 (local_rank: 1)\n"
	  "  exitcode  : -9 (pid: 8)\n"
	  "  traceback : Signal 9 (SIGKILL) received by PID 8\n"
	  "Root Cause (first observed failure):\n"
	  "[0]:\n  time      : 2026-01-02_03:04:59\n  host      : oak3\n"
	  "  rank      : 2 (local_rank: 0)\n  exitcode  : 1 (pid: 7)\n",
	  "signal", 3, 7, "traceback : Signal 9 (SIGKILL) received by PID 8" },
	{ "an error in JSON, as torchelastic writes it",
	  "[ERROR] 2026-01-02 03:04:05,880 error_handler: {\n"
	  "  \"message\": {\n    \"message\": \"OarError: bad oar\",\n",
	  "error", -1, 3, "\"message\": \"OarError: bad oar\"," },
	{ "marks of a frame that another rank tore off",
	  TRACEBACK "    ^^^^^^\n^^^^^^^^^^^^^\nValueError: bad oar\n",
	  "error", -1, 6, "ValueError: bad oar" },
	{ "an interrupt from the keyboard",
	  "step 1 loss 2.0\n" TRACEBACK "KeyboardInterrupt\n", "signal", -1, 5,
	  "KeyboardInterrupt" },
	{ "of two jobs in one file the last one counts",
	  "=== job 8 ===\n" TRACEBACK "ModuleNotFoundError: No module named 'o'\n"
	  "srun: error: oak3: task 0: Exited with exit code 1\n"
	  "=== job 9 ===\n" TRACEBACK "ValueError: bad oar\n",
	  "error", -1, 11, "ValueError: bad oar" },
	{ "also if it ends well",
	  "=== job 8 ===\n" TRACEBACK "ValueError: bad oar\n=== job 9 ===\n",
	  NULL, -1, -1, NULL },
	{ "an import that the program can do without",
	  TRACEBACK "ModuleNotFoundError: No module named 'o'\n"
	  "Job ended, exit status 0\n", NULL, -1, -1, NULL },
	{ "no failures, in Chinese", "任务结束，失败数 0，异常退出 0\n", NULL, -1,
	  -1, NULL },
	{ "the help of an option",
	  "usage: fit.py [-h]\n\noptions:\n"
	  "  --amp  if RuntimeError: CUDA out of memory occurs\n",
	  NULL, -1, -1, NULL },
	{ "what is missing after the help",
	  "usage: fit.py [-h] --data D\n"
	  "fit.py: error: the following arguments are required: --data\n",
	  "error", -1, 2,
	  "fit.py: error: the following arguments are required: --data" },
	{ "Paddle's summary comes before its launcher's report",
	  "----------------------\nError Message Summary:\n"
	  "----------------------\nPreconditionNotMetError: bkcl_init_rank "
	  "failed\nABORT!!! Out of all 2 trainers, the trainer process with "
	  "rank=[1] was aborted.\n",
	  "communication", 1, 4,
	  "PreconditionNotMetError: bkcl_init_rank failed" },
	{ "a code of HCCL names the rank that is waited for",
	  TRACEBACK "RuntimeError: ACL stream synchronize failed, code:107\n"
	  "EI0002: [PID: 3] no record from remote rank [6].\n",
	  "communication", 6, 5,
	  "EI0002: [PID: 3] no record from remote rank [6]." },
	{ "shared memory that is too small",
	  "ERROR: Unexpected bus error encountered in worker. This might be "
	  "caused by insufficient shared memory (shm).\n",
	  "signal", -1, 1,
	  "ERROR: Unexpected bus error encountered in worker. This might be "
	  "caused by insufficient shared memory (shm)." },
	{ "a driver and a library that differ",
	  "Failed to initialize NVML: Driver/library version mismatch\n",
	  "device-missing", -1, 1,
	  "Failed to initialize NVML: Driver/library version mismatch" },
	{ "what Ray's raylet says",
	  "(raylet) 2 Workers (tasks / actors) killed due to memory pressure "
	  "(OOM)\n", "host-oom", -1, 1,
	  "2 Workers (tasks / actors) killed due to memory pressure (OOM)" },
	{ "a variable that is not there",
	  TRACEBACK "KeyError: b'OARS'\n\n"
	  "During handling of the above exception, another exception occurred:"
	  "\n\n" TRACEBACK "KeyError: 'OARS'\n",
	  "error", -1, 11, "KeyError: 'OARS'" },
	{ "options that a program does not have",
	  "fit.py: error: unrecognized arguments: --pear\n",
	  "error", -1, 1, "fit.py: error: unrecognized arguments: --pear" },
	{ "no device of AMD's",
	  TRACEBACK "RuntimeError: No HIP GPUs are available\n",
	  "device-missing", -1, 4, "RuntimeError: No HIP GPUs are available" },
	{ "a panic of Rust",
	  "thread 'main' panicked at src/fit.rs:1:5:\nno pear\n",
	  "error", -1, 1, "thread 'main' panicked at src/fit.rs:1:5:" },
	{ "a file that a program cannot open",
	  "fit: cannot open pears: a.bin: No such file or directory\n",
	  "data", -1, 1,
	  "fit: cannot open pears: a.bin: No such file or directory" },
	{ "but not one that another can do without",
	  "ls: cannot access 'a.bin': No such file or directory\n",
	  NULL, -1, -1, NULL },
	{ "what a C++ exception says, not that there was one",
	  "terminate called after throwing an instance of 'pear::Error'\n"
	  "  what():  7 pears do not fit in a row of 6\nAborted\n",
	  "error", -1, 2, "what():  7 pears do not fit in a row of 6" },
	{ "a check of a program in C++",
	  "F0102 03:04:05.6 78 tree.cc:9] Check failed: a == b (3 vs. 4) \n"
	  "Aborted (core dumped)\n",
	  "error", -1, 1,
	  "F0102 03:04:05.6 78 tree.cc:9] Check failed: a == b (3 vs. 4)" },
	{ "a destructor's exception ends nothing",
	  "Exception ignored in: <function Pear.__del__ at 0x7f>\n" TRACEBACK
	  "AssertionError: no pear of mine\ntest accuracy: 0.9\n",
	  NULL, -1, -1, NULL },
	{ "nor does one of a message that could not be logged",
	  "--- Logging error ---\n" TRACEBACK
	  "TypeError: not all pears were used\n",
	  NULL, -1, -1, NULL },
	{ "one sign of life may come from a launcher, or from a bar's end",
	  TRACEBACK "ValueError: -4\nINFO it took 3 s\n",
	  "error", -1, 4, "ValueError: -4" },
	{ "a bar that is drawn once more",
	  TRACEBACK "ValueError: -4\nEpoch 0: 100%|###| 9/9 [00:01<00:00, "
	  "9.1it/s, loss=2.1]\n",
	  "error", -1, 4, "ValueError: -4" },
	{ "steps in JSON are progress",
	  "Received SIGTERM, a rehearsal\n{\"step\": 4, \"loss\": 2.1}\n",
	  NULL, -1, -1, NULL },
	{ "indented steps after an exception are progress",
	  TRACEBACK "OSError: no pears today\nplums instead\n"
	  "    step 10: loss 3.41, 210 ms\n",
	  NULL, -1, -1, NULL },
	{ "lines that come again with larger numbers are a sign of life",
	  "fatal: no orchard\n pear  1/3  ripe 0.912  12s\n"
	  " pear  2/3  ripe 0.712  12s\n pear  3/3  ripe 0.612  12s\n",
	  NULL, -1, -1, NULL },
	{ "one line is enough if they came before",
	  "pear 1: 0.912\npear 2: 0.712\nERROR tree: one is lost\n"
	  "pear 3: 0.612\n",
	  NULL, -1, -1, NULL },
	{ "not if the numbers do not grow",
	  TRACEBACK "OSError: no pears today\npear 3: 0.912\npear 2: 0.712\n"
	  "pear 1: 0.612\npear 0: 0.512\n",
	  "error", -1, 4, "OSError: no pears today" },
	{ "nor are the numbers of a traceback",
	  TRACEBACK "    pear 1.5\n    pear 2.5\n    pear 3.5\n    pear 4.5\n"
	  "KeyError: 'pear'\n",
	  "error", -1, 8, "KeyError: 'pear'" },
	{ "a list of what is there at this moment is no progress",
	  TRACEBACK "OSError: no pears today\n  1. Size: 2.5 G\n"
	  "  2. Size: 1.5 G\n  3. Size: 1.5 G\n  4. Size: 0.5 G\n",
	  "error", -1, 4, "OSError: no pears today" },
	{ "nor are the numbers of ranks",
	  TRACEBACK "OSError: no pears today\nrank 1 waited 2.5 s\n"
	  "rank 2 waited 2.5 s\n",
	  "error", -1, 4, "OSError: no pears today" },
	{ "steps after a signal that another program got",
	  "pear[31]: segfault at 0 ip 00007f sp 00007f error 4\n"
	  "plum 1 0.91\nplum 2 0.92\nplum 3 0.93\n",
	  NULL, -1, -1, NULL },
	{ "what a launcher began again",
	  "[ERROR] failed (exitcode: -9) local_rank: 3 (pid: 4) of binary: p\n"
	  "[default] Worker group FAILED. 2/3 attempts left; will restart "
	  "worker group\nplum\n",
	  NULL, -1, -1, NULL },
	{ "what a program does without",
	  TRACEBACK "ModuleNotFoundError: No module named 'pear'\n"
	  "continuing without pears\n",
	  NULL, -1, -1, NULL },
	{ "a test that raises",
	  TRACEBACK "ValueError: pear\nlast ... ok\n", NULL, -1, -1, NULL },
	{ "words that begin like what a shell says",
	  "Killed 3 old pears\n", NULL, -1, -1, NULL },
	{ "another try after an error",
	  "ERROR: orchard: connection reset by peer\nretry 1 of 3\nripe\n",
	  NULL, -1, -1, NULL },
	{ "who gives up says more, but goes on with nothing",
	  "step 1 loss 2.0\nERROR giving up: basket 3 does not match its label\n"
	  "INFO pears put away\nINFO trees watered\nINFO orchard closed\n"
	  "INFO 1 step in 2 s\n",
	  "error", -1, 2, "ERROR giving up: basket 3 does not match its label" },
	{ "unless it goes on with all",
	  "ERROR giving up: basket 3 does not match its label\n"
	  "step 1 loss 2.0\nstep 2 loss 1.9\nstep 3 loss 1.8\nstep 4 loss 1.7\n",
	  NULL, -1, -1, NULL },
	{ "soft words before the end that a launcher tells",
	  "step 1 loss 2.0\nthe tree has 8 pears but pear 9 was picked\n"
	  "ladder put away\npicker-1 exited with code 2\n",
	  "error", -1, 2, "the tree has 8 pears but pear 9 was picked" },
	{ "soft words of a program that nothing says has failed",
	  "step 1 loss 2.0\nthe tree has 8 pears but pear 9 was picked\n"
	  "ladder put away\n",
	  NULL, -1, -1, NULL },
	{ "the letter of a level alone after the clock",
	  "2031-01-02 03:04:05.6: I pear.cc:7] aborting: basket out of range\n"
	  "2031-01-02 03:04:05.7: E pear.cc:8] basket 9 is no basket\n",
	  "error", -1, 2,
	  "2031-01-02 03:04:05.7: E pear.cc:8] basket 9 is no basket" },
	{ "words that say an end, and the line before that says why",
	  "step 1 loss 2.0\nthe basket holds 3 pears, not 4\ngiving up\n",
	  "error", -1, 2, "the basket holds 3 pears, not 4" },
	{ "unless that is a step",
	  "step 1 loss 2.0\nAborting.\n", "error", -1, 2, "Aborting." },
	{ "an end in the same line",
	  "no plums but pears: bad basket, will exit\n",
	  "error", -1, 1, "no plums but pears: bad basket, will exit" },
	{ "a sum that is wrong, as the last word",
	  "step 1 loss 2.0\nexpected 32 pears, got 24\n",
	  "error", -1, 2, "expected 32 pears, got 24" },
	{ "unless something is done about it",
	  "could not find ripe pears, rebuilding the orchard\nbuilt\n",
	  NULL, -1, -1, NULL },
	{ "that counts only at the end of the output",
	  "pear 7 is too small, quitting the row\n1\n2\n3\n4\n5\n6\n"
	  "7\n8\n9\n10\n11\n12\n13\n",
	  NULL, -1, -1, NULL },
	{ "even if a launcher has the very last one",
	  "Giving up: two baskets share 3 pears.\nbaskets counted\n"
	  "make: *** [pears] Error 3\n",
	  "error", -1, 1, "Giving up: two baskets share 3 pears." },
	{ "a refusal, and what goes home afterwards",
	  "Will not go on: basket 7 holds 3 pears, the list says 4\n"
	  "[bye] wall 7 s\npears.sh: picker returned 3\n",
	  "error", -1, 1,
	  "Will not go on: basket 7 holds 3 pears, the list says 4" },
	{ "a count of no errors",
	  "baskets: 4 PICKED | 0 ERROR | 0 PENDING\n", NULL, -1, -1, NULL },
	{ "an exception that could not fall back",
	  "RuntimeError: no pear of size 7, fail to fallback to plums\n",
	  "error", -1, 1,
	  "RuntimeError: no pear of size 7, fail to fallback to plums" },
	{ "an exception that advises the CPU as a fallback",
	  "NotImplementedError: pear is not implemented for plums. As a "
	  "temporary fix, set PLUM=1 to use the CPU as a fallback for it.\n",
	  "error", -1, 1,
	  "NotImplementedError: pear is not implemented for plums. As a "
	  "temporary fix, set PLUM=1 to use the CPU as a fallback for it." },
	{ "a tool that misses the output of what did not start",
	  "pears.sh: line 9: /pears/bin/pick: No such file or directory\n"
	  "tail: cannot open 'pears.csv' for reading: No such file or "
	  "directory\n",
	  "other", -1, 1,
	  "pears.sh: line 9: /pears/bin/pick: No such file or directory" },
	{ "words of an end in brackets",
	  "【终止】梨的清单第3行缺少一列\n【清理】关闭线程\n",
	  "error", -1, 1, "【终止】梨的清单第3行缺少一列" },
	{ "an end that counts what failed is none",
	  "训练完成，失败样本 1 个，致命错误 0 个\n", NULL, -1, -1, NULL },
	{ "a variable of a shell, and what its trap fails at",
	  "./pears.sh: line 3: BASKET: unbound variable\n"
	  "send-pears: cannot connect to smtp:25: Connection refused\n",
	  "error", -1, 1, "./pears.sh: line 3: BASKET: unbound variable" },
	{ "what a compiler says, and the import that fails for it",
	  "nvcc fatal   : no pears of 'compute_999'\n"
	  "ImportError: pears.so: cannot open shared object file\n",
	  "error", -1, 1, "nvcc fatal   : no pears of 'compute_999'" },
	{ "a device that left its bus, in other words",
	  "[P][E]basket 6 went away from the PCIe bus\n"
	  "RuntimeError: CUDA error: unspecified launch failure\n",
	  "hardware", -1, 1, "[P][E]basket 6 went away from the PCIe bus" },
	{ "an exception that says where the cause stands",
	  "Traceback (most recent call last):\n"
	  "  File \"pears.py\", line 3, in pick\n"
	  "ValueError: 64 pears are more than 16\n"
	  "Traceback (most recent call last):\n"
	  "  File \"row.py\", line 5, in walk\n"
	  "RowDeadError: the row has an issue. See stack trace (above) for "
	  "the root cause.\n",
	  "error", -1, 3, "ValueError: 64 pears are more than 16" },
	{ "a job that its scheduler started again",
	  "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2031-01-01T00:00:00 "
	  "DUE TO PREEMPTION ***\n"
	  "basket 1 (SLURM_RESTART_COUNT=1)\npears: 7\n",
	  NULL, -1, -1, NULL },
	{ "a rank without a colon",
	  "[rank4] Traceback (most recent call last):\n"
	  "[rank4]   File \"pears.py\", line 3, in pick\n"
	  "[rank4] RuntimeError: no pears\n",
	  "error", 4, 3, "RuntimeError: no pears" },
	{ "an exception without its traceback has its class",
	  "OSError: [Errno 28] No space left on device: 'pears'\n",
	  "data", -1, 1,
	  "OSError: [Errno 28] No space left on device: 'pears'" },
	{ "a figure named error is none",
	  "pear error: 0.012\n", NULL, -1, -1, NULL },
	{ "a command that a script does without",
	  "go.sh: line 4: pear-smi: command not found\n"
	  "plum 10 0.21s\nplum 20 0.21s\nplum 30 0.21s\n",
	  NULL, -1, -1, NULL },
	{ "a level alone, if nothing follows",
	  "step 1 loss 2.0\n10:00:01 ERROR tree: 7 pears in a row of 6\n",
	  "error", -1, 2, "ERROR tree: 7 pears in a row of 6" },
	{ "or in JSON",
	  "{\"level\": \"error\", \"msg\": \"7 pears in a row of 6\"}\n",
	  "error", -1, 1,
	  "{\"level\": \"error\", \"msg\": \"7 pears in a row of 6\"}" },
	{ "but not if steps follow",
	  "10:00:01 ERROR tree: no cache\nstep: [1/9], loss: [2.0/2.0]\n",
	  NULL, -1, -1, NULL },
	{ "an exception of a worker is quoted in whole below",
	  TRACEBACK "ValueError: Caught ValueError in pear worker 5.\n"
	  "Original " TRACEBACK "ValueError: -4\n",
	  "error", -1, 8, "ValueError: -4" },
	{ "what a compiler says comes before what needs it",
	  "pear.cu:6:10: fatal error: plum.h: No such file or directory\n"
	  TRACEBACK "RuntimeError: Error building extension 'pear'\n"
	  TRACEBACK "ImportError: pear.so: cannot open shared object file\n",
	  "error", -1, 1,
	  "pear.cu:6:10: fatal error: plum.h: No such file or directory" },
	{ "the end of a job is not another one",
	  TRACEBACK "ValueError: -4\n=== job 7 exit code 134 ===\n",
	  "error", -1, 4, "ValueError: -4" },
	{ "memory of any runtime",
	  TRACEBACK "RuntimeError: level_zero: UR_RESULT_ERROR_OUT_OF_DEVICE_"
	  "MEMORY\n",
	  "device-oom", -1, 4,
	  "RuntimeError: level_zero: UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY" },
	{ "fewer devices than asked for",
	  TRACEBACK "ValueError: requested 8 devices but only 4 are visible\n",
	  "device-missing", -1, 4,
	  "ValueError: requested 8 devices but only 4 are visible" },
	{ "a process that a signal ended, as a parent says",
	  "worker 3 (pid 7) exited with code -11\n",
	  "signal", -1, 1, "worker 3 (pid 7) exited with code -11" },
	{ "the kernel's word of it",
	  "[7.1] pear[9]: segfault at 0 ip 07 sp 08 error 4 in pear.so\n",
	  "signal", -1, 1,
	  "[7.1] pear[9]: segfault at 0 ip 07 sp 08 error 4 in pear.so" },
	{ "a disk that is full, as a tool says",
	  "tar: pears.tar: Cannot write: No space left on device\n",
	  "data", -1, 1,
	  "tar: pears.tar: Cannot write: No space left on device" },
	{ "an exception that points at an error further below",
	  TRACEBACK "RuntimeError: The Inner error is reported as above.\n"
	  "EI0002: [PID: 3] no word from rank [5]\n",
	  "communication", -1, 5, "EI0002: [PID: 3] no word from rank [5]" },
	{ "a model's folder without its files",
	  TRACEBACK "OSError: /m does not appear to have a file named c.json.\n",
	  "data", -1, 4,
	  "OSError: /m does not appear to have a file named c.json." },
	{ "who cannot use its own device is no victim of another",
	  "I1 nccl_context.cc:1] init nccl context nranks: 8 local rank: 2 g\n"
	  TRACEBACK "OSError: (External)  Nccl error, unhandled cuda error\n",
	  "communication", 2, 5,
	  "OSError: (External)  Nccl error, unhandled cuda error" },
	{ "an exception that only the launcher's report has",
	  "E0101 api.py:874] failed (exitcode: 1) local_rank: 0 (pid: 4)\n"
	  "fit.py FAILED\nFailures:\n[1]:\n"
	  "  time      : 2026-01-02_03:04:06\n  host      : oak3\n"
	  "  rank      : 3 (local_rank: 3)\n  exitcode  : 1 (pid: 7)\n"
	  "  traceback : Traceback (most recent call last):\n"
	  "    File \"/app/fit.py\", line 3, in f\n  KeyError: 'oar'\n"
	  "Root Cause (first observed failure):\n[0]:\n"
	  "  time      : 2026-01-02_03:04:05\n  host      : oak3\n"
	  "  rank      : 2 (local_rank: 2)\n  exitcode  : 1 (pid: 6)\n"
	  "  traceback : Traceback (most recent call last):\n"
	  "    File \"/app/fit.py\", line 4, in f\n  ValueError: no rowers\n",
	  "error", 2, 20, "ValueError: no rowers" },
	{ "peers that did not come",
	  TRACEBACK "torch.distributed.DistStoreError: Timed out after 901 "
	  "seconds waiting for clients. 3/4 clients joined.\n",
	  "communication", -1, 4,
	  "torch.distributed.DistStoreError: Timed out after 901 seconds "
	  "waiting for clients. 3/4 clients joined." },
	{ "a program of another machine", "exec /app/fit: exec format error\n",
	  "other", -1, 1, "exec /app/fit: exec format error" },
	{ "the memory of a device in Chinese", "设备 3 显存不足\n",
	  "device-oom", -1, 1, "设备 3 显存不足" },
	{ "an instruction that the processor does not have",
	  "fit.sh: line 4: 77 Illegal instruction (core dumped) ./fit\n",
	  "signal", -1, 1,
	  "fit.sh: line 4: 77 Illegal instruction (core dumped) ./fit" },
	{ "a kernel for other devices is no missing one",
	  TRACEBACK "RuntimeError: HIP error: invalid device function\n",
	  "error", -1, 4, "RuntimeError: HIP error: invalid device function" },
	{ "memory that is only told of", "显存不足时自动卸载\nstep 1 loss 2\n",
	  NULL, -1, -1, NULL },
	{ "a compiler", "/w/oar.cu(41): error: identifier \"oar\" is undefined\n",
	  "error", -1, 1,
	  "/w/oar.cu(41): error: identifier \"oar\" is undefined" },
	{ "a panic", "panic: no oar\n\ngoroutine 1 [running]:\n",
	  "error", -1, 1, "panic: no oar" },
	{ "last words of nobody's language",
	  "orchard of 3 rows\nrow 2 has 40 pears, the list 41; stopping\n",
	  "error", -1, 2, "row 2 has 40 pears, the list 41; stopping" },
	{ "the letter of a level, and no other word of failure",
	  "I 10:00:01 row 1\nF 10:00:02 pear.cc:3] 5 pears for 2 baskets\n",
	  "error", -1, 2, "F 10:00:02 pear.cc:3] 5 pears for 2 baskets" },
	{ "the words say the class",
	  "giving up: shard 9 does not match its checksum\n", "data", -1, 1,
	  "giving up: shard 9 does not match its checksum" },
	{ "of an exception, too",
	  TRACEBACK "PearError: 3 pears: no usable accelerator\n",
	  "device-missing", -1, 4, "PearError: 3 pears: no usable accelerator" },
	{ "and of Chinese", "[错误] 读取语料 梨.bin 失败：文件头魔数不匹配\n退出\n",
	  "data", -1, 1, "[错误] 读取语料 梨.bin 失败：文件头魔数不匹配" },
	{ "the last of a chain is the root",
	  "10:00 ERROR Basket: row 3\norg.pear.RowException: row failed\n"
	  "\tat org.pear.Row.take(Row.java:8)\n"
	  "Caused by: org.pear.TreeException: tree 4\n\t... 9 more\n"
	  "Caused by: java.io.EOFException: 7 pears left\n\t... 9 more\n"
	  "10:00 INFO Basket: Shutdown hook called\n",
	  "data", -1, 6, "Caused by: java.io.EOFException: 7 pears left" },
	{ "a logger's head before a traceback",
	  "ERROR 01-01 10:00:01 [core.py:7] Traceback (most recent call last):\n"
	  "ERROR 01-01 10:00:01 [core.py:7]   File \"/a.py\", line 1, in f\n"
	  "ERROR 01-01 10:00:02 [core.py:7] ValueError: pear 3\n"
	  TRACEBACK "RuntimeError: core failed\n",
	  "error", -1, 3, "ValueError: pear 3" },
	{ "what the others say when the first is gone",
	  "[pear 1] ERROR tree 5 closed the connection\n"
	  "[pear 2] ERROR abort: received stop\n"
	  "[pear 3] ERROR abort: received stop\n",
	  "communication", -1, 1, "[pear 1] ERROR tree 5 closed the connection" },
	{ "tries that follow do not hide it",
	  "ERROR cannot reach tree-2:40: Connection refused\n"
	  "INFO trying tree-2:40 (attempt 2)\nWARNING attempt 2 failed\n"
	  "INFO trying tree-2:40 (attempt 3)\nWARNING attempt 3 failed\n"
	  "INFO trying tree-2:40 (attempt 4)\nWARNING attempt 4 failed\n",
	  "communication", -1, 1,
	  "ERROR cannot reach tree-2:40: Connection refused" },
	{ "words that count nothing, or name something",
	  "pears: {\"on_error\": \"abort\", \"fatal_exit\": true}\n"
	  "word error rate 0.12, no errors, 0 failed\nFailed requests: 0\n"
	  "validation error 0.131\nearly stopping: pears did not improve\n",
	  NULL, -1, -1, NULL },
	{ "a file that is named makes it one of data",
	  "could not weigh /orchard/row/7.bin (0 bytes)\n", "data", -1, 1,
	  "could not weigh /orchard/row/7.bin (0 bytes)" },
	{ "a place in a file, at the end", "orchard.toml:14: twice a `pear`\n",
	  "error", -1, 1, "orchard.toml:14: twice a `pear`" },
	{ "a figure and an empty list",
	  "mean failure of pears 0.02\nMissing pears: []\n", NULL, -1, -1,
	  NULL },
	{ "an error that comes again and again ends nothing",
	  "ERROR no pear\nstep 1 loss 3.1\nERROR no pear\nstep 2 loss 3.0\n"
	  "ERROR no pear\n",
	  NULL, -1, -1, NULL },
	{ "an exception without a message, and what it led to",
	  TRACEBACK "_orchard.Gone\n\n"
	  "The above exception was the direct cause of the following exception:"
	  "\n\n" TRACEBACK "RuntimeError: the pear basket is closed\n",
	  "error", -1, 11, "RuntimeError: the pear basket is closed" },
	{ "the last of several programs",
	  TRACEBACK "ValueError: row 7 has no pears\n"
	  "pears of row 1 are weighed\n"
	  "pears of row 2 are weighed\n"
	  "pears of row 3 are weighed\n"
	  "pears of row 4 are weighed\n"
	  "pears of row 5 are weighed\n"
	  "pears of row 6 are weighed\n"
	  "pears of row 7 are weighed\n"
	  "pears of row 8 are weighed\n"
	  "pears of row 9 are weighed\n"
	  "pears of row 10 are weighed\n"
	  "pears of row 11 are weighed\n"
	  "pears of row 12 are weighed\n"
	  "pears of row 13 are weighed\n"
	  "pears of row 14 are weighed\n"
	  "pears of row 15 are weighed\n"
	  "pears of row 16 are weighed\n"
	  "pears of row 17 are weighed\n"
	  "pears of row 18 are weighed\n"
	  "pears of row 19 are weighed\n"
	  "pears of row 20 are weighed\n"
	  "pears of row 21 are weighed\n"
	  "pears of row 22 are weighed\n"
	  "pears of row 23 are weighed\n"
	  "pears of row 24 are weighed\n" TRACEBACK
	  "TypeError: a pear is no apple\n",
	  "error", -1, 32, "TypeError: a pear is no apple" },
	{ "what follows soon is no other program",
	  TRACEBACK "ValueError: row 7 has no pears\npears are put back\n"
	  TRACEBACK "TypeError: a pear is no apple\n",
	  "error", -1, 4, "ValueError: row 7 has no pears" },
	{ "a help text that ends with an argument of nothing",
	  "usage: weigh.py [-h] [--rows ROWS]\n                [--trees TREES]\n"
	  "weigh.py: error: unrecognized arguments:  \n",
	  "error", -1, 3, "weigh.py: error: unrecognized arguments:" },
	{ "a launcher that tells of an abort comes behind its reason",
	  "Watchdog caught collective operation timeout: pears\n" TRACEBACK
	  "torch.multiprocessing.spawn.ProcessExitedException: process 3 "
	  "terminated with signal SIGABRT\n",
	  "communication", -1, 1,
	  "Watchdog caught collective operation timeout: pears" },
	{ "shapes that are broadcast",
	  TRACEBACK "RuntimeError: output with shape [8, 1] doesn't match the "
	  "broadcast shape [8, 2]\n",
	  "error", -1, 4,
	  "RuntimeError: output with shape [8, 1] doesn't match the broadcast "
	  "shape [8, 2]" },
	{ "an exception that quotes a traceback",
	  TRACEBACK "KeyError: 'worker(1) caught KeyError:\\nTraceback (most "
	  "recent call last):\\n  File \"weigh.py\", line 3\\nKeyError: 7'\n"
	  TRACEBACK "SystemError: the pear queue was killed because its reader "
	  "raised an exception.\n",
	  "error", -1, 4,
	  "KeyError: 'worker(1) caught KeyError:\\nTraceback (most recent call "
	  "last):\\n  File \"weigh.py\", line 3\\nKeyError: 7'" },
	{ "frames of a notebook",
	  "PearError                   Traceback (most recent call last)\n"
	  "~\\orchard\\cell_7.py in <module>\n      1 # weigh\n"
	  "----> 2 tree.weigh(pears,\n      3            rows=4)\n\n"
	  "~\\orchard\\tree.py in weigh(*pears)\n"
	  "---> 70     raise bad from None\n\nPearError: no scales\n",
	  "error", -1, 10, "PearError: no scales" },
	{ "frames that a narrow console has broken",
	  "Traceback (most recent call last):\n"
	  "  File \"C:\\orchard\\long\nname\\weigh.py\", line 20, in \n"
	  "weigh_all_pears\n    tree.weigh()\n"
	  "RuntimeError: no scales in the \norchard\n",
	  "error", -1, 6, "RuntimeError: no scales in the" },
	{ "the last of several attempts at a command line",
	  "usage: weigh.py [-h] [--rows ROWS]\n"
	  "weigh.py: error: argument --rows: invalid choice: 'pear'\n"
	  "usage: weigh.py [-h] [--rows ROWS]\n"
	  "weigh.py: error: argument --trees: expected one argument\n",
	  "error", -1, 4,
	  "weigh.py: error: argument --trees: expected one argument" },
	{ "what a library says of its own registers",
	  "2031-01-01 10:00:00.000001: E orchard/pear_fft.cc:7] Unable to "
	  "register pearFFT factory: Attempting to register factory for plugin "
	  "pearFFT when one has already been registered\nsaved all pears\n",
	  NULL, -1, -1, NULL },
	{ "prose of a model",
	  "Answer: The pears of that orchard were last counted in the autumn of "
	  "the year before. However, please note that my count may not be up to "
	  "date, as pears may have fallen from the trees since.\nQuestion: and "
	  "apples?\n",
	  NULL, -1, -1, NULL },
	{ "shorter prose",
	  "Input: Pears fall in autumn, and they do not respond to calls. The "
	  "baskets below the trees are there for them .\nOutput: pears\n",
	  NULL, -1, -1, NULL },
	{ "nothing at all", "", NULL, -1, -1, NULL },
};
/* clang-format on */

static void check_samples(size_t piece)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		cJSON *got = diagnose(samples[i].text, strlen(samples[i].text),
				      piece, false);
		bool good =
			number_of(got, "rank") == samples[i].rank &&
			number_of(got, "line_number") == samples[i].line_number;

		is(text_of(got, "class"), samples[i].class,
		   "%s, in pieces of %zu: the class", samples[i].about, piece);
		is(text_of(got, "line"), samples[i].line, "its line");
		if (!ok(good, "its rank and number"))
			printf("# rank %d, line %d\n", number_of(got, "rank"),
			       number_of(got, "line_number"));
		cJSON_Delete(got);
	}
}

/* The rest of the diagnosis: what launchers tell. */
static void check_ends(void)
{
	static const char text[] =
		"2: " TRACEBACK "2: ValueError: no\n"
		"srun: error: oak3: task 2: Exited with exit code 7\n"
		"srun: error: oak4: task 5: Exited with exit code 1\n";
	static const char caught[] =
		TRACEBACK "KeyError: 'pear'\nINFO built it anew\n";
	static const char noticed[] =
		"mpirun noticed that process rank 3 with PID 0 on node birch "
		"exited on signal 9 (Killed).\n";
	cJSON *got = diagnose(text, strlen(text), 9, false);

	is(text_of(got, "host"), "oak3", "the host of the rank");
	ok(number_of(got, "exit_code") == 7, "its exit code");
	ok(cJSON_GetArraySize(get(got, "others")) == 2, "others are told");
	cJSON_Delete(got);
	got = diagnose("fit.sh: line 4: 77 Bus error    python3 x.py\n", 45, 45,
		       false);
	is(text_of(got, "signal"), "SIGBUS", "a shell tells of a signal");
	cJSON_Delete(got);
	got = diagnose(noticed, strlen(noticed), 99, false);
	is(text_of(got, "signal"), "SIGKILL", "a launcher, by its number");
	ok(cJSON_IsNull(get(got, "exit_code")), "which is no exit code");
	cJSON_Delete(got);
	got = diagnose("srun: error: birch: task 0: Killed\n", 35, 35, false);
	is(text_of(got, "signal"), "SIGKILL", "a launcher, by its word");
	ok(cJSON_IsNull(get(got, "exit_code")), "which is no exit code");
	cJSON_Delete(got);
	got = diagnose(caught, strlen(caught), 99, true);
	is(text_of(got, "line"), "KeyError: 'pear'",
	   "what was survived counts where it is known that all failed");
	cJSON_Delete(got);
}

/* Nothing of what a log may be full of is kept without a limit. */
static void check_hostile(void)
{
	static const char traceback[] =
		"Traceback (most recent call last)\nValueError: ";
	static char text[4 << 20];
	size_t size = 0;
	cJSON *got;

	while (size < sizeof(text) - 100)
		size += (size_t)
			snprintf(text + size, 100, "%s%s",
				 size % 2 ? "[rank1]: " : "",
				 "RuntimeError: HIP out of memory. Tried to\n");
	got = diagnose(text, size, 65536, false);
	is(text_of(got, "class"), "device-oom", "a log of patterns is read");
	ok(number_of(got, "line_number") == 1, "the first of them counts");
	ok(cJSON_GetArraySize(get(got, "others")) == CAUSES_OTHERS_MAX,
	   "so many others are told");
	cJSON_Delete(got);
	memset(text, '\xff', sizeof(text));
	memcpy(text, traceback, sizeof(traceback) - 1);
	got = diagnose(text, sizeof(text), 4099, false);
	is(text_of(got, "class"), "error", "a line without an end is read");
	ok(strlen(text_of(got, "line")) <= CAUSE_LINE_MAX &&
		   !strncmp(text_of(got, "line"), "ValueError: ??", 14),
	   "its quote is cut, and has no broken characters");
	cJSON_Delete(got);
}

static void check_file_errors(void)
{
	static const char *const wrong[][2] = {
		{ "causes:\n  - {class: pear, order: 1, match: [x]}\n",
		  "pear" },
		{ "causes:\n  - {class: data, order: 1}\n", "match" },
		{ "causes:\n  - {class: data, order: 0, match: [x]}\n", "99" },
		{ "ignore: ['(']\n", ":1: ignore[0]" },
		{ "facts:\n  - {section: root}\n", "match" },
		{ "pears: []\n", "pears" },
		{ "words:\n  - {words: [pear]}\n", "fault or class" },
		{ "words:\n  - {class: data, words: [pear]}\n", "points" },
		{ "words:\n  - {fault: 10, words: [pear]}\n", "9" },
		{ "words:\n  - {fault: 1, words: [p]}\n", "two" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char path[] = "/tmp/causes_test.XXXXXX";
		struct error err = { 0 };
		owned_fd int fd = mkstemp(path);
		struct failure_patterns *got;

		if (write(fd, wrong[i][0], strlen(wrong[i][0])) < 0)
			abort();
		got = failure_patterns_read(path, &err);
		unlink(path);
		if (!ok(!got && strstr(err.text, wrong[i][1]),
			"an error of the file names %s", wrong[i][1]))
			printf("# %s\n", err.text);
		failure_patterns_free(got);
	}
}

static char *read_file(const char *folder, const char *name, size_t *size)
{
	char path[PATH_MAX];
	owned_file FILE *file = NULL;
	char *text = calloc(1, 1 << 20);

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	if (!file || !text)
		abort();
	*size = fread(text, 1, (1 << 20) - 1, file);
	return text;
}

/* Is the value of one of these kinds in the list or the item? */
static bool among(const cJSON *got, const cJSON *want, const cJSON *also)
{
	const cJSON *item;

	if (cJSON_Compare(got, want, true) ||
	    (cJSON_IsNull(got) && (!want || cJSON_IsNull(want))))
		return true;
	cJSON_ArrayForEach(item, also)
		if (cJSON_Compare(got, item, true))
			return true;
	return false;
}

static bool line_fits(const char *line, const cJSON *want)
{
	const char *text = cJSON_GetStringValue(want);

	return line && text && *text &&
	       (strstr(line, text) || strstr(text, line));
}

static bool fits(const cJSON *got, const cJSON *want)
{
	const char *line = text_of(got, "line");
	const cJSON *item;
	bool good = line_fits(line, get(want, "line"));

	if (!among(get(got, "class"), get(want, "class"),
		   get(want, "class_also")) ||
	    !among(get(got, "rank"), get(want, "rank"), get(want, "rank_also")))
		return false;
	if (!text_of(want, "class"))
		return true;
	cJSON_ArrayForEach(item, get(want, "also_ok"))
		good |= line_fits(line, item);
	cJSON_ArrayForEach(item, get(want, "must_not"))
		good &= !strstr(line, cJSON_GetStringValue(item));
	return good;
}

static void check_recorded(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned right = 0, all = 0, alarms = 0;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char name[NAME_MAX + 1];
		char *end = strstr(entry->d_name, ".expect.json");
		owned_free char *text = NULL, *json = NULL;
		cJSON *got, *want;
		size_t size;

		if (!end)
			continue;
		json = read_file(folder, entry->d_name, &size);
		snprintf(name, sizeof(name), "%.*s.log",
			 (int)(end - entry->d_name), entry->d_name);
		text = read_file(folder, name, &size);
		want = cJSON_Parse(json);
		got = diagnose(text, size, 4096, false);
		all++;
		if (fits(got, want))
			right++;
		else
			printf("# %s: %s, rank %d: %s\n", name,
			       text_of(got, "class"), number_of(got, "rank"),
			       text_of(got, "line"));
		alarms += !text_of(want, "class") && text_of(got, "class");
		cJSON_Delete(got);
		cJSON_Delete(want);
	}
	if (dir)
		closedir(dir);
	ok(all && right * 100 >= all * 85, "%u of %u recorded are right", right,
	   all);
	ok(!alarms, "no false alarm");
}

static bool gives_up(const char *text)
{
	owned(causes_free) struct causes *causes = causes_new(patterns, NULL);

	causes_feed(causes, text, strlen(text), NULL);
	causes_finish(causes, NULL);
	return causes_gave_up(causes);
}

static bool restarts(const char *command)
{
	struct failure_hit hit;

	return failure_patterns_find(patterns, FAILURE_RESTART, NULL, command,
				     strlen(command), false, &hit);
}

static void launchers(void)
{
	static const char failed[] =
		"step 3 loss 1.0\n"
		"E0101 torch/distributed/elastic/multiprocessing/api.py:869] "
		"failed (exitcode: 1) local_rank: 1 (pid: 77) of binary: p\n";
	char text[sizeof(failed) + 40];

	ok(gives_up(failed), "torchrun gives up when it reaps a process");
	ok(gives_up(
		   "[2026-01-01 10:00:00,000] [INFO] [launch.py:319:x] Process "
		   "77 exits with return code = 1\n"),
	   "so does DeepSpeed's launcher");
	snprintf(text, sizeof(text), "%sstep 4 loss 0.9\n", failed);
	ok(!gives_up(text), "one whose processes go on has not given up");
	ok(!gives_up("step 1 loss 2.0\nValueError: bad\n"),
	   "an error of a program alone is no launcher's word");
	ok(restarts("torchrun --nnodes=2 --max_restarts=3 train.py ") &&
		   restarts("torchrun --max-restarts 1 train.py ") &&
		   !restarts("torchrun --max_restarts=0 train.py "),
	   "a command that asks for restarts is known");
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	const char *folder = argc > 1 ? argv[1] : getenv("RECORDED_FAILURES");

	tap_begin(120);
	patterns = failure_patterns_read("images/failures.yaml", &err);
	if (!ok(patterns != NULL, "failures.yaml is read")) {
		printf("# %s\n", err.text);
		return tap_done();
	}
	check_samples(1);
	check_samples(4096);
	check_ends();
	check_hostile();
	check_file_errors();
	launchers();
	if (folder)
		check_recorded(folder);
	else
		printf("# no recorded outputs: RECORDED_FAILURES names none\n");
	failure_patterns_free(patterns);
	return tap_done();
}
