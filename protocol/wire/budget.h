/* budget.h - limits what the sessions of one key, and all viewers together,
 * may cost a server.
 *
 * All sessions of a key share one budget, so a second connection gains nothing.
 * A budget grows with time up to a limit. A message that would spend more than
 * is left is refused. A budget stays for BUDGET_KEPT_MS after its last session,
 * so a new connection does not refill it.
 *
 * A viewer also has a budget of processor time, because one request can cost a
 * thousand times more than another. All viewers together share a second one.
 * Operators have no such limit: they may submit a sweep of a million cells.
 * Agents have none either: their output is what a controller is for.
 *
 * A third kind of limit is what a key has at a time: sessions, requests that
 * wait for a change, and bytes that its machines have not received yet. Some of
 * them are limited for all keys together, too.
 */
#pragma once

#include "protocol/message/role.h"
#include "protocol/wire/key.h"

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_AGENT_MESSAGES 20000 /* a second, twice that at once */
#define BUDGET_PERSON_MESSAGES 2000
#define BUDGET_VIEWER_CPU_US 250000        /* a second of wall time */
#define BUDGET_VIEWER_CPU_BURST_US 2000000 /* at once */
#define BUDGET_ALL_CPU_US 500000           /* the same for all together */
#define BUDGET_AGENT_SESSIONS 4            /* an old one may not have ended */
#define BUDGET_PERSON_SESSIONS 64
#define BUDGET_WAITS_MAX 128          /* waiting requests of a person */
#define BUDGET_UNSENT_MAX (32 << 20)  /* bytes, of a key */
#define BUDGET_UNSENT_ALL (128 << 20) /* of all keys together */
#define BUDGET_KEPT_MS 60000
/* Bytes of a person's hello, which says nothing but a version. */
#define BUDGET_PERSON_HELLO 1024
/* Bytes of a viewer's request: names, numbers, a filter. */
#define BUDGET_VIEWER_REQUEST 16384

struct budgets; /* all of a server */
struct budget;  /* of one key */

struct budgets *budgets_new(void); /* NULL: no memory */
void budgets_free(struct budgets *budgets);

/* What a key has at a time. */
enum budget_kind {
	BUDGET_SESSIONS,
	BUDGET_WAITS,  /* requests that wait */
	BUDGET_UNSENT, /* bytes sent that its machines have not received */
	BUDGET_KINDS
};

/* Add to what the key has of this kind. BUDGET_OF_KEY, BUDGET_OF_ALL: nothing
 * was added, because the key, or all keys together, would have too much. What
 * was added is given back later.
 */
enum budget_taken { BUDGET_TAKEN, BUDGET_OF_KEY, BUDGET_OF_ALL };
enum budget_taken budget_take(struct budget *budget, enum budget_kind kind,
			      size_t amount);
void budget_give(struct budget *budget, enum budget_kind kind, size_t amount);
/* Is less than half of the limit of all keys in use? */
bool budgets_half(const struct budgets *budgets, enum budget_kind kind);

/* Add a session of this key. NULL: it has too many, or ENOMEM. Each successful
 * call needs a budget_leave().
 */
struct budget *budget_join(struct budgets *budgets, const char *public,
			   enum role role, int64_t now_ms);
void budget_leave(struct budget *budget, int64_t now_ms);

/* The same budget, for what is asked outside of a session; valid in this turn
 * of the loop. public "", role 0: of those who show no key. NULL: ENOMEM.
 */
struct budget *budget_of(struct budgets *budgets, const char *public,
			 enum role role, int64_t now_ms);

/* Counts one message. false: it is above the rate. */
bool budget_message(struct budget *budget, int64_t now_ms);

/* Is processor time counted for it? Then call budget_spend() with the time of
 * each request; budget_wait_ms() is how long the next one must wait, or 0.
 */
bool budget_timed(const struct budget *budget);
void budget_spend(struct budget *budget, int64_t cpu_us);
uint32_t budget_wait_ms(struct budget *budget, int64_t now_ms);

/* How large may the text of the next message be? In bytes. */
size_t budget_text_max(enum role role, bool greeted);

/* Forget those that nobody has used for BUDGET_KEPT_MS. */
void budgets_sweep(struct budgets *budgets, int64_t now_ms);
