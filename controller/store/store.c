/* store.c - the controller's durable state: sweeps, jobs, events, results.
 */
#include "controller/store/store.h"

#include "controller/store/database.h"
#include "controller/store/store_internal.h"
#include "protocol/base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static int next_id(struct store *store, const char *sql, uint64_t *next,
		   struct error *err)
{
	sqlite3_int64 last = 0;

	if (database_number(store->database, sql, &last, err) < 0)
		return -1;
	*next = (uint64_t)last + 1;
	return 0;
}

static int store_lock_folder(const char *folder, struct error *err)
{
	owned_fd int fd = -1;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/regatta.lock", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_errno(err, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return error_set(err, EBUSY,
					 "%s: in use by another controller",
					 folder);
		return error_errno(err, "%s", path);
	}
	return take_fd(&fd);
}

struct store *store_new(const char *folder, struct error *err)
{
	owned(store_free) struct store *store = calloc(1, sizeof(*store));
	char path[PATH_MAX];

	if (store)
		store->lock = -1;
	if (!store ||
	    !(store->shared = calloc(SHARED_KNOWN, sizeof(*store->shared))))
		return error_null(error_nomem(err, "store"));
	buffer_init(&store->queue, STORE_PENDING_MAX);
	store->lock = store_lock_folder(folder, err);
	if (store->lock < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/regatta.db", folder);
	store->database =
		database_open(path, store_upgrades, store_upgrades_count, err);
	if (!store->database ||
	    next_id(store, "SELECT max(id) FROM sweeps", &store->next_sweep,
		    err) < 0 ||
	    next_id(store, "SELECT max(id) FROM jobs", &store->next_job, err) <
		    0 ||
	    next_id(store, "SELECT max(seq) FROM events", &store->next_event,
		    err) < 0 ||
	    next_id(store, "SELECT max(seq) FROM audit", &store->next_audit,
		    err) < 0 ||
	    next_id(store, "SELECT max(seq) FROM outputs", &store->next_output,
		    err) < 0 ||
	    database_text(store->database,
			  "SELECT chain FROM audit ORDER BY seq DESC LIMIT 1",
			  store->audit_chain, sizeof(store->audit_chain),
			  err) < 0)
		return NULL;
	store->seen_event = store->next_event - 1;
	return take(store);
}

void store_free(struct store *store)
{
	if (!store)
		return;
	for (int i = 0; i < WRITES; i++)
		sqlite3_finalize(store->writes[i]);
	for (int i = 0; i < READS; i++)
		sqlite3_finalize(store->queries[i]);
	if (store->database)
		database_close(store->database);
	if (store->lock >= 0)
		close(store->lock);
	for (size_t i = 0; store->shared && i < SHARED_KNOWN; i++)
		free(store->shared[i].text);
	free(store->shared);
	buffer_clear(&store->queue);
	free(store);
}

uint64_t store_next_sweep(struct store *store)
{
	return store->next_sweep++;
}

uint64_t store_next_job(struct store *store)
{
	return store->next_job++;
}

uint64_t store_coming_job(const struct store *store)
{
	return store->next_job;
}

/* One value for the queue. There it is a tag, then a number of eight bytes, or
 * the length of a text or of bytes in eight bytes and these.
 */
struct column {
	char tag; /* 'i', 'd', 't', 'b' for bytes, or 'n' for NULL */
	uint64_t number;
	const char *text;
	size_t gap_at, gap; /* bytes of the text that are left out, and where */
};

static struct column column_make_number(int64_t value)
{
	return (struct column){ .tag = 'i', .number = (uint64_t)value };
}

static struct column id(uint64_t value)
{
	return (struct column){ .tag = value && value <= INT64_MAX ? 'i' : 0,
				.number = value };
}

static struct column maybe_id(uint64_t value)
{
	return value ? id(value) : (struct column){ .tag = 'n' };
}

/* NAN: not known. */
static struct column real(double value)
{
	struct column column = { .tag = isnan(value) ? 'n' : 'd' };

	memcpy(&column.number, &value, sizeof(value));
	return column;
}

static struct column text(const char *value)
{
	size_t length = value ? strlen(value) : 0;

	return (struct column){ .tag = value && length <= STORE_TEXT_MAX ? 't'
									 : 0,
				.number = length,
				.text = value };
}

static struct column column_make_bytes(const void *bytes, size_t size)
{
	return (struct column){ .tag = size <= STORE_TEXT_MAX ? 'b' : 0,
				.number = size,
				.text = bytes };
}

static struct column maybe_text(const char *value)
{
	return value ? text(value) : (struct column){ .tag = 'n' };
}

static int queue_column(struct store *store, const struct column *column,
			struct error *err)
{
	struct buffer *queue = &store->queue;
	char head[9] = { column->tag };

	if (!column->tag)
		return error_set(err, EINVAL,
				 "a number out of range, or a text that is "
				 "missing or longer than %d bytes",
				 STORE_TEXT_MAX);
	memcpy(head + 1, &column->number, 8);
	if (buffer_append(queue, head, column->tag == 'n' ? 1 : 9, err) < 0)
		return -1;
	if (column->tag != 't' && column->tag != 'b')
		return 0;
	if (!column->gap)
		return buffer_append(queue, column->text, column->number, err);
	return buffer_append(queue, column->text, column->gap_at, err) < 0
		       ? -1
		       : buffer_append(queue,
				       column->text + column->gap_at +
					       column->gap,
				       column->number - column->gap_at, err);
}

static void queue_cut(struct buffer *queue, size_t size)
{
	queue->size = size;
	queue->data[size] = 0;
}

/* A row in the queue: which write, how many columns, the columns. */
static int queue_row(struct store *store, enum write_kind write,
		     const struct column *columns, size_t count,
		     struct error *err)
{
	struct buffer *queue = &store->queue;
	const char head[2] = { (char)write, (char)count };
	size_t mark = queue->size;
	struct error why;
	int rc = buffer_append(queue, head, 2, &why);

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = queue_column(store, &columns[i], &why);
	if (rc == 0) {
		store->queued++;
		store->unseen |=
			write != WRITE_EVENT && write != WRITE_STATE &&
			write != WRITE_RESULT && write != WRITE_SHARED &&
			write != WRITE_OUTPUT && write != WRITE_NO_OUTPUTS;
		return 0;
	}
	queue_cut(queue, mark);
	if (why.code == E2BIG)
		return error_set(err, ENOBUFS,
				 "store: %zu rows wait to be written; the "
				 "queue is full",
				 store->queued);
	error_set(err, why.code, "store: %s", why.text);
	return -1;
}

#define QUEUE(store, write, err, ...)                                          \
	queue_row(store, write, (const struct column[]){ __VA_ARGS__ },        \
		  sizeof((const struct column[]){ __VA_ARGS__ }) /             \
			  sizeof(struct column),                               \
		  err)

int store_put_sweep(struct store *store, const struct sweep_row *row,
		    struct error *err)
{
	return QUEUE(store, WRITE_SWEEP, err, id(row->id), text(row->name),
		     text(row->text), text(row->client),
		     column_make_number(row->submitted_ms));
}

int store_pause_sweep(struct store *store, uint64_t sweep, const char *paused,
		      struct error *err)
{
	return QUEUE(store, WRITE_PAUSE, err, id(sweep), maybe_text(paused));
}

static bool state_valid(const struct job_row *row)
{
	return job_state_name(row->state) &&
	       (row->failure == FAILURE_NONE || failure_name(row->failure));
}

int store_put_job(struct store *store, const struct job_row *row,
		  struct error *err)
{
	size_t mark = store->queue.size;

	if (!state_valid(row))
		return error_set(err, EINVAL, "store: state out of range");
	if (QUEUE(store, WRITE_JOB, err, id(row->id), id(row->sweep),
		  column_make_number((int64_t)row->cell_index), text(row->key),
		  column_make_number(row->repeat),
		  column_make_number(row->priority), text(row->spec),
		  maybe_id(row->origin), maybe_text(row->cell),
		  maybe_text(row->vendor), column_make_number(row->nodes),
		  column_make_number(row->devices)) < 0)
		return -1;
	if (QUEUE(store, WRITE_JOB_STATE, err, id(row->id), id(row->sweep),
		  text(job_state_name(row->state)),
		  column_make_number(row->attempt),
		  maybe_text(failure_name(row->failure)), maybe_text(row->text),
		  column_make_number(row->queued_ms),
		  column_make_number(row->started_ms),
		  column_make_number(row->ended_ms),
		  maybe_text(row->allocation),
		  column_make_number(row->first_attempt),
		  column_make_number((int64_t)row->step), real(row->loss),
		  real(row->rate.value), maybe_id(row->rate.unit),
		  maybe_id(row->suspect)) == 0)
		return 0;
	queue_cut(&store->queue, mark);
	store->queued--;
	return -1;
}

int store_set_job(struct store *store, enum job_state was,
		  const struct job_row *row, struct error *err)
{
	if (!state_valid(row))
		return error_set(err, EINVAL, "store: state out of range");
	return QUEUE(store, WRITE_STATE, err, id(row->id), id(row->sweep),
		     text(job_state_name(was)),
		     text(job_state_name(row->state)),
		     column_make_number(row->attempt),
		     maybe_text(failure_name(row->failure)),
		     maybe_text(row->text), column_make_number(row->queued_ms),
		     column_make_number(row->started_ms),
		     column_make_number(row->ended_ms),
		     maybe_text(row->allocation),
		     column_make_number(row->first_attempt),
		     column_make_number((int64_t)row->step), real(row->loss),
		     real(row->rate.value), maybe_id(row->rate.unit),
		     maybe_id(row->suspect));
}

int store_put_event(struct store *store, const struct event_row *row,
		    struct error *err)
{
	if (QUEUE(store, WRITE_EVENT, err, id(store->next_event), id(row->job),
		  column_make_number(row->attempt),
		  column_make_number(row->time_ms), text(row->kind),
		  maybe_text(row->data)) < 0)
		return -1;
	store->next_event++;
	return 0;
}

/* Texts that results share. */

static uint64_t mix(const char *text, size_t size)
{
	uint64_t sum = size, word;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
		text += sizeof(word);
	}
	for (; size; size--)
		sum = (sum ^ (unsigned char)*text++) *
		      UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 32;
}

static void find_digits(const char *text, size_t size,
			char digits[SHARED_DIGITS_SIZE])
{
	struct digest digest;
	char hex[DIGEST_HEX_SIZE];

	digest_init(&digest);
	digest_add(&digest, text, size);
	digest_hex(&digest, hex);
	snprintf(digits, SHARED_DIGITS_SIZE, "%.*s", SHARED_DIGITS_SIZE - 1,
		 hex);
}

/* The entry with this text, found or made; NULL: ENOMEM. */
static struct known_text *note_shared(struct store *store, const char *text,
				      size_t size)
{
	struct known_text *known =
		&store->shared[mix(text, size) % SHARED_KNOWN];
	char *copy;

	if (known->text && !strncmp(known->text, text, size) &&
	    !known->text[size])
		return known;
	copy = strndup(text, size);
	if (!copy)
		return NULL;
	free(known->text);
	known->text = copy;
	known->sweep = 0;
	find_digits(text, size, known->digits);
	return known;
}

/* Queue the text that the row shares, unless the sweep has it. *digits: its
 * digits; NULL: the row shares nothing.
 */
static int put_shared(struct store *store, const struct result_row *row,
		      const char **digits, struct error *err)
{
	struct known_text *known;

	*digits = NULL;
	if (row->shared_to <= row->shared_from)
		return 0;
	known = note_shared(store, row->json + row->shared_from,
			    row->shared_to - row->shared_from);
	if (!known)
		return error_nomem(err, "store");
	*digits = known->digits;
	if (known->sweep == row->sweep)
		return 0;
	if (QUEUE(store, WRITE_SHARED, err, id(row->sweep), text(known->digits),
		  text(known->text)) < 0)
		return -1;
	known->sweep = row->sweep;
	known->commit = store->commits;
	return 0;
}

/* Forget texts that are not committed: their rows may be dropped. */
static void forget_shared(struct store *store)
{
	for (size_t i = 0; i < SHARED_KNOWN; i++)
		if (store->shared[i].commit == store->commits)
			store->shared[i].sweep = 0;
}

/* The text without the shared part. */
static struct column column_make_rest(const struct result_row *row)
{
	struct column column = text(row->json);

	if (column.tag && row->shared_to > row->shared_from) {
		column.gap_at = row->shared_from;
		column.gap = row->shared_to - row->shared_from;
		column.number -= column.gap;
	}
	return column;
}

int store_put_result(struct store *store, const struct result_row *row,
		     struct error *err)
{
	struct store_mark mark = store_mark(store);
	const char *digits = NULL;

	if (row->json && put_shared(store, row, &digits, err) < 0)
		return -1;
	if (QUEUE(store, WRITE_RESULT, err, id(row->job),
		  column_make_number(row->attempt), column_make_rest(row),
		  maybe_text(digits),
		  column_make_number(digits ? (int64_t)row->shared_from : 0)) ==
	    0)
		return 0;
	store_undo(store, &mark);
	return -1;
}

int store_put_node(struct store *store, const struct node_row *row,
		   struct error *err)
{
	return QUEUE(store, WRITE_NODE, err, text(row->name),
		     column_make_number(row->drained), maybe_text(row->facts),
		     column_make_number(row->seen_ms),
		     maybe_text(row->settings));
}

int store_remove_node(struct store *store, const char *name, struct error *err)
{
	return QUEUE(store, WRITE_NO_NODE, err, text(name));
}

int store_put_key(struct store *store, const struct key_row *row,
		  struct error *err)
{
	return QUEUE(store, WRITE_KEY, err, text(row->public), text(row->name),
		     text(row->role), maybe_text(row->machine),
		     maybe_text(row->grants), maybe_text(row->for_name),
		     column_make_number(row->uses),
		     column_make_number(row->renew),
		     column_make_number(row->until_ms), text(row->by),
		     column_make_number(row->since_ms),
		     column_make_number(row->revoked_ms),
		     maybe_text(row->network));
}

int store_remove_key(struct store *store, const char *public, struct error *err)
{
	return QUEUE(store, WRITE_NO_KEY, err, text(public));
}

int store_put_audit(struct store *store, const struct audit_row *row,
		    struct error *err)
{
	struct audit_row numbered = *row;
	char next[AUDIT_CHAIN_SIZE];

	numbered.seq = store->next_audit;
	audit_chain(store->audit_chain, &numbered, next);
	if (QUEUE(store, WRITE_AUDIT, err, id(numbered.seq),
		  column_make_number(row->time_ms), text(row->who),
		  text(row->role), text(row->address), text(row->act),
		  text(row->request), maybe_text(row->refusal), text(next)) < 0)
		return -1;
	store->next_audit++;
	memcpy(store->audit_chain, next, sizeof(next));
	return 0;
}

const char *store_audit_head(const struct store *store)
{
	return store->audit_chain;
}

/* Queue each of these writes for the id, or none. */
static int queue_all(struct store *store, const enum write_kind *list,
		     size_t count, uint64_t number, struct error *err)
{
	struct store_mark mark = store_mark(store);

	for (size_t i = 0; i < count; i++)
		if (QUEUE(store, list[i], err, id(number)) < 0) {
			store_undo(store, &mark);
			return -1;
		}
	return 0;
}

int store_forget_job(struct store *store, uint64_t job, struct error *err)
{
	static const enum write_kind list[] = { WRITE_NO_RESULT,
						WRITE_NO_EVENTS, WRITE_NO_RUN,
						WRITE_NO_STATE, WRITE_NO_JOB };

	return queue_all(store, list, sizeof(list) / sizeof(list[0]), job, err);
}

int store_forget_sweep(struct store *store, uint64_t sweep, struct error *err)
{
	static const enum write_kind list[] = {
		WRITE_NO_PINS, WRITE_LOGINS_GONE, WRITE_NO_COUNTS,
		WRITE_NO_SHARED, WRITE_NO_SWEEP
	};

	return queue_all(store, list, sizeof(list) / sizeof(list[0]), sweep,
			 err);
}

int store_job_origin(struct store *store, uint64_t job, bool *is_origin,
		     struct error *err)
{
	sqlite3_int64 found = 0;
	char sql[100];

	snprintf(sql, sizeof(sql),
		 "SELECT EXISTS(SELECT 1 FROM jobs WHERE origin = %llu)",
		 (unsigned long long)job);
	if (database_number(store->database, sql, &found, err) < 0)
		return -1;
	*is_origin = found;
	return 0;
}

int store_trim_audit(struct store *store, uint64_t keep, int64_t before_ms,
		     uint32_t least, uint32_t most, uint64_t *rows,
		     struct error *err)
{
	sqlite3_int64 first = 0, last = 0, to = 0;
	char sql[300];

	*rows = 0;
	if (database_number(store->database, "SELECT min(seq) FROM audit",
			    &first, err) < 0 ||
	    database_number(store->database, "SELECT max(seq) FROM audit",
			    &last, err) < 0)
		return -1;
	/* The rows that are removed have no gaps, also if the clock was set. */
	snprintf(sql, sizeof(sql),
		 "SELECT coalesce(min(CASE WHEN time_ms >= %lld"
		 " OR seq + %llu > %lld THEN seq - 1 END), max(seq))"
		 " FROM (SELECT seq, time_ms FROM audit ORDER BY seq"
		 " LIMIT %u)",
		 (long long)before_ms, (unsigned long long)keep,
		 (long long)last, most);
	if (database_number(store->database, sql, &to, err) < 0)
		return -1;
	if (!first || to - first + 1 < (sqlite3_int64)least)
		return 0;
	if (QUEUE(store, WRITE_OLD_AUDIT, err, column_make_number(to)) < 0)
		return -1;
	*rows = (uint64_t)(to - first + 1);
	return 0;
}

int store_put_pin(struct store *store, const struct pin_row *row,
		  struct error *err)
{
	return QUEUE(store, WRITE_PIN, err, column_make_number(row->sweep),
		     text(row->image), text(row->found), text(row->node));
}

int store_put_login(struct store *store, const struct login_row *row,
		    struct error *err)
{
	return QUEUE(store, WRITE_LOGIN, err, id(row->sweep),
		     text(row->registry), maybe_text(row->sealed));
}

int store_drop_logins(struct store *store, uint64_t sweep, struct error *err)
{
	return QUEUE(store, WRITE_NO_LOGINS, err, id(sweep));
}

struct store_mark store_mark(const struct store *store)
{
	struct store_mark mark = {
		.bytes = store->queue.size,
		.rows = store->queued,
		.next_sweep = store->next_sweep,
		.next_job = store->next_job,
		.next_event = store->next_event,
		.next_audit = store->next_audit,
	};

	memcpy(mark.audit_chain, store->audit_chain, sizeof(mark.audit_chain));
	return mark;
}

void store_undo(struct store *store, const struct store_mark *mark)
{
	forget_shared(store);
	if (store->queue.size > mark->bytes)
		queue_cut(&store->queue, mark->bytes);
	store->queued = mark->rows;
	store->next_sweep = mark->next_sweep;
	store->next_job = mark->next_job;
	store->next_event = mark->next_event;
	store->next_audit = mark->next_audit;
	memcpy(store->audit_chain, mark->audit_chain,
	       sizeof(store->audit_chain));
}

size_t store_pending(const struct store *store)
{
	return store->queued;
}

bool store_unseen(const struct store *store)
{
	return store->unseen;
}

int store_put_output(struct store *store, const struct output_row *row,
		     struct error *err)
{
	if (QUEUE(store, WRITE_OUTPUT, err, id(store->next_output),
		  id(row->job), column_make_number(row->attempt),
		  text(row->stream),
		  column_make_bytes(row->bytes, row->size)) < 0)
		return -1;
	store->next_output++;
	return 0;
}

uint64_t store_coming_output(const struct store *store)
{
	return store->next_output;
}

int store_drop_outputs(struct store *store, uint64_t before, struct error *err)
{
	return QUEUE(store, WRITE_NO_OUTPUTS, err, id(before));
}
