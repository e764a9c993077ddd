/* relay.c - a registry on loopback that gives one repository at a bounded rate.
 */
#include "agent/registry/relay_internal.h"

#include "agent/registry/registry.h"
#include "protocol/file.h"
#include "protocol/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#define SECRET_BYTES 16
#define CONNECTIONS_MAX 128
#define TRANSFERS_MAX 32
#define IDLE_S 600          /* of a connection that nothing moves on */
#define STRANGER_S 30       /* before it has named what we have */
#define BLOCK (64 << 10)    /* at most given to the engine at once */
#define AHEAD_MAX (1 << 20) /* read of a transfer and not given yet */
#define REFILL_MS 20        /* until waiting transfers may go on */
#define BURST_MS 100        /* of the rate, after a rest */
#define MANIFEST_MS 30000
#define STALL_MS 60000 /* the registry's; the engine's pull has its own */

struct relay {
	struct relays *relays;
	struct repository *repository;
	struct MHD_Daemon *daemon;
	sd_event_source *io;    /* its epoll */
	sd_event_source *timer; /* its time-outs */
	sd_event_source *refill;
	char name[128];
	const char *path; /* in it */
	uint64_t rate;
	double allowed; /* bytes that may go now */
	int64_t filled_ms;
	bool visited; /* the engine was here */
	struct error error;
	TAILQ_HEAD(, transfer) transfers;
	unsigned int count; /* of them */
};

/* One request of the engine's. */
struct transfer {
	TAILQ_ENTRY(transfer) entry;
	struct relay *relay;
	struct MHD_Connection *connection;
	struct repository_call *call; /* NULL: it is over */
	bool suspended;
	bool begun; /* what follows is known, and tells what is answered */
	bool failed;
	unsigned int status;
	char type[128], range[128];
	uint64_t size; /* MHD_SIZE_UNKNOWN: it is not told */
	struct buffer ahead;
	size_t given; /* of it */
};

static int serve_run(sd_event_source *source, uint64_t usec, void *arg);

/* Connections: while there is nothing to do for one it is suspended. */

static void suspend(struct transfer *transfer)
{
	transfer->suspended = true;
	MHD_suspend_connection(transfer->connection);
}

/* The server sees it in its next turn. */
static void wake(struct transfer *transfer)
{
	struct relay *relay = transfer->relay;

	if (!transfer->suspended)
		return;
	transfer->suspended = false;
	MHD_resume_connection(transfer->connection);
	loop_timer(relay->relays->loop, &relay->timer, 0, serve_run, relay,
		   NULL);
}

static void transfer_free(struct transfer *transfer)
{
	TAILQ_REMOVE(&transfer->relay->transfers, transfer, entry);
	transfer->relay->count--;
	repository_cancel(transfer->call);
	buffer_clear(&transfer->ahead);
	free(transfer);
}

/* The rate. */

static int refill_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct relay *relay = arg;
	struct transfer *transfer;

	TAILQ_FOREACH(transfer, &relay->transfers, entry)
	{
		if (transfer->ahead.size)
			wake(transfer);
	}
	return 0;
}

/* How much may go now; 0: a timer wakes those who wait. */
static size_t allowance(struct relay *relay, size_t wanted)
{
	int64_t now = clock_mono_ms();
	double most = (double)relay->rate * BURST_MS / 1000;

	if (!relay->rate)
		return wanted;
	relay->allowed +=
		(double)relay->rate * (double)(now - relay->filled_ms) / 1000;
	relay->filled_ms = now;
	if (relay->allowed > most)
		relay->allowed = most;
	if (relay->allowed >= (double)wanted)
		return wanted;
	loop_timer(relay->relays->loop, &relay->refill, REFILL_MS, refill_run,
		   relay, NULL);
	return relay->allowed > 0 ? (size_t)relay->allowed : 0;
}

void relay_rate(struct relay *relay, uint64_t rate)
{
	if (!relay->rate) {
		relay->allowed = 0;
		relay->filled_ms = clock_mono_ms();
	}
	relay->rate = rate;
	refill_run(NULL, 0, relay);
}

/* From the registry. */

static uint64_t length_of(const struct http_answer *head)
{
	char text[32], *end;
	uint64_t length;

	if (!http_header(head, "Content-Length", text, sizeof(text)))
		return MHD_SIZE_UNKNOWN;
	length = strtoull(text, &end, 10);
	return *end || end == text ? MHD_SIZE_UNKNOWN : length;
}

static void take_head(struct transfer *transfer, const struct http_answer *head)
{
	transfer->begun = true;
	transfer->status = (unsigned int)head->status;
	transfer->size = length_of(head);
	http_header(head, "Content-Type", transfer->type,
		    sizeof(transfer->type));
	http_header(head, "Content-Range", transfer->range,
		    sizeof(transfer->range));
}

static void on_head(void *arg, const struct http_answer *head)
{
	struct transfer *transfer = arg;

	take_head(transfer, head);
	wake(transfer);
}

static int on_data(void *arg, const void *data, size_t size, struct error *err)
{
	struct transfer *transfer = arg;

	if (transfer->ahead.size + size > AHEAD_MAX)
		return 1;
	wake(transfer);
	return buffer_append(&transfer->ahead, data, size, err);
}

static void fail(struct transfer *transfer, const struct error *err)
{
	transfer->relay->error = *err;
	transfer->failed = true;
	if (!transfer->begun)
		transfer->status = MHD_HTTP_BAD_GATEWAY;
	transfer->begun = true;
}

/* The body of a blob has come already; any other is in the answer. Whatever
 * its status is, the engine is told the same.
 */
static void on_done(void *arg, const struct error *failure,
		    const struct http_answer *answer)
{
	struct transfer *transfer = arg;
	struct error err;

	transfer->call = NULL;
	wake(transfer);
	if (failure) {
		fail(transfer, failure);
		return;
	}
	if (answer->status / 100 != 2)
		repository_refused(transfer->relay->repository, answer->status,
				   &transfer->relay->error);
	if (!transfer->begun)
		take_head(transfer, answer);
	if (!answer->size)
		return;
	transfer->size = answer->size;
	if (buffer_append(&transfer->ahead, answer->body, answer->size, &err) <
	    0) {
		transfer->begun = false;
		fail(transfer, &err);
	}
}

/* To the engine. */

static ssize_t on_read(void *arg, uint64_t position, char *to, size_t size)
{
	struct transfer *transfer = arg;
	size_t count = transfer->ahead.size - transfer->given;

	if (!count && !transfer->call)
		return transfer->failed ? MHD_CONTENT_READER_END_WITH_ERROR
					: MHD_CONTENT_READER_END_OF_STREAM;
	count = allowance(transfer->relay, count < size ? count : size);
	if (!count) {
		suspend(transfer);
		return 0;
	}
	memcpy(to, transfer->ahead.data + transfer->given, count);
	transfer->given += count;
	if (transfer->relay->rate)
		transfer->relay->allowed -= (double)count;
	if (transfer->given == transfer->ahead.size) {
		buffer_consume(&transfer->ahead, transfer->given);
		transfer->given = 0;
		if (transfer->call)
			repository_resume(transfer->call);
	}
	return (ssize_t)count;
}

static enum MHD_Result say(struct MHD_Connection *connection,
			   unsigned int status, const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text,
						MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", "application/json");
	MHD_add_response_header(response, "Docker-Distribution-Api-Version",
				"registry/2.0");
	rc = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result give(struct transfer *transfer)
{
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (transfer->failed && !transfer->ahead.size)
		return say(transfer->connection, transfer->status, "{}");
	response = MHD_create_response_from_callback(transfer->size, BLOCK,
						     on_read, transfer, NULL);
	if (!response)
		return MHD_NO;
	if (*transfer->type)
		MHD_add_response_header(response, "Content-Type",
					transfer->type);
	if (*transfer->range)
		MHD_add_response_header(response, "Content-Range",
					transfer->range);
	rc = MHD_queue_response(transfer->connection, transfer->status,
				response);
	MHD_destroy_response(response);
	return rc;
}

/* Below /v2/: ours, and by digest. */
static bool is_served(const struct relay *relay, const char *url,
		      const char **wanted)
{
	static const char *const kinds[] = { "manifests/", "blobs/" };
	size_t size = strlen(relay->path);

	if (strncmp(url, "/v2/", 4) != 0 || strlen(url) < 4 + size ||
	    sodium_memcmp(url + 4, relay->path, size) != 0 ||
	    url[4 + size] != '/')
		return false;
	*wanted = url + 4 + size + 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t kind = strlen(kinds[i]);

		if (!strncmp(*wanted, kinds[i], kind))
			return registry_is_digest(*wanted + kind);
	}
	return false;
}

/* "bytes=5-": what an engine asks for when it goes on. */
static bool read_range(struct MHD_Connection *connection, char *to, size_t size)
{
	const char *range =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					    "Range");

	*to = 0;
	if (!range)
		return true;
	snprintf(to, size, "Range: %s", range);
	return strlen(range) < 48 && !strncmp(range, "bytes=", 6) &&
	       !range[6 + strspn(range + 6, "0123456789-")];
}

static enum MHD_Result begin(struct relay *relay,
			     struct MHD_Connection *connection,
			     const char *wanted, struct transfer **begun)
{
	bool blob = !strncmp(wanted, "blobs/", 6);
	struct transfer *transfer = calloc(1, sizeof(*transfer));
	struct repository_request request = {
		.path = wanted,
		.header = REGISTRY_ACCEPT,
		.done = on_done,
		.arg = transfer,
	};
	char range[64];

	if (!transfer)
		return MHD_NO;
	transfer->relay = relay;
	transfer->connection = connection;
	buffer_init(&transfer->ahead, AHEAD_MAX);
	TAILQ_INSERT_TAIL(&relay->transfers, transfer, entry);
	relay->count++;
	if (blob) {
		if (!read_range(connection, range, sizeof(range))) {
			transfer_free(transfer);
			return say(connection, MHD_HTTP_BAD_REQUEST, "{}");
		}
		request.header = *range ? range : NULL;
		request.begun = on_head;
		request.data = on_data;
		request.stall_ms = STALL_MS;
	} else {
		request.timeout_ms = MANIFEST_MS;
	}
	transfer->call =
		repository_ask(relay->repository, &request, &relay->error);
	if (!transfer->call) {
		transfer_free(transfer);
		return say(connection, MHD_HTTP_BAD_GATEWAY, "{}");
	}
	*begun = transfer;
	suspend(transfer);
	return MHD_YES;
}

/* Called when a request's head is here, and again whenever it was resumed
 * before it was answered.
 */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection,
				  const char *url, const char *method,
				  const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	struct relay *relay = arg;
	struct transfer *transfer = *state;
	const char *wanted = NULL;
	bool head = !strcmp(method, "HEAD");

	if (transfer) {
		if (transfer->begun)
			return give(transfer);
		suspend(transfer);
		return MHD_YES;
	}
	if (strcmp(method, "GET") != 0 && !head)
		return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "{}");
	if (!strcmp(url, "/v2/")) {
		relay->visited = true;
		return say(connection, MHD_HTTP_OK, "{}");
	}
	/* How large a blob is, nobody asks who was told by the manifest. */
	if (!is_served(relay, url, &wanted) ||
	    (head && !strncmp(wanted, "blobs/", 6)))
		return say(connection, MHD_HTTP_NOT_FOUND, "{}");
	relay->visited = true;
	if (relay->count == TRANSFERS_MAX)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "{}");
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
				  (unsigned int)IDLE_S);
	return begin(relay, connection, wanted, (struct transfer **)state);
}

static void on_completed(void *arg, struct MHD_Connection *connection,
			 void **state, enum MHD_RequestTerminationCode code)
{
	if (*state)
		transfer_free(take(*state));
}

/* The server on the loop. */

static void serve(struct relay *relay);

static int io_ready(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	serve(arg);
	return 0;
}

static int serve_run(sd_event_source *source, uint64_t usec, void *arg)
{
	serve(arg);
	return 0;
}

static void serve(struct relay *relay)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	MHD_run(relay->daemon);
	if (MHD_get_timeout(relay->daemon, &timeout_ms) == MHD_YES)
		loop_timer(relay->relays->loop, &relay->timer, timeout_ms,
			   serve_run, relay, NULL);
	else
		loop_timer_stop(relay->timer);
}

static int open_server(struct relay *relay, struct error *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	unsigned char secret[SECRET_BYTES];
	char hex[2 * SECRET_BYTES + 1];
	int rc;

	inet_pton(AF_INET, RELAY_HOST, &address.sin_addr);
	relay->daemon =
		MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0,
				 NULL, NULL, on_request, relay,
				 MHD_OPTION_SOCK_ADDR,
				 (struct sockaddr *)&address,
				 MHD_OPTION_NOTIFY_COMPLETED, on_completed,
				 NULL, MHD_OPTION_CONNECTION_LIMIT,
				 (unsigned int)CONNECTIONS_MAX,
				 MHD_OPTION_CONNECTION_TIMEOUT,
				 (unsigned int)STRANGER_S, MHD_OPTION_END);
	if (!relay->daemon)
		return error_errno(err, "relay: no server on %s", RELAY_HOST);
	rc = sd_event_add_io(relay->relays->loop, &relay->io,
			     MHD_get_daemon_info(relay->daemon,
						 MHD_DAEMON_INFO_EPOLL_FD)
				     ->epoll_fd,
			     EPOLLIN, io_ready, relay);
	if (rc < 0)
		return error_set(err, -rc, "relay: event loop");
	randombytes_buf(secret, sizeof(secret));
	sodium_bin2hex(hex, sizeof(hex), secret, sizeof(secret));
	snprintf(relay->name, sizeof(relay->name), "%s:%u/%s/%s/%s", RELAY_HOST,
		 MHD_get_daemon_info(relay->daemon, MHD_DAEMON_INFO_BIND_PORT)
			 ->port,
		 RELAY_PLACE, relay->relays->owner, hex);
	relay->path = strchr(relay->name, '/') + 1;
	return 0;
}

/* Life. */

struct relay *relay_new(struct relays *relays, struct repository *repository,
			uint64_t rate, struct error *err)
{
	owned(relay_free) struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay) {
		error_nomem(err, "relay");
		return NULL;
	}
	TAILQ_INIT(&relay->transfers);
	relay->relays = relays;
	relays->open++;
	relay->repository = repository;
	relay->rate = rate;
	relay->filled_ms = clock_mono_ms();
	return open_server(relay, err) < 0 ? NULL : take(relay);
}

void relay_free(struct relay *relay)
{
	struct transfer *transfer;

	if (!relay)
		return;
	TAILQ_FOREACH(transfer, &relay->transfers, entry)
	{
		wake(transfer);
	}
	loop_source_free(&relay->io);
	loop_source_free(&relay->timer);
	loop_source_free(&relay->refill);
	if (relay->daemon)
		MHD_stop_daemon(relay->daemon);
	relays_ended(relay->relays);
	free(relay);
}

const char *relay_name(const struct relay *relay)
{
	return relay->name;
}

void relay_forget(struct relay *relay)
{
	relay->error = (struct error){ 0 };
}

/* Also where the text ends in the middle of one. */
void relay_hide(struct error *err)
{
	static const char place[] = RELAY_PLACE "/";
	char *at = err->text;

	while ((at = strstr(at, place))) {
		at += sizeof(place) - 1;
		for (; *at && strchr("0123456789abcdef/", *at); at++)
			*at = *at == '/' ? '/' : 'x';
	}
}

static bool awaits_registry(const struct relay *relay)
{
	const struct transfer *transfer;

	TAILQ_FOREACH(transfer, &relay->transfers, entry)
	{
		if (transfer->call && !transfer->ahead.size)
			return true;
	}
	return false;
}

bool relay_error(const struct relay *relay, struct error *err)
{
	bool silent = err->code == ETIMEDOUT && awaits_registry(relay);

	if (relay->error.code)
		*err = relay->error;
	else if (silent)
		error_set(err, ETIMEDOUT, "registry %s: nothing more comes",
			  repository_host(relay->repository));
	else if (!relay->visited)
		error_set(err, EHOSTUNREACH,
			  "the engine does not reach %s of this machine, so "
			  "that no rate can be kept (preload_rate: 0 lets it "
			  "pull without one)",
			  RELAY_HOST);
	return relay->error.code || silent || !relay->visited;
}
