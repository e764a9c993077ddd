/* log_test.c - one fact a line on stderr, whatever the text holds.
 */
#include "protocol/base/log.h"

#include "protocol/base/owned.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

/* Stderr is one end of a packet socket: a packet is one write(2). */
static int captured, packets;

static const char *next_packet(void)
{
	static char text[8192];
	ssize_t n = recv(captured, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0)
		return NULL;
	packets++;
	text[n] = 0;
	return text;
}

static void levels(void)
{
	log_set_style(LOG_STYLE_LEVEL);
	log_info("task started job=%d rank=%d", 17, 3);
	is(next_packet(), "<6>task started job=17 rank=3\n",
	   "the journal reads the level in front");
	log_error("gone");
	is(next_packet(), "<3>gone\n", "an error is level 3");
	log_warning("soon");
	is(next_packet(), "<4>soon\n", "a warning is level 4");
	log_debug("detail");
	is(next_packet(), NULL, "debug lines are dropped at first");
	log_set_level(LOG_DEBUG);
	log_debug("detail");
	is(next_packet(), "<7>detail\n", "and written when asked for");
	log_set_level(LOG_ERROR);
	log_warning("soon");
	is(next_packet(), NULL, "a warning is dropped at level error");
	log_error("gone");
	is(next_packet(), "<3>gone\n", "an error is not");
	log_set_level(LOG_INFO);
}

static void for_a_person(void)
{
	static const struct {
		enum log_level level;
		char letter;
	} cases[] = { { LOG_ERROR, 'E' },
		      { LOG_WARNING, 'W' },
		      { LOG_INFO, 'I' } };

	log_set_style(LOG_STYLE_TIME);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *line;
		int h, m, s, ms, end = 0;
		char letter = 0;

		log_line(cases[i].level, "words");
		line = next_packet();
		ok(line &&
			   sscanf(line, "%2d:%2d:%2d.%3d %c words%n", &h, &m,
				  &s, &ms, &letter, &end) == 5 &&
			   letter == cases[i].letter &&
			   !strcmp(line + end, "\n"),
		   "local time, the letter %c, the words", cases[i].letter);
	}
	log_set_style(LOG_STYLE_LEVEL);
}

static void hostile_text(void)
{
	char text[5000];
	const char *line;

	log_info("a\nb\x1b[2J\tc");
	is(next_packet(), "<6>a?b?[2J?c\n",
	   "control characters become ?, one line stays one line");
	log_info("\xc2\x9b"
		 "2J r\xc3\xa9gate \x9b");
	is(next_packet(), "<6>??2J r\xc3\xa9gate ?\n",
	   "C1 control characters and broken UTF-8 too, other UTF-8 passes");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	log_info("%s", text);
	line = next_packet();
	is_int(line ? (long long)strlen(line) : -1, 2001,
	       "a long line is cut at 2,000 bytes and ended");
	is(next_packet(), NULL, "and nothing follows it");
	log_info("%s", "");
	is(next_packet(), "<6>\n", "an empty line is a line");
}

static void nobody_listens(int saved)
{
	int full[2];
	char fill[4096] = { 0 };

	ok(pipe2(full, O_CLOEXEC | O_NONBLOCK) == 0, "a pipe");
	while (write(full[1], fill, sizeof(fill)) > 0)
		;
	dup2(full[1], STDERR_FILENO);
	log_info("lost");
	ok(true, "a full pipe loses the line and goes on");
	close(full[0]);
	signal(SIGPIPE, SIG_IGN);
	log_info("lost");
	ok(true, "so does a closed one");
	close(full[1]);
	dup2(saved, STDERR_FILENO);
}

static void fields(void)
{
	static const struct {
		const char *line;
		const char *want; /* joined by a bar */
	} cases[] = {
		{ "task started job=17 rank=3",
		  "REGATTA_JOB=17|REGATTA_RANK=3|" },
		{ "node=n1 policy=/etc/p.yaml",
		  "REGATTA_NODE=n1|REGATTA_POLICY=/etc/p.yaml|" },
		{ "a=b=c", "REGATTA_A=b=c|" },
		{ "no key = here, =x x= A=1 a1=2 http://x?a=b", "" },
		{ "", "" },
		{ "a=1 a=2 a=3 a=4 a=5 a=6 a=7 a=8 a=9",
		  "REGATTA_A=1|REGATTA_A=2|REGATTA_A=3|REGATTA_A=4|"
		  "REGATTA_A=5|REGATTA_A=6|REGATTA_A=7|REGATTA_A=8|" },
	};
	char list[LOG_FIELDS_MAX][LOG_FIELD_BYTES], joined[1200];
	char longest[400] = "key=";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t count = log_fields(cases[i].line, list), used = 0;

		joined[0] = 0;
		for (size_t k = 0; k < count; k++)
			used += (size_t)snprintf(joined + used,
						 sizeof(joined) - used, "%s|",
						 list[k]);
		is(joined, cases[i].want, "fields of '%s'", cases[i].line);
	}
	memset(longest + 4, 'x', sizeof(longest) - 5);
	ok(log_fields(longest, list) == 1 &&
		   strlen(list[0]) == LOG_FIELD_BYTES - 1,
	   "a long value is cut");
	ok(!log_to_journal(NULL) && !log_to_journal("1:2") &&
		   !log_to_journal("x"),
	   "a stream that is not the journal's is not taken for it");
}

int main(void)
{
	int pair[2], saved;

	tap_begin(30);
	saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    dup2(pair[1], STDERR_FILENO) < 0)
		return 1;
	close(pair[1]);
	captured = pair[0];
	levels();
	for_a_person();
	hostile_text();
	fields();
	is_int(packets, 12, "every line was one write");
	nobody_listens(saved);
	close(saved);
	close(captured);
	return tap_done();
}
