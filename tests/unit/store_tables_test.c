/* store_tables_test.c - the store's smaller tables: pins, shared texts of
 * results, logins, keys and the audit log.
 */
#include "tests/unit/store_bed.h"

#include <sqlite3.h>

static int add_pin(const struct pin_row *row, void *arg)
{
	char *to = arg;
	size_t used = strlen(to);

	snprintf(to + used, 200 - used, "%s=%s(%s) ", row->image, row->found,
		 row->node);
	return 0;
}

static void test_pins(void)
{
	struct store *store = open_store();
	struct pin_row rows[] = { { 1, "b:1", "b@x", "n2" },
				  { 1, "a:1", "a@x", "n1" },
				  { 2, "a:1", "a@y", "n1" },
				  { 1, "a:1", "a@z", "n3" } };
	char text[200] = "";

	put_sweep(store, 1);
	put_sweep(store, 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		store_put_pin(store, &rows[i], NULL);
	store_commit(store, NULL);
	store_pins(store, 1, add_pin, text, NULL);
	is(text, "a:1=a@z(n3) b:1=b@x(n2) ",
	   "what images mean in a sweep is kept, the last word counts");
	store_free(store);
}

/* Text that results share. */

static int put_shared(struct store *store, uint64_t job, uint64_t sweep,
		      const char *json, const char *shared)
{
	size_t from = (size_t)(strstr(json, shared) - json);

	return store_put_result(store,
				&(struct result_row){
					.job = job,
					.sweep = sweep,
					.attempt = 1,
					.json = json,
					.shared_from = from,
					.shared_to = from + strlen(shared) },
				NULL);
}

static int add_whole(const struct result_row *row, void *arg)
{
	char *to = arg;

	snprintf(to + strlen(to), 400 - strlen(to), "%s ", row->json);
	return 0;
}

static const char *results_in(struct store *store, uint64_t first,
			      uint64_t last)
{
	static char text[400];

	text[0] = 0;
	for (uint64_t id = first; id <= last; id++)
		store_result(store, id, add_whole, text, NULL);
	return text;
}

/* Rows of it, as another program counts them. */
static int shared_rows(void)
{
	sqlite3 *database = NULL;
	sqlite3_stmt *statement = NULL;
	int rows = -1;

	if (sqlite3_open(in_folder("regatta.db"), &database) == SQLITE_OK &&
	    sqlite3_prepare_v2(database, "SELECT count(*) FROM shared", -1,
			       &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		rows = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(database);
	return rows;
}

static void test_shared(void)
{
	struct store *store = open_store();
	struct store_mark mark;

	for (uint64_t id = 1; id <= 2; id++)
		put_sweep(store, id);
	for (uint64_t id = 1; id <= 6; id++)
		put_job(store, id, id <= 4 ? 1 : 2, JOB_COMPLETED);
	store_commit(store, NULL);
	put_shared(store, 1, 1, "{\"a\":{\"x\":1,\"own\":1}}", "\"x\":1");
	put_shared(store, 2, 1, "{\"x\":1}", "\"x\":1");
	put_shared(store, 3, 1, "{\"x\":2}", "\"x\":2");
	put_shared(store, 4, 1, "{\"y\":1}", "");
	store_commit(store, NULL);
	is(results_in(store, 1, 4),
	   "{\"a\":{\"x\":1,\"own\":1}} {\"x\":1} {\"x\":2} {\"y\":1} ",
	   "it comes back at its place in each result");
	is_int(shared_rows(), 2, "what is alike is stored once");
	mark = store_mark(store);
	put_shared(store, 5, 2, "{\"x\":1}", "\"x\":1");
	store_undo(store, &mark);
	is_int((long long)store_pending(store), 0, "undone is undone");
	put_shared(store, 5, 2, "{\"x\":1}", "\"x\":1");
	store_commit(store, NULL);
	is(results_in(store, 5, 5), "{\"x\":1} ", "and is put again");
	store_free(store);
	store = open_store();
	put_shared(store, 6, 2, "{\"x\":1}", "\"x\":1");
	store_commit(store, NULL);
	is(results_in(store, 5, 6), "{\"x\":1} {\"x\":1} ",
	   "each sweep has its own, also after a start anew");
	is_int(shared_rows(), 3, "once");
	for (uint64_t id = 5; id <= 6; id++)
		store_forget_job(store, id, NULL);
	store_forget_sweep(store, 2, NULL);
	ok(store_commit(store, NULL) == 0 && shared_rows() == 2,
	   "it goes with its sweep");
	store_free(store);
}

static int add_login(const struct login_row *row, void *arg)
{
	char *to = arg;
	size_t used = strlen(to);

	snprintf(to + used, 200 - used, "%d:%s=%s ", (int)row->sweep,
		 row->registry, row->sealed ? row->sealed : "gone");
	return 0;
}

static void test_logins(void)
{
	struct store *store = open_store();
	struct login_row rows[] = { { 1, "b:1", "x" },
				    { 1, "a", "y" },
				    { 2, "a", "z" },
				    { 1, "a", "w" } };
	char one[200] = "", gone[200] = "", all[200] = "";

	put_sweep(store, 1);
	put_sweep(store, 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		store_put_login(store, &rows[i], NULL);
	store_commit(store, NULL);
	store_logins(store, 1, add_login, one, NULL);
	is(one, "1:a=w 1:b:1=x ", "logins of a sweep, the last one counts");
	store_drop_logins(store, 1, NULL);
	store_commit(store, NULL);
	store_logins(store, 1, add_login, gone, NULL);
	is(gone, "1:a=gone 1:b:1=gone ", "that they were there is remembered");
	store_logins(store, 0, add_login, all, NULL);
	is(all, "2:a=z ", "and what is left of all sweeps is found");
	store_free(store);
}

static int key_words(const struct key_row *row, void *arg)
{
	char *text = arg;

	snprintf(text + strlen(text), 200 - strlen(text), "%s %s %s %s %u %d;",
		 row->name, row->role, row->grants ? row->grants : "-",
		 row->for_name ? row->for_name : "-", row->uses,
		 row->revoked_ms != 0);
	return 0;
}

static int audit_words(const struct audit_row *row, void *arg)
{
	char *text = arg;

	snprintf(text + strlen(text), 200 - strlen(text), "%d %s %s %s %s;",
		 (int)row->seq, row->who, row->act, row->request,
		 row->refusal ? row->refusal : "-");
	return 0;
}

struct chained {
	char before[AUDIT_CHAIN_SIZE];
	int good, bad;
};

static int follow_chain(const struct audit_row *row, void *arg)
{
	struct chained *chained = arg;
	char chain[AUDIT_CHAIN_SIZE];

	audit_chain(chained->before, row, chain);
	if (row->chain && !strcmp(chain, row->chain))
		chained->good++;
	else
		chained->bad++;
	snprintf(chained->before, sizeof(chained->before), "%s",
		 row->chain ? row->chain : "");
	return 0;
}

/* The store has two rows. */
static void test_chain(struct store *store)
{
	const struct audit_row row = { .who = "op",
				       .role = "operator",
				       .address = "a",
				       .act = "label",
				       .request = "{}" };
	struct chained chained = { .good = 0 };
	struct store_mark mark = store_mark(store);

	store_put_audit(store, &row, NULL);
	store_undo(store, &mark);
	store_put_audit(store, &row, NULL);
	store_commit(store, NULL);
	store_audit(store, 0, 0, follow_chain, &chained, NULL);
	ok(chained.good == 3 && !chained.bad, "each row follows from the last");
	is(store_audit_head(store), chained.before, "the newest is the head");
	chained = (struct chained){ .before = "x" };
	store_audit(store, 0, 0, follow_chain, &chained, NULL);
	ok(chained.good == 2 && chained.bad == 1,
	   "what comes behind another row does not");
}

static void test_keys_and_audit(void)
{
	struct store *store = open_store();
	struct key_row key = { .public = "p1",
			       .name = "n1",
			       .role = "agent",
			       .by = "op",
			       .since_ms = 1 };
	struct key_row token = { .public = "p2",
				 .name = "t",
				 .role = "joiner",
				 .grants = "viewer",
				 .for_name = "ann",
				 .uses = 1,
				 .by = "op",
				 .since_ms = 2 };
	struct audit_row row = { .who = "op",
				 .role = "operator",
				 .address = "a",
				 .act = "drain",
				 .request = "{}" };
	char text[200] = "";

	store_put_key(store, &key, NULL);
	store_put_key(store, &token, NULL);
	store_put_audit(store, &row, NULL);
	key.revoked_ms = 5;
	row.refusal = "no";
	store_put_key(store, &key, NULL);
	store_put_audit(store, &row, NULL);
	ok(store_put_audit(store, &(struct audit_row){ .who = "x" }, NULL) < 0,
	   "an order without an act is refused");
	store_commit(store, NULL);
	store_keys(store, key_words, text, NULL);
	is(text, "n1 agent - - 0 1;t joiner viewer ann 1 0;",
	   "keys are kept, each once");
	store_remove_key(store, "p2", NULL);
	store_commit(store, NULL);
	text[0] = 0;
	store_keys(store, key_words, text, NULL);
	is(text, "n1 agent - - 0 1;", "and forgotten");
	text[0] = 0;
	store_audit(store, 0, 0, audit_words, text, NULL);
	is(text, "1 op drain {} -;2 op drain {} no;", "orders are kept");
	text[0] = 0;
	store_audit(store, 1, 1, audit_words, text, NULL);
	is(text, "2 op drain {} no;", "and read from a place on");
	test_chain(store);
	store_free(store);
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_pins,
		test_shared,
		test_logins,
		test_keys_and_audit,
	};

	tap_begin(30);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		new_folder();
		tests[i]();
		drop_folder();
	}
	return tap_done();
}
