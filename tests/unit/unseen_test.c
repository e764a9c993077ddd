/* unseen_test.c - logs that no format was made for are read right, or say what
 * was not read.
 *
 * tests/samples/unseen/ has a small log for each kind of fault that such logs
 * once met; all formats are tried. A step that must not appear is one that a
 * bar of a download once gave.
 */
#include "controller/cli/file_reader.h"
#include "tests/tap.h"
#include "tests/unit/expectations.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#define FOLDER "tests/samples/unseen/"
#define SAMPLES 29

static struct catalog *catalog;
static struct all_formats all;

/* A log that was read. */
struct seen {
	const char *name;
	struct format_choice *choice;
	struct extract *extract; /* of the best format; NULL: none fits */
	const struct record *records;
	size_t count;
};

static int seen_feed(const void *piece, size_t size, void *arg,
		     struct error *err)
{
	return format_choice_feed(arg, piece, size, err);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-4 * fabs(b);
}

/* The record field that an expectation means. */
static double value_of(const struct seen *seen, size_t i, const char *what)
{
	static const struct {
		const char *what;
		enum record_field field;
		double factor;
	} fields[] = {
		{ "loss", RECORD_LOSS, 1 },
		{ "iter_time_s", RECORD_ITERATION_MS, 1e-3 },
		{ "tokens_per_s", RECORD_TOKENS_PER_SECOND, 1 },
		{ "tokens/s/device", RECORD_TOKENS_PER_DEVICE, 1 },
		{ "samples/s", RECORD_SAMPLES_PER_SECOND, 1 },
		{ "memory_mb", RECORD_MEMORY_MIB, 1 },
	};
	double number = NAN;

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
		if (!strcmp(fields[f].what, what))
			return record_value(&seen->records[i],
					    fields[f].field) *
			       fields[f].factor;
	record_metric(&seen->records[i],
		      (size_t)extract_metric_find(seen->extract, what),
		      &number);
	return number;
}

/* One number for all records, or a list of one for each. */
static void check_values(const struct seen *seen, const char *what,
			 const cJSON *want)
{
	size_t i = 0;

	if (cJSON_IsNumber(want)) {
		for (; i < seen->count; i++)
			ok(near(value_of(seen, i, what), want->valuedouble),
			   "%s: %s of record %zu", seen->name, what, i);
		return;
	}
	is_int(seen->count, cJSON_GetArraySize(want), "%s: as many as %s",
	       seen->name, what);
	for (const cJSON *one = want->child; one && i < seen->count;
	     one = one->next, i++)
		ok(near(value_of(seen, i, what), one->valuedouble),
		   "%s: %s of record %zu is %g", seen->name, what, i,
		   value_of(seen, i, what));
}

/* [step, loss] */
static void check_end(const struct seen *seen, size_t i, const cJSON *want)
{
	is_int(seen->records[i].step, cJSON_GetArrayItem(want, 0)->valuedouble,
	       "%s: the step of a loss", seen->name);
	ok(near(seen->records[i].loss,
		cJSON_GetArrayItem(want, 1)->valuedouble),
	   "%s: its loss", seen->name);
}

static void check_steps(const struct seen *seen, const cJSON *want)
{
	const cJSON *count = cJSON_GetObjectItem(want, "count");
	const cJSON *first = cJSON_GetObjectItem(want, "first");
	const cJSON *last = cJSON_GetObjectItem(want, "last");

	if (count)
		is_int(seen->count, count->valuedouble, "%s: steps",
		       seen->name);
	if (first && seen->count)
		is_int(seen->records[0].step, first->valuedouble,
		       "%s: the first step", seen->name);
	if (last && seen->count)
		is_int(seen->records[seen->count - 1].step, last->valuedouble,
		       "%s: the last step", seen->name);
}

static void check_not(const struct seen *seen, const cJSON *steps)
{
	const cJSON *step;

	cJSON_ArrayForEach(step, steps)
		for (size_t i = 0; i < seen->count; i++)
			ok((double)seen->records[i].step != step->valuedouble,
			   "%s: no step %g", seen->name, step->valuedouble);
}

static void check_rate(const struct seen *seen, const cJSON *want)
{
	const char *unit =
		cJSON_GetStringValue(cJSON_GetObjectItem(want, "unit"));
	const cJSON *values = cJSON_GetObjectItem(want, "values");

	if (cJSON_IsArray(want))
		check_values(seen, "tokens/s/device", want);
	else if (values)
		check_values(seen, unit, values);
	else
		for (size_t i = 0; i < seen->count; i++)
			ok(near(value_of(seen, i, unit),
				cJSON_GetArrayItem(want, (int)i + 1)
					->valuedouble),
			   "%s: a rate of record %zu", seen->name, i);
}

static void check_one(const struct seen *seen, const char *what,
		      const cJSON *want)
{
	size_t last = seen->count ? seen->count - 1 : 0;

	if (!strcmp(what, "steps"))
		check_steps(seen, want);
	else if (!strcmp(what, "steps_not"))
		check_not(seen, want);
	else if (!strcmp(what, "rate"))
		check_rate(seen, want);
	else if (!strcmp(what, "loss_first") && seen->count)
		check_end(seen, 0, want);
	else if (!strcmp(what, "loss_last") && seen->count)
		check_end(seen, last, want);
	else if (!strcmp(what, "loss_values"))
		check_values(seen, "loss", want);
	else if (!strcmp(what, "throughput_kept"))
		check_values(seen, "tokens_per_s_run_mean", want);
	else if (!strcmp(what, "iter_time_s") ||
		 !strcmp(what, "tokens_per_s") || !strcmp(what, "memory_mb") ||
		 !strcmp(what, "samples_in_epoch"))
		check_values(seen, what, want);
	else if (!strcmp(what, "iter_time_s_first") && seen->count)
		ok(near(value_of(seen, 0, "iter_time_s"), want->valuedouble),
		   "%s: the first time", seen->name);
	else if (!strcmp(what, "iter_time_s_last") && seen->count)
		ok(near(value_of(seen, last, "iter_time_s"), want->valuedouble),
		   "%s: the last time", seen->name);
	else if (!strcmp(what, "epochs_not"))
		is_int(extract_metric_find(seen->extract, "epoch"), -1,
		       "%s: no epochs", seen->name);
	else if (!strcmp(what, "final_accuracy"))
		is_int(extract_metric_find(seen->extract, "time_ms"), -1,
		       "%s: a time stamp is no figure", seen->name);
}

/* Read it as the command does. */
static bool seen_read(struct seen *seen, const char *path)
{
	struct format_fit fits[FORMAT_FITS_MAX];

	seen->choice = format_choice_new(all.rules, all.count, NULL);
	if (file_reader_read(path, seen_feed, seen->choice, NULL) < 0 ||
	    format_choice_finish(seen->choice, NULL) < 0 ||
	    !format_choice_fits(seen->choice, fits))
		return false;
	seen->extract = format_choice_extract(seen->choice, fits[0].format);
	seen->records = extract_records(seen->extract, &seen->count);
	return true;
}

static void check(const char *expect_path)
{
	cJSON *expect = expectation_read(expect_path);
	const char *file =
		cJSON_GetStringValue(cJSON_GetObjectItem(expect, "file"));
	struct seen seen = { .name = cJSON_GetStringValue(
				     cJSON_GetObjectItem(expect, "name")) };
	char path[256];
	const cJSON *want;

	snprintf(path, sizeof(path), FOLDER "%s", file);
	if (ok(seen_read(&seen, path), "%s: a format reads it", seen.name))
		cJSON_ArrayForEach(want, cJSON_GetObjectItem(expect, "expect"))
			check_one(&seen, want->string, want);
	format_choice_free(seen.choice);
	cJSON_Delete(expect);
}

int main(void)
{
	struct error err = { 0 };
	struct dirent **entries = NULL;
	int count = 0, n = scandir(FOLDER, &entries, NULL, alphasort);

	tap_begin(60);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the descriptions are read %s", err.text)) {
		all_formats_load(&all, catalog);
		for (int i = 0; i < n; i++) {
			char path[512];

			snprintf(path, sizeof(path), FOLDER "%s",
				 entries[i]->d_name);
			if (!strstr(path, ".expect.json"))
				continue;
			check(path);
			count++;
		}
		is_int(count, SAMPLES, "all samples were read");
	}
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	all_formats_clear(&all);
	catalog_free(catalog);
	return tap_done();
}
