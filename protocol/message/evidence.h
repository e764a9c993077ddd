/* evidence.h - what the processes of a task do, as its agent observed it.
 *
 * In each round, which has a number, the agent appends lines of JSON to the
 * stream evidence-<node rank>: one for each process of the container, one for
 * each rank whose flight recorder was asked for a dump, one for the output of
 * each stack tool, and a last one with `end`.
 */
#pragma once

#include "protocol/message/codec.h"

#define EVIDENCE_STREAM_SIZE 24
#define EVIDENCE_PROCESSES_MAX 1024         /* of a container, in one round */
#define EVIDENCE_FRAMES_MAX 12              /* of a kernel stack */
#define EVIDENCE_SOCKETS_MAX 8              /* of a process */
#define EVIDENCE_COMMAND_MAX 200            /* bytes */
#define EVIDENCE_TOOL_MAX 16384             /* bytes of a tool's output */
#define EVIDENCE_TOOL_LINES 256             /* lines of it */
#define EVIDENCE_LINE_MAX 65536             /* bytes */
#define EVIDENCE_RECORDER "flight recorder" /* a tool */

struct evidence {
	uint64_t round;
	uint64_t pid; /* on the node; 0 in the last line */
	int64_t rank; /* global; -1: not known */
	bool leads;   /* it is the rank's own process, not a child of it */
	char *command;
	char *state; /* R, S, D, Z ...: proc(5) */
	char *waits; /* kernel function; NULL: it runs, or the kernel hides it
		      */
	struct strings stack;  /* of the kernel, innermost first; with tool:
				  the lines that it printed */
	uint64_t cpu_ms;       /* since it began */
	uint32_t busy_percent; /* of one processor, over the last 0.5 s */
	uint32_t threads;
	uint64_t written_bytes; /* to files, since it began */
	struct strings
		sockets;  /* "10.0.0.1:29500 10.0.0.2:41022 ESTABLISHED" */
	char *tool;       /* that printed the stack; NULL: the kernel's */
	int64_t asked_ms; /* of EVIDENCE_RECORDER: when, by the node's wall
			     clock */
	char *text;       /* with end: what is missing; NULL: nothing */
	bool end;
};
extern const struct schema evidence_schema;

void evidence_clear(struct evidence *evidence);
OWNED_VALUE(struct evidence, evidence_clear)

/* The name of the stream, "evidence-3". Is it that of this node rank? */
void evidence_stream(uint32_t rank, char name[EVIDENCE_STREAM_SIZE]);
bool evidence_is_stream(uint32_t rank, const char *name);

/* A rank's dump is a file of this name in /regatta/out, with the rank behind
 * it, and each of its parts a stream. The rank of a stream; -1: it is no dump.
 */
#define EVIDENCE_DUMP "regatta-recorder-"
int64_t evidence_dump_rank(const char *stream);

/* Append a line. */
int evidence_write(const struct evidence *evidence, struct buffer *out,
		   struct error *err);

/* Read a line, without its newline. EPROTO says what is wrong. */
int evidence_read(const char *line, size_t size, struct evidence *evidence,
		  struct error *err);
