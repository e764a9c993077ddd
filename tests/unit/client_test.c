/* client_test.c - commands that ask a controller, against a simulated one.
 */
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/message/reply_sweeps.h"
#include "tests/tap.h"
#include "tests/unit/cli_bed.h"

#include <errno.h>
#include <signal.h>

#define SWEEP "sweep: s\nimage: i\ncommand: [a]\nmatrix: {nodes: [1, 2]}\n"

/* What the simulated controller was asked is told by its answers. */

static struct message_query *query_of(enum message_type type, void *body,
				      enum query_kind what)
{
	struct message_query *query = body;

	return type == MESSAGE_QUERY && query->what == what ? query : NULL;
}

/* Looking. */

static void fake_look(struct fake *fake, struct wire_peer *peer,
		      enum message_type type, void *body, const void *payload,
		      size_t size)
{
	struct message_query *query;

	if ((query = query_of(type, body, QUERY_JOBS)))
		fake_reply(peer, query->request,
			   query->id != 3 ? "{\"jobs\": []}"
			   : query->after
				   ? "{\"jobs\": [{\"job\": 18, \"sweep\": 3, "
				     "\"cell\": \"b\", \"state\": \"failed\", "
				     "\"failure\": \"oom\", \"text\": "
				     "\"\\u001b[2Jno memory\", \"repeat\": 1}],"
				     " \"more\": false}"
				   : "{\"jobs\": [{\"job\": 17, \"sweep\": 3, "
				     "\"cell\": \"a\", \"state\": \"running\", "
				     "\"attempt\": 2, \"allocation\": "
				     "[\"n1\"], \"new\": {}}], \"more\": true}",
			   NULL, 0);
	else if ((query = query_of(type, body, QUERY_SWEEP)) &&
		 fake->marks[0]++)
		fake_reply(peer, query->request, "{\"sweep\": {\"id\": 3}}",
			   NULL, 0);
	else if (query)
		fake_refuse(peer, query->request, ENOENT, "no sweeps");
	else if ((query = query_of(type, body, QUERY_SWEEPS)))
		fake_reply(peer, query->request,
			   "{\"sweeps\": [{\"id\": 1, \"jobs\": 2}], "
			   "\"more\": true}",
			   NULL, 0);
	else if ((query = query_of(type, body, QUERY_NODES)))
		fake_reply(peer, query->request,
			   "{\"nodes\": [{\"name\": \"n10\", \"state\": "
			   "\"up\"}, "
			   "{\"name\": \"n9\", \"state\": \"up\", "
			   "\"drained\": true, \"vendor\": \"cpu\", "
			   "\"devices\": 8, \"free\": 2, \"jobs\": [17, 18]}]}",
			   NULL, 0);
	else if ((query = query_of(type, body, QUERY_NODE)))
		fake_reply(peer, query->request,
			   !strcmp(query->name, "n1")
				   ? "{\"node\": {\"name\": \"n1\", \"facts\": "
				     "{\"kernel\": \"6.1\"}}}"
				   : "{}",
			   NULL, 0);
	else if ((query = query_of(type, body, QUERY_JOB)) && query->id == 19)
		fake_reply(peer, query->request,
			   "{\"job\": {\"job\": 19, \"state\": \"running\", "
			   "\"progress\": {\"step\": 834, \"steps\": 3000, "
			   "\"loss\": 2.4}, \"tasks\": [{\"rank\": 0, "
			   "\"node\": \"n1\", \"state\": \"running\"}, "
			   "{\"rank\": 1, \"node\": \"n2\", \"state\": "
			   "\"ended\"}]}}",
			   NULL, 0);
	else if ((query = query_of(type, body, QUERY_KEYS)))
		fake_reply(peer, query->request,
			   "{\"keys\": [{\"name\": \"n10\"}, "
			   "{\"name\": \"n2\"}, {\"name\": \"ann\"}]}",
			   NULL, 0);
	else if ((query = query_of(type, body, QUERY_JOB)))
		fake_refuse(peer, query->request, ENOENT, "no job 17");
	else if ((query = query_of(type, body, QUERY_TEXT)))
		fake_reply(peer, query->request,
			   "{\"text\": \"sweep: s\\nsecrets: {HID: {from: env, "
			   "env: REGATTA_TEST_UNSET}}\\n\"}",
			   NULL, 0);
	else if (type == MESSAGE_CANCEL)
		fake_reply(peer, ((struct message_cancel *)body)->request,
			   !strcmp(((struct message_cancel *)body)->kind, "job")
				   ? "{\"cancelled\": 1}"
				   : "{\"cancelled\": 12}",
			   NULL, 0);
	else if (type == MESSAGE_RETRY)
		fake_reply(peer, ((struct message_retry *)body)->request,
			   "{\"retried\": 2, \"gone\": [\"r.example\", "
			   "\"$HID\"]}",
			   NULL, 0);
}

static void test_look(struct bed *bed)
{
	bed_serve(bed, fake_look);
	is_int(bed_run(bed, "jobs", "--sweep", "3", NULL), 0, "jobs lists");
	is(bed->out,
	   "JOB  SWEEP  CELL  TRY  STATE    TIME  NODES  DETAIL\n"
	   " 17      3  a       2  running        n1\n"
	   " 18      3  b #2    0  failed         -      oom: "
	   "\\x1b[2Jno memory\n",
	   "the jobs of all pages, and nothing reaches the terminal raw");
	bed_run(bed, "jobs", "--sweep=3", "--format=json", NULL);
	ok(!strncmp(bed->out, "{\"jobs\":[{\"job\":17,", 19) &&
		   bed_printed(bed, "\"allocation\":[\"n1\"]") &&
		   !strstr(bed->out, "new"),
	   "as JSON, with the fields that we know");
	is_int(bed_run(bed, "jobs", NULL), 0, "no jobs is no failure");
	is(bed->err, "no jobs\n", "and says so");
	bed_run(bed, "jobs", NULL);
	ok(bed_printed(bed, " 17      3  a "), "those of the last sweep come");
	is(bed->err,
	   "jobs of sweep 3, the last sweep; a number, a name or --all shows "
	   "others\n",
	   "which is said");
	bed_run(bed, "jobs", "--all", NULL);
	ok(!bed->out[0] && bed_said(bed, "no jobs"), "or those of all");
	is_int(bed_run(bed, "jobs", "--all", "--sweep", "3", NULL), 2,
	       "but not both");
	is_int(bed_run(bed, "sweeps", NULL), 2, "pages without end end");
	ok(bed_said(bed, "pages do not advance"), "with a sentence");
	bed_run(bed, "nodes", NULL);
	ok(bed_printed(bed, "n9    up, drained  cpu           8     2") &&
		   bed_printed(bed, "17,18"),
	   "nodes lists");
	ok(strstr(bed->out, "\nn9 ") < strstr(bed->out, "\nn10 "),
	   "sorted by name, as people count");
	bed_run(bed, "nodes", "--format=json", NULL);
	ok(!strncmp(bed->out, "{\"nodes\":[{\"name\":\"n9\"", 22),
	   "also as JSON");
	bed_run(bed, "show", "node", "n1", NULL);
	ok(bed_printed(bed, "name: n1\n") &&
		   bed_printed(bed, "\nfacts:\n  kernel: 6.1\n") &&
		   !bed_printed(bed, "state:"),
	   "show shows what is known");
	is_int(bed_run(bed, "show", "node", "n2", NULL), 2,
	       "an answer without what was asked is an error");
	is_int(bed_run(bed, "show", "job", "17", NULL), 2,
	       "what is not there is a wrong request");
	is(bed->err, "regatta: no job 17\n", "in the controller's words");
	is_int(bed_run(bed, "show", "job", "19", NULL), 0, "a job that runs");
	ok(bed_printed(bed, "progress:\n  step: 834\n  steps: 3000\n"
			    "  loss: 2.4\n"),
	   "shows how far it is");
	ok(bed_printed(bed, "   0  n1    running     -\n"
			    "   1  n2    ended       0\n"),
	   "and an exit code only of what has ended");
	bed_run(bed, "user", "list", NULL);
	ok(strstr(bed->out, "\nann ") < strstr(bed->out, "\nn2 ") &&
		   strstr(bed->out, "\nn2 ") < strstr(bed->out, "\nn10 "),
	   "users are sorted by name");
	bed_run(bed, "cancel", "3", "job", "17", "--format", "json", NULL);
	is(bed->out,
	   "[{\"kind\":\"sweep\",\"id\":3,\"cancelled\":12},"
	   "{\"kind\":\"job\",\"id\":17,\"cancelled\":1}]\n",
	   "a bare number is a sweep, until a word says job");
	is(bed->err, "sweep 3: 12 jobs cancelled\njob 17: 1 job cancelled\n",
	   "cancel says what it did");
	bed_run(bed, "retry", "3", NULL);
	is(bed->err,
	   "secrets.HID: the variable REGATTA_TEST_UNSET is not set; it is not "
	   "sent again\nsweep 3: 2 jobs queued again\nthe sweep's credentials "
	   "for r.example were deleted; if a node lacks its images, use "
	   "regatta retry 3 --registry-auth\nthe secret HID was deleted when "
	   "the sweep ended, so its jobs fail; run regatta retry 3 where its "
	   "value can be read\n",
	   "so does retry, and names the credentials that are gone");
	bed_unserve(bed);
}

/* Submitting and watching. */

static const char results[] =
	"{\"rows\": [{\"job\": 1, \"cell\": \"nodes=1\", \"state\": "
	"\"completed\", \"nodes\": 1, \"devices\": 1}], \"more\": false}";

static void answer_submit(struct wire_peer *peer,
			  const struct message_submit *submit,
			  const char *payload, size_t size)
{
	bool good = size == strlen(SWEEP) && !memcmp(payload, SWEEP, size) &&
		    strlen(submit->token) == 32;

	if (good && submit->resume)
		fake_reply(peer, submit->request,
			   "{\"sweep\": 6, \"name\": \"s\", \"jobs\": 2, "
			   "\"taken\": 1, \"dropped\": [], \"waiting\": "
			   "[{\"cell\": \"nodes=2\", \"reason\": \"needs 2 "
			   "nodes of cpu; 1 is known\"}]}",
			   NULL, 0);
	else if (good)
		fake_reply(peer, submit->request,
			   "{\"sweep\": 5, \"name\": \"s\", \"jobs\": 2, "
			   "\"dropped\": [{\"cell\": \"nodes=9\", \"reason\": "
			   "\"no such node\"}]}",
			   NULL, 0);
	else
		fake_refuse(peer, submit->request, EINVAL, "not as sent");
}

#define JOB1(rest) "{\"job\": 1, \"cell\": \"nodes=1\", \"attempt\": 1, " rest
#define JOB2(rest) "{\"job\": 2, \"cell\": \"nodes=2\", \"attempt\": " rest

/* By the cursor: what the sweep was like, and what changed since. */
static const char *const changes[] = {
	"{\"jobs\": [" JOB1("\"state\": \"queued\"}") "], \"more\": true, "
						      "\"since\": 1}",
	"{\"jobs\": [" JOB1("\"state\": \"running\", \"allocation\": "
			    "[\"n1\"]}") "], \"more\": true, \"since\": 2}",
	"{\"jobs\": [" JOB2("1, \"state\": \"preparing\"}") "], \"since\": 3}",
	"{\"jobs\": [" JOB1(
		"\"state\": \"completed\", \"started_ms\": "
		"1000, \"ended_ms\": 3500, \"allocation\": "
		"[\"n1\"]}") "," JOB2("2, \"state\": \"queued\"}") "], "
								   "\"since\": "
								   "4, "
								   "\"final\": "
								   "false}",
	"{\"jobs\": [" JOB2(
		"2, \"state\": \"failed\", \"failure\": "
		"\"image\", \"text\": \"no such\\nimage\"}") "], \"since\": 5, "
							     "\"final\": true}",
};

static void fake_sweep(struct fake *fake, struct wire_peer *peer,
		       enum message_type type, void *body, const void *payload,
		       size_t size)
{
	struct message_query *query;

	if (type == MESSAGE_SUBMIT)
		answer_submit(peer, body, payload, size);
	else if ((query = query_of(type, body, QUERY_RESULTS)))
		fake_reply(peer, query->request, results, NULL, 0);
	else if ((query = query_of(type, body, QUERY_SWEEP)))
		fake_reply(peer, query->request,
			   "{\"sweep\": {\"id\": 5, \"name\": \"s\"}}", NULL,
			   0);
	else if ((query = query_of(type, body, QUERY_JOBS)) && query->after)
		fake_reply(peer, query->request,
			   "{\"jobs\": [" JOB2(
				   "1, \"state\": \"queued\"}") "], \"more\": "
								"false, "
								"\"since\": 2}",
			   NULL, 0);
	else if (query)
		fake_reply(peer, query->request,
			   query->since < 5 ? changes[query->since]
					    : "{\"since\": 5}",
			   NULL, 0);
}

/* Ctrl-C, as soon as the sweep is watched; then never an answer. */
static void fake_interrupt(struct fake *fake, struct wire_peer *peer,
			   enum message_type type, void *body,
			   const void *payload, size_t size)
{
	struct message_query *query = query_of(type, body, QUERY_JOBS);

	if (query && query->since)
		kill(getppid(), SIGINT);
	else
		fake_sweep(fake, peer, type, body, payload, size);
}

static void fake_nonsense(struct fake *fake, struct wire_peer *peer,
			  enum message_type type, void *body,
			  const void *payload, size_t size)
{
	struct message_query *query = query_of(type, body, QUERY_JOBS);

	if (query)
		fake_reply(peer, query->request,
			   "{\"jobs\": [{\"job\": 1, \"state\": \"odd\"}]}",
			   NULL, 0);
	else
		fake_sweep(fake, peer, type, body, payload, size);
}

static void test_submit(struct bed *bed)
{
	const char *file = bed_file(bed, "s.yaml");

	bed_write(bed, "s.yaml", SWEEP, 0644);
	bed_serve(bed, fake_sweep);
	is_int(bed_run(bed, "submit", file, NULL), 0, "submit submits");
	is(bed->out, "5\n", "and prints the sweep's number");
	is(bed->err, "dropped: nodes=9: no such node\nsweep 5: s, 2 jobs\n",
	   "and says what was dropped");
	bed->out_terminal = true;
	bed_run(bed, "submit", file, NULL);
	bed->out_terminal = false;
	ok(!bed->out[0] && bed_said(bed, "sweep 5: s, 2 jobs\n"),
	   "a person reads the number once");
	bed_run(bed, "submit", "--resume", file, NULL);
	is(bed->err,
	   "waits: nodes=2: needs 2 nodes of cpu; 1 is known\n"
	   "sweep 6: s, 2 jobs, 1 of them taken over from earlier sweeps\n",
	   "and what waits for nodes, and what is taken over");
	is_int(bed_run(bed, "submit", "--wait", file, NULL), 1,
	       "a sweep with a failed job is failed work");
	is(bed->err,
	   "dropped: nodes=9: no such node\nsweep 5: s, 2 jobs\n"
	   "job 1 [nodes=1]: running (on n1)\n"
	   "job 2 [nodes=2]: preparing\n"
	   "job 1 [nodes=1]: completed (2.5s on n1)\n"
	   "job 2 [nodes=2]: queued, attempt 2\n"
	   "job 2 [nodes=2]: failed, image: no such\\x0aimage\n"
	   "sweep 5: 1 of 2 jobs completed\n",
	   "each change of a job's state is one plain line");
	ok(bed_printed(bed, "| nodes=1") && !strstr(bed->out, "job 1 ["),
	   "the table alone goes to the output");
	bed->terminal = true;
	bed->environment.no_color = "1";
	bed_run(bed, "submit", "--wait", file, NULL);
	ok(bed_said(bed, "job 1 [nodes=1]: completed (2.5s on n1)\n"),
	   "without a screen to draw on a terminal gets lines, too");
	ok(!strstr(bed->err, "\033["), "with NO_COLOR there are no colours");
	bed->terminal = false;
	bed->environment.no_color = NULL;
	bed_unserve(bed);
	bed_serve(bed, fake_interrupt);
	is_int(bed_run(bed, "submit", "-w", file, NULL), 130,
	       "Ctrl-C ends the waiting");
	ok(bed_said(bed, "sweep 5 continues") &&
		   bed_said(bed, "regatta cancel 5"),
	   "and says how to come back");
	bed_unserve(bed);
	bed_serve(bed, fake_nonsense);
	is_int(bed_run(bed, "submit", "-w", file, NULL), 2,
	       "a job in no known state is refused");
	bed_unserve(bed);
}

/* Logs: two streams, all bytes of it, in pieces of 7. */

static const char rank0[] = "one\0two\nthree\xff\nlast";
static const char rank1[] = "other\n";
#define RANK0_SIZE (sizeof(rank0) - 1)

struct piece {
	const char *state;
	bool final;
	unsigned attempt;
	const char *streams;
	const char *data;
	uint64_t length;
};

static void answer_piece(struct wire_peer *peer,
			 const struct message_log_read *read,
			 const struct piece *piece)
{
	uint64_t offset = read->offset, size;
	char json[400], times[80] = "";

	if (read->tail_lines && !offset)
		offset = piece->length > 4 ? piece->length - 4 : 0;
	size = piece->length - offset;
	if (size > 7)
		size = 7;
	if (read->timestamps)
		snprintf(times, sizeof(times),
			 ", \"times\": [{\"offset\": %llu, \"time_ms\": "
			 "1700000000123}]",
			 (unsigned long long)offset);
	snprintf(json, sizeof(json),
		 "{\"job\": 3, \"attempt\": %u, \"offset\": %llu, \"size\": "
		 "%llu, \"length\": %llu, \"final\": %s, \"state\": \"%s\", "
		 "\"streams\": %s%s}",
		 piece->attempt, (unsigned long long)offset,
		 (unsigned long long)size, (unsigned long long)piece->length,
		 piece->final ? "true" : "false", piece->state, piece->streams,
		 times);
	fake_reply(peer, read->request, json,
		   piece->data ? piece->data + offset : "", (size_t)size);
}

static void fake_logs(struct fake *fake, struct wire_peer *peer,
		      enum message_type type, void *body, const void *payload,
		      size_t size)
{
	struct message_log_read *read = body;
	struct message_query *query = query_of(type, body, QUERY_JOB);
	struct piece piece = { "completed",    true,  1,
			       "[\"rank-0\"]", rank0, RANK0_SIZE };
	char json[300];

	if (query) {
		snprintf(json, sizeof(json),
			 "{\"since\": 1, \"job\": {\"job\": %llu, \"nodes\": "
			 "%d, \"state\": \"%s\", \"started_ms\": 1000, "
			 "\"ended_ms\": 193000%s}}",
			 (unsigned long long)query->id, query->id == 4 ? 2 : 1,
			 query->id == 4 ? "failed" : "completed",
			 query->id == 4 ? ", \"failure\": \"oom\", \"text\": "
					  "\"rank 1 ran out of memory\""
					: "");
		fake_reply(peer, query->request, json, NULL, 0);
		return;
	}
	if (read->job == 4) {
		piece.streams = "[\"rank-0\", \"rank-1\"]";
		piece.state = "failed";
		if (read->stream && !strcmp(read->stream, "rank-1")) {
			piece.data = rank1;
			piece.length = sizeof(rank1) - 1;
		}
	}
	if (!read->stream) {
		piece.data = NULL;
		piece.length = 0;
	}
	answer_piece(peer, read, &piece);
}

static void test_logs(struct bed *bed)
{
	bed_serve(bed, fake_logs);
	is_int(bed_run(bed, "logs", "3", NULL), 0, "logs prints");
	ok(bed->out_size == RANK0_SIZE && !memcmp(bed->out, rank0, RANK0_SIZE),
	   "the output of one rank, byte for byte");
	is_int(bed_run(bed, "logs", "-f", "3", NULL), 0,
	       "following a job that completed is good");
	ok(bed->out_size == RANK0_SIZE, "and prints the same");
	ok(bed_said(bed, "job 3 completed after 3m12s"),
	   "and ends with how the job ended");
	bed_run(bed, "logs", "-n1", "3", NULL);
	is(bed->out, "last", "the tail begins where the controller says");
	bed_run(bed, "logs", "-f", "-n0", "3", NULL);
	is(bed->out, "", "no tail is only what comes from now on");
	bed_run(bed, "logs", "4", NULL);
	ok(bed->out_size == 9 + 8 + 9 + 7 + 9 + 5 + 15 &&
		   !memcmp(bed->out, "[rank-0] one\0two\n", 17),
	   "lines of several ranks say whose they are");
	ok(!memcmp(bed->out + 17,
		   "[rank-0] three\xff\n[rank-0] last\n[rank-1] other\n", 45),
	   "and a last line gets an end");
	bed_run(bed, "logs", "4", "--rank", "1", NULL);
	is(bed->out, "other\n", "one of several ranks is byte for byte again");
	bed_run(bed, "logs", "4", "--rank", "1", "-t", NULL);
	is(bed->out, "2023-11-14T22:13:20.123Z other\n",
	   "a line begins with its time when asked for");
	is_int(bed_run(bed, "logs", "-f", "4", NULL), 1,
	       "following a job that failed is failed work");
	ok(bed_said(bed, "job 4 failed after 3m12s: oom: rank 1 ran out of "
			 "memory"),
	   "and says why it failed");
	is_int(bed_run(bed, "logs", "4", "--rank", "7", NULL), 2,
	       "a rank that is not there is a wrong request");
	ok(bed_said(bed, "job 4 has no output of rank-7"), "and is named");
	bed_unserve(bed);
}

/* A job that fails, is tried again and completes; the controller restarts in
 * between, and answers a request only in its next life.
 */
static void fake_attempts(struct fake *fake, struct wire_peer *peer,
			  enum message_type type, void *body,
			  const void *payload, size_t size)
{
	struct message_log_read *read = body;
	struct message_query *query = query_of(type, body, QUERY_JOB);
	struct piece piece = { "running",         false, 1, "[\"rank-0\"]",
			       "first attempt\n", 14 };

	if (query) {
		fake_reply(peer, query->request,
			   "{\"since\": 1, \"job\": {\"nodes\": 1}}", NULL, 0);
		return;
	}
	if (read->stream && read->offset == 7 && read->attempt == 1 &&
	    !fake->marks[0]++) {
		fake->restart = true; /* and no answer */
		return;
	}
	if (read->offset == 14)
		fake->marks[1] = 1; /* all of the first attempt was read */
	if (fake->marks[1]) {
		piece.state = "completed";
		piece.final = true;
		if (read->attempt != 1) {
			piece.attempt = 2;
			piece.data = "second\n";
			piece.length = 7;
		}
	}
	/* The first attempt ended before the job did. */
	if (read->attempt == 1 && fake->marks[1])
		piece.state = "queued";
	if (!read->stream)
		piece.length = 0;
	answer_piece(peer, read, &piece);
}

static void test_attempts(struct bed *bed)
{
	bed_serve(bed, fake_attempts);
	is_int(bed_run(bed, "logs", "-f", "3", NULL), 0,
	       "following ends with the last attempt");
	is(bed->out, "first attempt\nsecond\n",
	   "no byte is lost and none is doubled over a lost connection");
	ok(bed_said(bed, "lost the controller") &&
		   bed_said(bed, "the controller is back"),
	   "the loss of the controller is told");
	ok(bed_said(bed, "job 3: attempt 2 follows"), "so is the next attempt");
	bed_unserve(bed);
}

static void fake_liar(struct fake *fake, struct wire_peer *peer,
		      enum message_type type, void *body, const void *payload,
		      size_t size)
{
	struct message_log_read *read = body;
	const char *lie[] = {
		"{\"offset\": 3, \"size\": 2, \"length\": 5}",
		"{\"offset\": 0, \"size\": 9, \"length\": 9}",
		"{\"offset\": 0, \"size\": 2, \"length\": 1}",
		"{\"offset\": 0, \"size\": 0, \"length\": 5}",
	};

	if (!read->stream)
		fake_reply(peer, read->request,
			   read->job == 5 ? "{\"attempt\": 1, \"streams\": [7]}"
					  : "{\"attempt\": 1, \"streams\": "
					    "[\"rank-0\", \"\"]}",
			   NULL, 0);
	else
		fake_reply(peer, read->request, lie[(read->job - 1) % 4], "ab",
			   read->job == 4 ? 0 : 2);
}

static void test_lies(struct bed *bed)
{
	bed_serve(bed, fake_liar);
	for (int i = 1; i <= 4; i++) {
		char job[16];

		snprintf(job, sizeof(job), "%d", i);
		ok(bed_run(bed, "logs", job, NULL) == 2 &&
			   bed_said(bed, "unexpected part of the log") &&
			   !bed->out[0],
		   "a piece of log that does not fit is refused (%d)", i);
	}
	ok(bed_run(bed, "logs", "5", NULL) == 2 &&
		   bed_said(bed, "the controller's answer: streams: "),
	   "an answer of another form is refused, and the field named");
	bed_unserve(bed);
}

/* Out of reach. */

static void test_reach(struct bed *bed)
{
	struct key other;
	char other_key[128];

	bed->environment.controller = "tcp://127.0.0.1:1";
	is_int(bed_run(bed, "jobs", NULL), 3, "no controller: exit 3");
	ok(bed_said(bed, "tcp://127.0.0.1:1: not reachable for 5 s"),
	   "with a sentence that names it");
	bed_serve(bed, fake_look);
	snprintf(other_key, sizeof(other_key), "%s/other.key", bed->folder);
	key_generate(&other, "other", ROLE_OPERATOR, NULL);
	key_save(&other, other_key, NULL);
	is_int(bed_run(bed, "jobs", "--key", other_key, NULL), 3,
	       "a key that is not in the list: exit 3");
	ok(bed_said(bed,
		    "does not accept this key; 'regatta join TOKEN' makes"),
	   "with a sentence");
	is_int(bed_run(bed, "jobs", "--controller-key", other_key, NULL), 3,
	       "another controller than it should be: exit 3");
	is_int(bed_run(bed, "jobs", NULL), 0, "the right key still works");
	bed_unserve(bed);
}

/* Asking faster than the controller allows would end the session. */
static void test_pace(struct bed *bed)
{
	struct connection connection;
	struct options options = { 0 };
	sd_event *loop = NULL;
	owned(client_free) struct client *client = NULL;
	int64_t begun;
	int good = 0;

	bed_serve(bed, fake_look);
	ok(settings_connection(&bed->environment, &options, &connection,
			       NULL) == 0 &&
		   sd_event_new(&loop) >= 0 &&
		   (client = client_new(loop, &connection, NULL)),
	   "a client is made");
	begun = clock_mono_ms();
	for (int i = 0; i < 300; i++) {
		owned(answer_clear) struct answer answer = { 0 };
		struct message_retry retry = { .sweep = 1 };

		good += client_call(client, MESSAGE_RETRY, &retry, &answer,
				    NULL) == 0 &&
			((const struct reply_retry *)answer.reply)->retried ==
				2;
	}
	is_int(good, 300, "every request is answered");
	ok(clock_mono_ms() - begun >= 350,
	   "no more than 500 a second are sent");
	sd_event_unref(loop);
	bed_unserve(bed);
}

int main(void)
{
	struct bed bed;

	tap_begin(100);
	bed_init(&bed);
	test_look(&bed);
	test_submit(&bed);
	test_logs(&bed);
	test_attempts(&bed);
	test_lies(&bed);
	test_pace(&bed);
	test_reach(&bed);
	bed_clear(&bed);
	return tap_done();
}
