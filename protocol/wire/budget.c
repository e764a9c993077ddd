/* budget.c - limits what the sessions of one key, and all viewers together,
 * may cost a server.
 */
#include "protocol/wire/budget.h"
#include "protocol/message/message.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* Processor time that comes back by and by. */
struct cpu {
	double us;   /* below 0: spent before it was there */
	double rate; /* us a second */
	int64_t filled_ms;
};

struct budget {
	char public[KEY_TEXT_SIZE];
	enum role role;
	unsigned int sessions;
	double messages; /* that may come now */
	int64_t filled_ms;
	struct cpu cpu;
	int64_t left_ms; /* when its last session ended */
	struct budgets *budgets;
	TAILQ_ENTRY(budget) next;
};

struct budgets {
	void *tree; /* tsearch(3), by public key */
	TAILQ_HEAD(, budget) list;
	struct cpu viewers; /* all together */
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
	budgets->viewers = (struct cpu){ .us = BUDGET_VIEWER_CPU_BURST_US,
					 .rate = BUDGET_ALL_CPU_US };
	return budgets;
}

static void forget(struct budget *budget)
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
		forget(budget);
	free(budgets);
}

static double message_rate(const struct budget *budget)
{
	return budget->role == ROLE_AGENT ? BUDGET_AGENT_MESSAGES
					  : BUDGET_PERSON_MESSAGES;
}

static unsigned int sessions_max(enum role role)
{
	return role == ROLE_AGENT ? BUDGET_AGENT_SESSIONS
				  : BUDGET_PERSON_SESSIONS;
}

static double at_most(double value, double limit)
{
	return value < limit ? value : limit;
}

static void fill(struct budget *budget, int64_t now_ms)
{
	double seconds = (double)(now_ms - budget->filled_ms) / 1000;
	double rate = message_rate(budget);

	budget->messages = at_most(budget->messages + seconds * rate, 2 * rate);
	budget->filled_ms = now_ms;
}

/* How long until there is some. */
static uint32_t cpu_wait_ms(struct cpu *cpu, int64_t now_ms)
{
	double seconds = (double)(now_ms - cpu->filled_ms) / 1000;

	cpu->us = at_most(cpu->us + seconds * cpu->rate,
			  BUDGET_VIEWER_CPU_BURST_US);
	cpu->filled_ms = now_ms;
	return cpu->us >= 0 ? 0 : 1 + (uint32_t)(-cpu->us * 1000 / cpu->rate);
}

static struct budget *find(struct budgets *budgets, const char *public)
{
	struct budget key = { 0 };
	void *found;

	strncpy(key.public, public, sizeof(key.public) - 1);
	found = tfind(&key, &budgets->tree, compare_publics);
	return found ? *(struct budget **)found : NULL;
}

static struct budget *add(struct budgets *budgets, const char *public,
			  int64_t now_ms)
{
	struct budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return NULL;
	strncpy(budget->public, public, sizeof(budget->public) - 1);
	budget->budgets = budgets;
	budget->messages = 2.0 * BUDGET_AGENT_MESSAGES;
	budget->cpu = (struct cpu){ .us = BUDGET_VIEWER_CPU_BURST_US,
				    .rate = BUDGET_VIEWER_CPU_US,
				    .filled_ms = now_ms };
	budget->filled_ms = budget->left_ms = now_ms;
	if (!tsearch(budget, &budgets->tree, compare_publics)) {
		free(budget);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&budgets->list, budget, next);
	return budget;
}

struct budget *budget_join(struct budgets *budgets, const char *public,
			   enum role role, int64_t now_ms)
{
	struct budget *budget = find(budgets, public);

	if (!budget)
		budget = add(budgets, public, now_ms);
	if (!budget || budget->sessions >= sessions_max(role))
		return NULL;
	budget->role = role;
	budget->sessions++;
	return budget;
}

void budget_leave(struct budget *budget, int64_t now_ms)
{
	if (!budget)
		return;
	budget->sessions--;
	budget->left_ms = now_ms;
}

bool budget_message(struct budget *budget, int64_t now_ms)
{
	fill(budget, now_ms);
	if (budget->messages < 1)
		return false;
	budget->messages -= 1;
	return true;
}

bool budget_timed(const struct budget *budget)
{
	return !(budget->role & (ROLE_AGENT | ROLE_OPERATOR));
}

void budget_spend(struct budget *budget, uint64_t cpu_us)
{
	budget->cpu.us -= (double)cpu_us;
	if (budget->role == ROLE_VIEWER)
		budget->budgets->viewers.us -= (double)cpu_us;
}

uint32_t budget_wait_ms(struct budget *budget, int64_t now_ms)
{
	uint32_t own_ms, all_ms = 0;

	if (!budget_timed(budget))
		return 0;
	own_ms = cpu_wait_ms(&budget->cpu, now_ms);
	if (budget->role == ROLE_VIEWER)
		all_ms = cpu_wait_ms(&budget->budgets->viewers, now_ms);
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
		if (!budget->sessions &&
		    now_ms - budget->left_ms > BUDGET_KEPT_MS)
			forget(budget);
	}
}
