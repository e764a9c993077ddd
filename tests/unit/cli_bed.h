/* cli_bed.h - the command line of a test, and a simulated controller for it.
 *
 * Commands run in this process; the controller is a child with a real
 * wire_server, so that both ends have loops of their own. What it answers is
 * the test's: a function that runs in the child.
 */
#pragma once

#include "controller/cli/dispatch.h"
#include "protocol/wire/wire.h"

struct bed {
	char folder[64]; /* of the test; keys in it */
	char key[128];   /* an operator's */
	char server_key[128];
	struct environment environment;
	bool terminal;     /* pretend that words go to one, without colours */
	bool out_terminal; /* and what was asked for */
	/* Of the last bed_run(). */
	int code;
	char *out;
	size_t out_size;
	char *err;
	/* The child. */
	char endpoint[256];
	pid_t pid;
	int lifeline;
};

void bed_init(struct bed *bed);
void bed_clear(struct bed *bed);

/* The path of a file in the folder; one of four buffers. */
const char *bed_file(const struct bed *bed, const char *name);
void bed_write(const struct bed *bed, const char *name, const char *text,
	       int mode);

/* Run `regatta words...` (up to a NULL); returns its exit code. */
#define bed_run(bed, ...) bed_run_words(bed, (const char *[]){ __VA_ARGS__ })
int bed_run_words(struct bed *bed, const char *const *words);
bool bed_said(const struct bed *bed, const char *text);    /* in err */
bool bed_printed(const struct bed *bed, const char *text); /* in out */

/* In the child: a message of a person; hello is answered already. */
struct fake {
	struct wire_server *server;
	unsigned count;     /* messages so far, this one too */
	unsigned marks[16]; /* the test's own */
	bool restart;       /* set it: all sessions end, it listens anew */
};
typedef void fake_fn(struct fake *fake, struct wire_peer *peer,
		     enum message_type type, void *body, const void *payload,
		     size_t size);

/* Start the controller, at bed->endpoint if that is set. */
void bed_serve(struct bed *bed, fake_fn *fn);
void bed_unserve(struct bed *bed);

/* In the child: answer with a body as JSON text. */
void fake_reply(struct wire_peer *peer, uint64_t request, const char *json,
		const void *payload, size_t size);
void fake_refuse(struct wire_peer *peer, uint64_t request, int code,
		 const char *text);
