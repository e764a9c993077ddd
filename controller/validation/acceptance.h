/* acceptance.h - what a validation says of each node, device and link; as JSON,
 * JUnit and a page.
 */
#pragma once

#include "controller/validation/measured.h"
#include "controller/validation/pairs.h"
#include "protocol/base/buffer.h"

/* One test of a unit. */
struct accepted_check {
	char *test;
	uint32_t verdict;
	double value, median, percent; /* worse than the median by so much;
					  NAN: not compared */
	double chance; /* of such a distance, if it is good; NAN: not known */
	uint64_t peers;
	char *text; /* a sentence */
};

enum unit_kind { UNIT_NODE = 1, UNIT_DEVICE, UNIT_LINK, UNIT_KINDS };
extern const char *const unit_kind_names[UNIT_KINDS + 1];

struct accepted_unit {
	char *name; /* "n3", "n3 device 2", "n3+n4" */
	uint32_t kind;
	uint32_t verdict; /* the worst of its checks */
	struct accepted_check *checks;
	size_t checks_count;
};

struct acceptance {
	char *set;
	double family; /* the chance that any good unit is called bad */
	struct numbers sweeps;
	struct strings notes; /* two heaps of nodes, nodes that were left out */
	struct accepted_unit *units; /* nodes first, as they were asked for */
	size_t units_count;
};
extern const struct schema acceptance_schema;
void acceptance_clear(struct acceptance *acceptance);
OWNED_VALUE(struct acceptance, acceptance_clear)

/* Add a node, or a sweep. ENOMEM; so do all that follow. */
int acceptance_add_node(struct acceptance *to, const char *name,
			struct error *err);
int acceptance_add_sweep(struct acceptance *to, uint64_t sweep,
			 struct error *err);

/* Add judged values of single nodes and their devices, with what the second
 * measurement of the suspects said (NULL: there was none): failures and losses
 * that differ twice are bad.
 */
int acceptance_add(struct acceptance *to, struct measured *first,
		   const struct measured *second, struct error *err);

/* Add what pairs say, whose numbers are those of `names`. */
int acceptance_add_pairs(struct acceptance *to, const struct pairs *pairs,
			 const struct strings *names, struct error *err);

/* The verdict of a node; GOOD: it is not known. */
enum verdict acceptance_of(const struct acceptance *acceptance,
			   const char *node);
size_t acceptance_count(const struct acceptance *acceptance,
			enum unit_kind kind, enum verdict verdict);

/* What is wrong with a unit: the sentences of its checks that are not good;
 * "". Returns text.
 */
#define ACCEPTANCE_WHY 1000
const char *unit_why(const struct accepted_unit *unit,
		     char text[ACCEPTANCE_WHY]);

/* Append JUnit XML: a test for each unit and check. */
int acceptance_junit(const struct acceptance *acceptance, struct buffer *out,
		     struct error *err);

/* Append a page: a strip of nodes, a map of links, and what is wrong. pairs:
 * NULL: none were measured.
 */
int acceptance_html(const struct acceptance *acceptance,
		    const struct pairs *pairs, const struct strings *names,
		    struct buffer *out, struct error *err);
