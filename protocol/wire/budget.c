/* budget.c - limits what the sessions of one key, and all viewers together,
 * may cost a server.
 */
#include "protocol/wire/budget.h"
#include "protocol/base/bucket.h"
#include "protocol/message/message.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct budget {
	char public[KEY_TEXT_SIZE];
	enum role role;
	size_t has[BUDGET_KINDS];
	struct bucket messages, cpu_us;
	int64_t left_ms; /* when its last session ended */
	struct budgets *budgets;
	TAILQ_ENTRY(budget) next;
};

struct budgets {
	void *tree; /* tsearch(3), by public key */
	TAILQ_HEAD(, budget) list;
	struct bucket viewers_us; /* of all viewers together */
	size_t has[BUDGET_KINDS]; /* all keys together */
};

/* At a time. */
static const struct {
	size_t person, agent, all;
} budget_most[BUDGET_KINDS] = {
	/* clang-format off */
	[BUDGET_SESSIONS] = { BUDGET_PERSON_SESSIONS, BUDGET_AGENT_SESSIONS,
			      SIZE_MAX },
	[BUDGET_WAITS] = { BUDGET_WAITS_MAX, 0, SIZE_MAX },
	[BUDGET_UNSENT] = { BUDGET_UNSENT_MAX, BUDGET_UNSENT_MAX, BUDGET_UNSENT_ALL },
	/* clang-format on */
};

static int compare_publics(const void *a, const void *b)
{
	const struct budget *x = a, *y = b;

	return strcmp(x->public, y->public);
}

struct budgets *budgets_new(void)
{
	struct budgets *budgets = calloc(1, sizeof(*budgets));

	if (!budgets)
		return NULL;
	TAILQ_INIT(&budgets->list);
	budgets->viewers_us = (struct bucket){
		.left = BUDGET_VIEWER_CPU_BURST_US,
		.rate = BUDGET_ALL_CPU_US,
		.most = BUDGET_VIEWER_CPU_BURST_US,
	};
	return budgets;
}

static void budget_forget(struct budget *budget)
{
	tdelete(budget, &budget->budgets->tree, compare_publics);
	TAILQ_REMOVE(&budget->budgets->list, budget, next);
	free(budget);
}

void budgets_free(struct budgets *budgets)
{
	struct budget *budget;

	if (!budgets)
		return;
	while ((budget = TAILQ_FIRST(&budgets->list)))
		budget_forget(budget);
	free(budgets);
}

enum budget_taken budget_take(struct budget *budget, enum budget_kind kind,
			      size_t amount)
{
	size_t *all = &budget->budgets->has[kind];
	size_t most = budget->role == ROLE_AGENT ? budget_most[kind].agent
						 : budget_most[kind].person;

	if (budget->has[kind] + amount > most)
		return BUDGET_OF_KEY;
	if (*all + amount > budget_most[kind].all)
		return BUDGET_OF_ALL;
	budget->has[kind] += amount;
	*all += amount;
	return BUDGET_TAKEN;
}

void budget_give(struct budget *budget, enum budget_kind kind, size_t amount)
{
	budget->has[kind] -= amount;
	budget->budgets->has[kind] -= amount;
}

bool budgets_half(const struct budgets *budgets, enum budget_kind kind)
{
	return budgets->has[kind] < budget_most[kind].all / 2;
}

/* How long until there is some. */
static uint32_t bucket_measure_wait(struct bucket *bucket, int64_t now_ms)
{
	bucket_fill(bucket, now_ms);
	return bucket->left >= 0
		       ? 0
		       : 1 + (uint32_t)(-bucket->left * 1000 / bucket->rate);
}

static struct budget *budget_find(struct budgets *budgets, const char *public)
{
	struct budget key = { 0 };
	void *found;

	strncpy(key.public, public, sizeof(key.public) - 1);
	found = tfind(&key, &budgets->tree, compare_publics);
	return found ? *(struct budget **)found : NULL;
}

static struct budget *budget_add(struct budgets *budgets, const char *public,
				 int64_t now_ms)
{
	struct budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return NULL;
	strncpy(budget->public, public, sizeof(budget->public) - 1);
	budget->budgets = budgets;
	budget->messages = (struct bucket){ .left = 2 * BUDGET_AGENT_MESSAGES,
					    .filled_ms = now_ms };
	budget->cpu_us = (struct bucket){ .left = BUDGET_VIEWER_CPU_BURST_US,
					  .rate = BUDGET_VIEWER_CPU_US,
					  .most = BUDGET_VIEWER_CPU_BURST_US,
					  .filled_ms = now_ms };
	budget->left_ms = now_ms;
	if (!tsearch(budget, &budgets->tree, compare_publics)) {
		free(budget);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&budgets->list, budget, next);
	return budget;
}

struct budget *budget_of(struct budgets *budgets, const char *public,
			 enum role role, int64_t now_ms)
{
	struct budget *budget = budget_find(budgets, public);

	if (!budget)
		budget = budget_add(budgets, public, now_ms);
	if (budget) {
		budget->role = role;
		budget->left_ms = now_ms;
	}
	return budget;
}

struct budget *budget_join(struct budgets *budgets, const char *public,
			   enum role role, int64_t now_ms)
{
	struct budget *budget = budget_of(budgets, public, role, now_ms);

	if (!budget)
		return NULL;
	if (budget_take(budget, BUDGET_SESSIONS, 1) != BUDGET_TAKEN)
		return NULL;
	budget->messages.rate = role == ROLE_AGENT ? BUDGET_AGENT_MESSAGES
						   : BUDGET_PERSON_MESSAGES;
	budget->messages.most = 2 * budget->messages.rate;
	return budget;
}

void budget_leave(struct budget *budget, int64_t now_ms)
{
	if (!budget)
		return;
	budget_give(budget, BUDGET_SESSIONS, 1);
	budget->left_ms = now_ms;
}

bool budget_message(struct budget *budget, int64_t now_ms)
{
	return bucket_take(&budget->messages, now_ms);
}

bool budget_timed(const struct budget *budget)
{
	return !(budget->role & (ROLE_AGENT | ROLE_OPERATOR));
}

void budget_spend(struct budget *budget, int64_t cpu_us)
{
	budget->cpu_us.left -= (double)cpu_us;
	if (budget->role == ROLE_VIEWER)
		budget->budgets->viewers_us.left -= (double)cpu_us;
}

uint32_t budget_wait_ms(struct budget *budget, int64_t now_ms)
{
	uint32_t own_ms, all_ms = 0;

	if (!budget_timed(budget))
		return 0;
	own_ms = bucket_measure_wait(&budget->cpu_us, now_ms);
	if (budget->role == ROLE_VIEWER)
		all_ms = bucket_measure_wait(&budget->budgets->viewers_us,
					     now_ms);
	return own_ms > all_ms ? own_ms : all_ms;
}

size_t budget_text_max(enum role role, bool greeted)
{
	if (role == ROLE_AGENT)
		return MESSAGE_TEXT_MAX;
	if (!greeted)
		return BUDGET_PERSON_HELLO;
	return role == ROLE_OPERATOR ? MESSAGE_TEXT_MAX : BUDGET_VIEWER_REQUEST;
}

void budgets_sweep(struct budgets *budgets, int64_t now_ms)
{
	struct budget *budget, *next;

	for (budget = TAILQ_FIRST(&budgets->list); budget; budget = next) {
		next = TAILQ_NEXT(budget, next);
		if (!budget->has[BUDGET_SESSIONS] &&
		    now_ms - budget->left_ms > BUDGET_KEPT_MS)
			budget_forget(budget);
	}
}
