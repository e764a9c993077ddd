/* init.h - what regatta-init, PID 1 of every container, reads and writes.
 *
 * The agent bind-mounts three things into a container and runs the program
 * without arguments as its entry point:
 *
 *	/regatta-<ID>	the program, read-only. ID: 32 hex digits, of this
 *			container alone, so that nothing of an image can stand
 *			in its place
 *	/regatta/in	a folder, read-only: holds "start"
 *	/regatta/out	a folder, writable by any user of the image
 *
 * /regatta/in/start releases the command: regatta-init waits for it. The agent
 * makes it once it has compared the container with what the policy allows. It
 * is a run of NUL-terminated records. Any other record, or a broken one, is an
 * error (the exit record says so, exit code 125):
 *
 *	version=1	  first
 *	processes=N	  1..64 processes of the same command (default 1)
 *	first_rank=K	  process i writes its output to rank-<K+i>.log
 *	rank_env=1	  and gets RANK=K+i and LOCAL_RANK=i in its environment
 *	grace_ms=N	  SIGTERM to SIGKILL, default 10000, at most 3600000
 *	node=N		  rank of the node; names what follows (default 0)
 *	log_limit=N	  bytes of output kept in all; 0, the default: all
 *	open_files=N	  the soft limit of them, at most the hard one
 *	suid=1		  no seccomp filter of ours: the command may set setuid
 *			  and setgid bits and make device nodes, as far as its
 *			  capabilities go (agent/init/seccomp_filter.h)
 *	ssh=1		  the command reaches the tasks of its job by ssh, and
 *			  they it; see below
 *	follow=PATTERN	  files to be copied here as they grow; up to 65
 *	collect=PATH	  a file, folder or pattern, absolute, that is packed at
 *			  the end (agent/init/pack.h); up to 64
 *	collect_limit=N	  bytes of all that is packed
 *	env=NAME=VALUE	  set over the container's own environment; many
 *	secrets=1	  more records come through a pipe, /regatta/in/secrets,
 *			  that the agent fills before the release, and again
 *			  after its restart; an empty one is the last
 *	secret=NAME=VALUE a file INIT_SECRETS/NAME of mode 0400 with that text,
 *			  made before anything runs
 *	prepare=TEXT	  a command that runs once before, with the environment
 *			  of process 0 and its output ahead of that process's;
 *			  when it fails, nothing else is started
 *	arg=TEXT	  the command, one record an argument; at least one
 *
 * All records together are at most INIT_START_MAX bytes.
 *
 * /regatta/out then holds:
 *
 *	started		  made with O_EXCL before anything runs. A second run of
 *			  the same container finds it and exits 125 at once,
 *			  touching nothing: no command ever runs twice. It has
 *			  a lock of fcntl(2) on it while it lives. A byte is
 *			  written to it after the lock.
 *	read		  made when the records of the pipe were read
 *	rank-<R>.log	  standard output and standard error of the process of
 *			  that rank as it wrote them: its descriptors 1 and 2
 *			  are this file (O_APPEND), nothing sits between.
 *	node-<N>.log	  the index, made when there is something to say: a line
 *			  of JSON for each followed file, before its first byte
 *			  is copied, and for each rank's log that is cut:
 *			  {"stream": "node-0.out-train.log",
 *			   "path": "/data/train.log", "part": 1}
 *			  {"stream": "rank-0", "kept": BYTES}
 *	node-<N>.<NAME>.log  the bytes of a followed file (see below); of node
 *			  0 also the list of Python packages
 *			  (agent/init/packages.h)
 *	collect-<I>.tar, collect-<I>.why
 *			  what is packed of the I-th collect=, from 0, and why
 *			  it is not or not all of it (agent/init/pack.h); there
 *			  before the exit record
 *	exit.json.new	  made by the agent, for any user to write: the file
 *			  that has to become the exit record. The agent knows it
 *			  again, so no other can stand in its place.
 *	exit.json	  the exit record, renamed into place when every process
 *			  of the container is gone; nothing is written to a log
 *			  after it.
 *
 * The exit record:
 *
 *	{"version": 1,
 *	 "exit_code": 0..255,	  of the first process that failed, else 0;
 *				  128 + signal when a signal ended it; 127 no
 *				  such program, 126 not executable, 125 ours
 *	 "signal": 0..64,	  the signal that ended it, else 0
 *	 "error": "...",	  only when regatta-init itself failed
 *	 "note": "...",		  only when not all of the output is here: why
 *	 "started_ms": N, "ended_ms": N,	  wall clock since 1970
 *	 "packed_ms": N,	  how long it packed after that
 *	 "oom_kills": N,	  processes the kernel killed for memory in this
 *				  container's cgroup, 0 where it cannot be read
 *	 "memory_peak_bytes": N,  the most that the cgroup used, read once a
 *				  second, without page cache; 0 where it cannot
 *				  be read
 *	 "ulimits": ["nofile=1048576:1048576", ...],	  soft and hard
 *	 "processes": [{"rank": R, "exit_code": N, "signal": N,
 *	   "ended_ms": N, "max_rss_kib": N, "user_ms": N, "system_ms": N,
 *	   "log_bytes": N}]}	  log_bytes: size of rank-<R>.log at the end
 *
 * Followed files. A pattern is absolute or relative to the working folder; *, ?
 * and [] match within one name, a dot at its beginning only a dot. Every
 * regular file that matches, whenever it appears, is copied from its first byte
 * to its last, until all processes of the container have ended and the file was
 * checked once more.
 *
 * Bytes that such files have before anything runs are of an earlier command,
 * and are left out: a file that is continued is copied from there, a file that
 * is written again or replaced from its first byte, and a file that nobody
 * writes to is no stream. (A file that is written again with the same last
 * 4 KiB at the same place counts as continued.)
 *
 * A file that is replaced by another one of its name (rotation), or truncated,
 * continues as a further part with a stream of its own; the replaced file is
 * read to its end. Bytes are lost only if they vanish before they were seen:
 * truncated or removed within INIT_LOOK_MS after they were written, or within
 * INIT_SCAN_MS after their file was made.
 *
 * Files are polled, not watched: inotify reports nothing that another host
 * writes to NFS, has few instances for each user of a host, and wakes for every
 * line. A poll is an fstat() of each file. PID 1 does it, so a file system that
 * hangs (NFS) can delay the forwarding of signals.
 *
 * A stream's name is made from the path, relative to the working folder:
 * capitals become small letters, characters other than a-z, 0-9, '.', '_' and
 * '-' become '-', and only the end of a long path is used. A name that is taken
 * gets "-2", "-3" ... at its end.
 *
 * The limit is for the logs of the ranks and the followed files together. When
 * it is reached, each keeps the bytes that it has, and no more: a rank's log is
 * cut to that size again and again while the command continues undisturbed. It
 * may exceed the limit by what is written between two checks.
 *
 * ssh=1: PATH begins with INIT_BIN, where the agent mounts this program as ssh
 * and scp. `ssh HOST COMMAND` hands a command to the task of the same job on
 * that node, through agents and controller, all by files:
 *
 *	out/ssh-<ID>.request	 of ssh, to the agent: "host=H" NUL "command=C"
 *				 NUL, then all of its standard input. ID: 1 to
 *				 32 of 0-9, a-f, in the order of time
 *	in/ssh-<N>-<ID>.run	 the same file, from the agent of the node that
 *				 it is for; N: node rank of who asks
 *	out/ssh-<N>-<ID>.stdout, .stderr  what the command prints. The first is
 *				 made with O_EXCL, so no command runs twice
 *	out/ssh-<N>-<ID>.answer  "exit=N" NUL "stdout=BYTES" NUL, then what it
 *				 printed: the first INIT_SSH_OUTPUT_MAX bytes of
 *				 each
 *	in/ssh-<ID>.answer	 the same file, for ssh, which removes its
 *				 request then
 *
 * The command is run by /bin/sh, as the user of the container, in its working
 * folder, with the environment of the first process. INIT_SSH_RUNNING_MAX of
 * them run at a time, the others wait. Processes that it leaves in the
 * background go on. On another node than rank 0 regatta-init lives until it is
 * told to end by SIGTERM, which is then no failure.
 *
 * `regatta-ID --run COMMAND` is for a stack tool of the image, which the engine
 * starts beside the command: it installs the filter and becomes COMMAND, for
 * INIT_RUN_S seconds at most.
 *
 * Behaviour: stdin is /dev/null; each process leads its own session. SIGTERM,
 * SIGINT, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are forwarded to the group of
 * every process; after SIGTERM or SIGINT, SIGKILL follows in grace_ms. The
 * first process that fails ends the others the same way (SIGTERM, then
 * SIGKILL). Orphans are reaped; those that are left when the last process of
 * the command ends are killed before the exit record is written.
 * Then it packs what is collected, with the rights that the command had; told
 * to end, for at most INIT_PACK_MS more. regatta-init exits with the record's
 * exit_code.
 *
 * `regatta-init pack OUT ROOT LIMIT SINCE PATH...`, run by the agent on the
 * host where a container's regatta-init was killed, packs what OUT lacks of the
 * paths below ROOT, the container's own layer, through no link and no mount.
 *
 * `regatta-init empty FOLDER`, run by the agent, removes what is in the folder;
 * `regatta-init count ...` counts what a task keeps (agent/init/count.h).
 *
 * In a pod of Kubernetes nothing can be mounted later, so /regatta is a volume
 * that the containers of the pod share. `regatta-init install FOLDER` puts the
 * program there, before the main container starts, and makes the folder "work",
 * which is mounted where the task's code tree belongs. `regatta-init pod
 * FOLDER`, the command of the main container, splits in two. The child locks
 * FOLDER/INIT_POD_LOCK, waits for the link FOLDER/out that the agent makes
 * (agent/docker/pod_driver.h), and goes on as ever. The parent runs the tools
 * of vendors for the agent, because only this container has the devices: the
 * agent starts FOLDER/bin/INIT_TOOL with the words of a tool
 *(agent/init/pod.h).
 */
#pragma once

#define INIT_RUN "--run"
#define INIT_EMPTY "empty"
#define INIT_COUNT "count"
#define INIT_INSTALL "install"
#define INIT_POD "pod"
#define INIT_POD_LOCK "main"
#define INIT_TOOL "tool"
#define INIT_RUN_S 10
#define INIT_IN "/regatta/in"
#define INIT_OUT "/regatta/out"
#define INIT_BIN "/regatta/bin"
#define INIT_SECRETS "/run/secrets" /* a tmpfs that the agent asks for */
#define INIT_START_MAX (1 << 20)
#define INIT_PROCESSES_MAX 64
#define INIT_PATTERNS_MAX 65 /* a sweep's 64, and the flight recorder's */
#define INIT_COLLECT_MAX 64
#define INIT_PACK_MS 600000
#define INIT_FOLLOW_MAX 128 /* followed files, each part counted */
#define INIT_NAME_MAX 64    /* bytes in a stream's name */
#define INIT_LOOK_MS 50     /* between looks at files that are followed */
#define INIT_SCAN_MS 500    /* between looks for new ones, at least */

#define INIT_SSH_REQUEST_MAX (512 << 10) /* bytes, with its input */
#define INIT_SSH_OUTPUT_MAX (256 << 10)
#define INIT_SSH_ANSWER_MAX (2 * INIT_SSH_OUTPUT_MAX + 64)
#define INIT_SSH_RUNNING_MAX 64
