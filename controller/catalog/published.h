/* published.h - published figures, and which of them a result compares with.
 *
 * They are in baselines.yaml of the images folder, which says what an entry
 * has. A result compares with an entry of the same model and unit, if it has
 * the same chip, devices, precision and sequence, as far as the entry tells
 * them; whatever else the entry tells is named where it differs.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "protocol/message/reply_jobs.h"

/* What a rate was measured with. Texts are borrowed; NULL, 0: not told. */
struct training {
	char *chip; /* as the vendor's profile calls it */
	uint32_t devices;
	char *precision;
	uint32_t sequence;
	/* These need not be the same: */
	char *stage;
	uint32_t micro_batch;
	uint32_t accumulate;
	uint32_t tp, pp;
	char *sharding_stage;
};

struct published {
	const char *model; /* as models.yaml calls it */
	double rate;
	uint32_t unit;
	const char *source, *recipe; /* recipe NULL: not told */
	struct training with;
};

/* Read an entry; its texts are borrowed. Errors name the place. */
int published_read(struct published *to, const struct catalog *catalog,
		   const struct value *entry, struct error *err);

/* Set *to to the nearest figure for a result with a rate, and what that differs
 * in; the first one, if several are equally near. *to stays NULL if there is
 * none of its model and unit. ENOMEM.
 */
int published_find(const struct catalog *catalog, const struct result_info *of,
		   struct published_info **to, struct error *err);
