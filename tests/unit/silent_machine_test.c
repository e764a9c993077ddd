/* silent_machine_test.c - a machine that is cut off is noticed by TCP, where
 * heartbeats are too rare for it.
 *
 * Server and client are in network namespaces of their own, joined by a pair
 * of veth devices. The client's end loses its address: what the server sends
 * arrives no more, and nobody is told.
 */
#include "tests/tap.h"
#include "tests/unit/wire_hall.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEARTBEAT_MS 60000
#define NOTICED_MS 45000 /* before a heartbeat is missed */

/* The client: a node whose hall is elsewhere, until it is killed. */
static int node(struct hall *hall, int ready, int cut)
{
	struct guest guest;
	bool away = false;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNET) < 0 || write(ready, "", 1) != 1 ||
	    read(cut, &byte, 1) != 1 ||
	    system("ip address add 10.0.0.2/24 dev far && ip link set far up"))
		return 1;
	if (sd_event_new(&hall->loop) < 0)
		return 1;
	guest_init(&guest, hall, &hall->keys[HALL_AGENT], NULL);
	for (;;) {
		sd_event_run(hall->loop, 100000);
		if (!away && guest.welcomes) {
			/* Its last acknowledgement is out, too. */
			hall_run(hall, 500);
			away = !system("ip address flush dev far") &&
			       write(ready, "", 1) == 1;
		}
	}
}

static bool join_networks(pid_t pid)
{
	char line[300];

	snprintf(line, sizeof(line),
		 "ip link add near type veth peer name far netns %d && "
		 "ip address add 10.0.0.1/24 dev near && ip link set near up",
		 (int)pid);
	return system(line) == 0;
}

static void cut_off(void)
{
	owned(hall_clear) struct hall hall;
	int ready[2], cut[2];
	int64_t cut_ms;
	char byte;
	pid_t pid;

	hall_init(&hall, "tcp://0.0.0.0:*", HEARTBEAT_MS);
	snprintf(hall.endpoint, sizeof(hall.endpoint), "tcp://10.0.0.1:%s",
		 strrchr(wire_server_endpoint(hall.server), ':') + 1);
	if (pipe(ready) < 0 || pipe(cut) < 0)
		abort();
	pid = fork();
	if (pid == 0)
		_exit(node(&hall, ready[1], cut[0]));
	if (!ok(read(ready[0], &byte, 1) == 1 && join_networks(pid) &&
			write(cut[1], "", 1) == 1,
		"two networks are joined"))
		exit(1);
	WAIT(&hall, hall.hellos);
	if (!ok(hall.hellos == 1, "a node has a session"))
		exit(1);
	ok(read(ready[0], &byte, 1) == 1 && !hall.gone, "and is cut off");
	cut_ms = clock_mono_ms();
	while (!hall.gone && clock_mono_ms() < cut_ms + NOTICED_MS)
		sd_event_run(hall.loop, 100000);
	is_int(hall.gone, 1, "it is gone after %.1f s, before a heartbeat",
	       (double)(clock_mono_ms() - cut_ms) / 1000);
	is(hall.gone_why, "its connection was lost", "for the lost connection");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(cut[i]);
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (unshare(CLONE_NEWNET) < 0) {
		printf("1..0 # SKIP needs root, for network namespaces\n");
		return 0;
	}
	tap_begin(90);
	cut_off();
	return tap_done();
}
