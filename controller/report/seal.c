/* seal.c - whether a cell is measured as a result should be. */
#include "controller/report/seal.h"

#include "controller/report/means.h"
#include "controller/results/formula.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Each part says what it found, and whether that is enough. Only completed runs
 * count; there is at least one.
 */
struct seal_runs {
	const struct report_row *items;
	size_t count;
};

#define SEAL_EACH(row, runs)                                                   \
	for (const struct report_row *row = (runs)->items;                     \
	     row != (runs)->items + (runs)->count; row++)                      \
		if (row_completed(row) && row->info.result)

static bool seal_steady(const struct seal_runs *runs, char *text, size_t size)
{
	double most = 0;

	SEAL_EACH(row, runs)
	{
		const struct result *result = row->info.result;

		if (!result->usage || !isfinite(result->usage->power_w) ||
		    !isfinite(result->usage->clock_mhz)) {
			snprintf(text, size, "power and clocks were not read");
			return false;
		}
		most = fmax(most, result->usage->throttled_pct);
		for (size_t i = 0; i < result->flags_count; i++)
			if (result->flags[i].code &&
			    !strcmp(result->flags[i].code, "clock-below")) {
				snprintf(text, size,
					 "a clock was below the others");
				return false;
			}
	}
	snprintf(text, size, "power and clocks steady");
	if (most >= SEAL_THROTTLED_PCT)
		snprintf(text, size, "throttled %.0f %% of the time", most);
	return most < SEAL_THROTTLED_PCT;
}

static bool seal_repeats(const struct seal_runs *runs, char *text, size_t size)
{
	struct mean rate = { 0 };
	double margin;

	SEAL_EACH(row, runs)
	{
		if (row_rate(row).unit != RATE_NONE)
			mean_add(&rate, row_rate(row).value);
	}
	margin = mean_margin(&rate) / rate.value;
	snprintf(text, size, "%" PRIu64 "/%zu runs", rate.n, runs->count);
	if (isfinite(margin))
		text_append(text, size, " ±%.1f %%", 100 * margin);
	if (rate.n < SEAL_RUNS)
		text_append(text, size, ", of %d that are needed", SEAL_RUNS);
	return rate.n >= SEAL_RUNS && rate.n == runs->count &&
	       margin <= SEAL_MARGIN;
}

static bool seal_losses(const struct seal_runs *runs, char *text, size_t size)
{
	const struct loss_range *first = NULL;

	SEAL_EACH(row, runs)
	{
		const struct loss_range *loss = row->info.result->loss;

		first = first ? first : loss;
		if (!loss || !isfinite(loss->last)) {
			snprintf(text, size, "losses are not known");
			return false;
		}
		if (loss->last != first->last ||
		    (row->alignment && row->alignment->verdict &&
		     !strcmp(row->alignment->verdict, "False"))) {
			snprintf(text, size, "losses differ");
			return false;
		}
	}
	snprintf(text, size, "losses equal");
	return true;
}

static bool seal_nodes(const struct seal_runs *runs, char *text, size_t size)
{
	int64_t oldest_ms = 0;

	SEAL_EACH(row, runs)
	{
		const struct provenance *from = row->info.provenance;
		int64_t age_ms;

		if (!from || !from->accepted_ms) {
			snprintf(text, size, "nodes were not accepted");
			return false;
		}
		age_ms =
			row->info.result->inputs.started_ms - from->accepted_ms;
		oldest_ms = age_ms > oldest_ms ? age_ms : oldest_ms;
	}
	snprintf(text, size, "nodes accepted %.0f h before",
		 (double)oldest_ms / 3600000);
	return oldest_ms <= SEAL_AGE_MS;
}

static bool seal_recomputable(const struct seal_runs *runs, char *text,
			      size_t size)
{
	bool kept = true, real = true, same = true;

	SEAL_EACH(row, runs)
	{
		const struct provenance *from = row->info.provenance;

		kept &= from && from->streams.count > 0;
		real &= from && !from->simulated;
		same &= row->info.result->formula == FORMULA_VERSION;
	}
	snprintf(text, size, "%s",
		 !kept   ? "its log is not known"
		 : !real ? "devices are simulated"
		 : !same ? "computed by another version"
			 : "recomputable");
	return kept && real && same;
}

bool seal_tell(const struct report_row *runs, size_t count,
	       char text[SEAL_TEXT])
{
	static bool (*const parts[])(const struct seal_runs *, char *,
				     size_t) = {
		seal_steady, seal_repeats,      seal_losses,
		seal_nodes,  seal_recomputable,
	};
	const struct seal_runs all = { runs, count };
	char words[SEAL_TEXT] = "";
	bool sealed = true;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char part[80];
		bool good = parts[i](&all, part, sizeof(part));

		sealed = sealed && good;
		text_append(words, sizeof(words), "%s%s%s", i ? "; " : "",
			    good ? "" : "! ", part);
	}
	snprintf(text, SEAL_TEXT, "%s: %.380s",
		 sealed ? "sealed" : "not sealed", words);
	return sealed;
}
