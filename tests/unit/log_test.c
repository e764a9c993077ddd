/* log_test.c - one fact a line on stderr, whatever the text holds.
 */
#include "protocol/log.h"

#include "protocol/owned.h"
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
	log_set_style(LOG_STYLE_JOURNAL);
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
	log_set_style(LOG_STYLE_JOURNAL);
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
	is_int(packets, 12, "every line was one write");
	nobody_listens(saved);
	close(saved);
	close(captured);
	return tap_done();
}
