/* budget_test.c - the sessions of a key pay together, and time fills it up.
 */
#include "protocol/wire/budget.h"
#include "tests/tap.h"

#define KEY "0123456789012345678901234567890123456789"

static void test_messages(void)
{
	struct budgets *budgets = budgets_new();
	struct budget *one = budget_join(budgets, KEY, ROLE_VIEWER, 0);
	struct budget *two = budget_join(budgets, KEY, ROLE_VIEWER, 0);
	int sent = 0;

	is_int(one == two, 1, "two sessions of a key have one budget");
	while (sent < 100000 && budget_message(sent % 2 ? one : two, 0))
		sent++;
	is_int(sent, 2LL * BUDGET_PERSON_MESSAGES, "they share a burst");
	ok(!budget_message(one, 0), "which is used up");
	ok(budget_message(one, 1), "a millisecond brings some more");
	budget_leave(one, 1);
	budget_leave(two, 1);
	budgets_sweep(budgets, BUDGET_KEPT_MS);
	one = budget_join(budgets, KEY, ROLE_VIEWER, 1);
	for (sent = 0; budget_message(one, 1);)
		sent++;
	ok(sent <= 1, "coming back at once does not fill it");
	budget_leave(one, 1);
	budgets_sweep(budgets, BUDGET_KEPT_MS + 2);
	one = budget_join(budgets, KEY, ROLE_AGENT, BUDGET_KEPT_MS + 2);
	for (sent = 0; budget_message(one, BUDGET_KEPT_MS + 2);)
		sent++;
	is_int(sent, 2LL * BUDGET_AGENT_MESSAGES, "a minute later it is new");
	budgets_free(budgets);
}

static void test_processor(void)
{
	struct budgets *budgets = budgets_new();
	struct budget *viewer = budget_join(budgets, "v", ROLE_VIEWER, 0);
	struct budget *other = budget_join(budgets, "w", ROLE_VIEWER, 0);
	struct budget *joiner = budget_join(budgets, "j", ROLE_JOINER, 0);
	struct budget *operator= budget_join(budgets, "o", ROLE_OPERATOR, 0);
	struct budget *agent = budget_join(budgets, "a", ROLE_AGENT, 0);

	ok(budget_timed(viewer) && budget_timed(joiner),
	   "the time of viewers and joiners is counted");
	ok(!budget_timed(operator) && !budget_timed(agent),
	   "that of operators and agents is not");
	budget_spend(viewer, BUDGET_VIEWER_CPU_BURST_US);
	is_int(budget_wait_ms(viewer, 0), 0, "a burst may be spent at once");
	budget_spend(viewer, BUDGET_VIEWER_CPU_US);
	is_int(budget_wait_ms(viewer, 0), 1001, "what is more must be waited");
	is_int(budget_wait_ms(viewer, 500), 501, "for");
	is_int(budget_wait_ms(viewer, 1000), 0, "until it has filled up");
	budget_spend(viewer, BUDGET_VIEWER_CPU_BURST_US / 8);
	is_int(budget_wait_ms(other, 1000), 0,
	       "another viewer is not held to that");
	budget_spend(viewer, BUDGET_VIEWER_CPU_BURST_US);
	ok(budget_wait_ms(other, 1000) > 0 && !budget_wait_ms(joiner, 1000),
	   "until all viewers together took too much");
	budget_spend(operator, UINT64_C(1000) * BUDGET_VIEWER_CPU_BURST_US);
	is_int(budget_wait_ms(operator, 0), 0, "operators never wait");
	ok(budget_of(budgets, "v", ROLE_VIEWER, 1000) == viewer,
	   "what is asked outside of a session is charged to the same");
	other = budget_of(budgets, "", 0, 1000);
	budget_spend(other, 2 * BUDGET_VIEWER_CPU_BURST_US);
	ok(budget_wait_ms(other, 1000) && !budget_wait_ms(joiner, 1000),
	   "who has no key waits, and takes nothing from others");
	budgets_sweep(budgets, 1000 + BUDGET_KEPT_MS + 1);
	ok(budget_of(budgets, "", 0, 62000) &&
		   budget_wait_ms(joiner, 62000) == 0,
	   "it is forgotten, as those of keys are");
	budgets_free(budgets);
}

static void test_sessions(void)
{
	struct budgets *budgets = budgets_new();
	struct budget *budget;
	int count = 0;

	while (count < 1000 && budget_join(budgets, KEY, ROLE_AGENT, 0))
		count++;
	is_int(count, BUDGET_AGENT_SESSIONS, "sessions of a key are limited");
	budget = budget_join(budgets, "another", ROLE_AGENT, 0);
	ok(budget != NULL, "each key by itself");
	budget_leave(budget, 0);
	count = 0;
	while (count < 1000 && budget_join(budgets, "viewer", ROLE_VIEWER, 0))
		count++;
	is_int(count, 64, "a viewer has more, and no 65th");
	budgets_free(budgets);
}

/* What no machine has received, of each key and of all together. */
static void test_unsent(void)
{
	struct budgets *budgets = budgets_new();
	struct budget *keys[5];
	char name[] = "0";

	for (int i = 0; i < 5; i++, name[0]++)
		keys[i] = budget_join(budgets, name, ROLE_VIEWER, 0);
	for (int i = 0; i < 4; i++)
		ok(budget_take(keys[i], BUDGET_UNSENT, 32 << 20) ==
			   BUDGET_TAKEN,
		   "a key may have 32 MiB");
	ok(budget_take(keys[0], BUDGET_UNSENT, 1) == BUDGET_OF_KEY,
	   "and not a byte more");
	ok(budget_take(keys[4], BUDGET_UNSENT, 1) == BUDGET_OF_ALL,
	   "all together 128 MiB, and not a byte more");
	budget_give(keys[0], BUDGET_UNSENT, 1);
	ok(budget_take(keys[4], BUDGET_UNSENT, 1) == BUDGET_TAKEN,
	   "until one of them has received some");
	budgets_free(budgets);
}

int main(void)
{
	tap_begin(20);
	test_messages();
	test_processor();
	test_sessions();
	test_unsent();
	is_int(budget_text_max(ROLE_VIEWER, false), BUDGET_PERSON_HELLO,
	       "a person's hello is short");
	is_int(budget_text_max(ROLE_OPERATOR, false), BUDGET_PERSON_HELLO,
	       "an operator's too");
	ok(budget_text_max(ROLE_OPERATOR, true) >
		   budget_text_max(ROLE_VIEWER, true),
	   "an operator sends sweeps, a viewer questions");
	return tap_done();
}
