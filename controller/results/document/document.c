/* document.c - prints all values of a log as one JSON object, for `regatta
 * extract`.
 */
#include "controller/results/document/document.h"

#include "controller/results/document/timed.h"
#include "controller/results/json_object.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const struct {
	enum record_field field;
	const char *name;
	double factor;
} printed[] = {
	{ RECORD_LOSS, "loss", 1 },
	{ RECORD_ITERATION_MS, "iter_time_s", 1e-3 },
	{ RECORD_SAMPLES_PER_SECOND, "samples_per_s_reported", 1 },
	{ RECORD_TOKENS_PER_SECOND, "tokens_per_s_reported", 1 },
	{ RECORD_TOKENS_PER_DEVICE, "tokens_per_s_per_device_reported", 1 },
};
/* clang-format on */

#define NAME_BYTES 96
#define PRINTED (sizeof(printed) / sizeof(printed[0]))

static cJSON *record_json(const struct extract *extract,
			  const struct record *record)
{
	cJSON *object = cJSON_CreateObject();
	const char *name;
	double number;

	cJSON_AddNumberToObject(object, "step", (double)record->step);
	if (record_has(record, RECORD_STEPS))
		cJSON_AddNumberToObject(object, "total_steps",
					(double)record->steps_total);
	if (record_has(record, RECORD_RANK))
		cJSON_AddNumberToObject(object, "rank", record->rank);
	for (size_t i = 0; i < PRINTED; i++) {
		number = record_value(record, printed[i].field);
		if (record_has(record, printed[i].field))
			cJSON_AddItemToObject(object, printed[i].name,
					      number_json(number *
							  printed[i].factor));
		else if (printed[i].field == RECORD_LOSS)
			cJSON_AddNullToObject(object, "loss");
	}
	for (size_t m = 0; (name = extract_metric_name(extract, m)); m++)
		if (record_metric(record, m, &number))
			cJSON_AddItemToObject(object, name,
					      number_json(number));
	return object;
}

static void add_records(cJSON *object, const struct extract *extract)
{
	cJSON *list = cJSON_AddArrayToObject(object, "records");
	size_t count;
	const struct record *records = extract_records(extract, &count);

	for (size_t i = 0; list && i < count; i++)
		cJSON_AddItemToArray(list, record_json(extract, &records[i]));
}

/* Steps. */

static void add_range(cJSON *object, double count, double first, double last)
{
	cJSON *steps = cJSON_AddObjectToObject(object, "steps");

	cJSON_AddNumberToObject(steps, "count", count);
	add_figure(steps, "first", first);
	add_figure(steps, "last", last);
}

/* Steps of micro batches, of which grad_accum make one step. */
static bool add_micro_steps(cJSON *object, const struct derive_input *input)
{
	size_t count = section_count(input->sections, "micro");
	double per_step = input->context->grad_accum;
	double first = NAN, last = NAN;
	cJSON *steps;

	if (!count)
		return false;
	section_row(input->sections, "micro", 0, &first);
	section_row(input->sections, "micro", count - 1, &last);
	if (!(per_step > 0))
		return false;
	add_range(object, floor(last / per_step) - floor(first / per_step) + 1,
		  floor(first / per_step) + 1, floor(last / per_step) + 1);
	steps = cJSON_GetObjectItemCaseSensitive(object, "steps");
	add_figure(steps, "micro_first", first);
	add_figure(steps, "micro_last", last);
	return true;
}

static void add_progress(cJSON *object, const struct sections *sections)
{
	size_t count = section_count(sections, "progress"), from = 0;
	double first = NAN, last = NAN;

	/* Step 0 is the empty bar. */
	if (section_row(sections, "progress", 0, &first) && first == 0)
		from = 1;
	section_row(sections, "progress", from, &first);
	section_row(sections, "progress", count - 1, &last);
	if (count > from)
		add_range(object, (double)(count - from), first, last);
	else
		add_range(object, 0, NAN, NAN);
}

static void add_steps(cJSON *object, const struct derive_input *input)
{
	size_t count;
	const struct record *records = extract_records(input->extract, &count);

	if (add_micro_steps(object, input))
		return;
	if (count)
		add_range(object, (double)count, (double)records[0].step,
			  (double)records[count - 1].step);
	else
		add_progress(object, input->sections);
}

/* Loss. */

static cJSON *point(double step, cJSON *loss)
{
	cJSON *list = cJSON_CreateArray();

	cJSON_AddItemToArray(list, cJSON_CreateNumber(step));
	cJSON_AddItemToArray(list, loss);
	return list;
}

static void add_points(cJSON *object, size_t count, cJSON *first, cJSON *last)
{
	cJSON *loss = cJSON_AddObjectToObject(object, "loss");

	cJSON_AddNumberToObject(loss, "count", (double)count);
	cJSON_AddItemToObject(loss, "first",
			      first ? first : cJSON_CreateNull());
	cJSON_AddItemToObject(loss, "last", last ? last : cJSON_CreateNull());
}

static bool micro_point(const struct sections *sections, size_t row,
			cJSON **json)
{
	double step;
	const cJSON *item = section_row(sections, "micro", row, &step);
	const cJSON *loss = cJSON_GetObjectItemCaseSensitive(item, "loss");

	if (!loss)
		return false;
	*json = point(step, cJSON_Duplicate(loss, true));
	return true;
}

static void add_loss(cJSON *object, const struct derive_input *input)
{
	size_t micro = section_count(input->sections, "micro");
	size_t count, n = 0;
	const struct record *records = extract_records(input->extract, &count);
	const struct record *first = NULL, *last = NULL;
	cJSON *points[2] = { NULL, NULL };

	if (micro && micro_point(input->sections, 0, &points[0]) &&
	    micro_point(input->sections, micro - 1, &points[1])) {
		add_points(object, micro, points[0], points[1]);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (record_has(&records[i], RECORD_LOSS)) {
			first = first ? first : &records[i];
			last = &records[i];
			n++;
		}
	add_points(object, n,
		   first ? point((double)first->step, number_json(first->loss))
			 : NULL,
		   last ? point((double)last->step, number_json(last->loss))
			: NULL);
}

/* Memory. */

static void put_most(cJSON *object, const char *name, double number)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!item)
		add_figure(object, name, number);
	else if (number > item->valuedouble)
		cJSON_SetNumberValue(item, number);
}

/* The rank with the maximum, under the name without its unit. */
static void put_rank(cJSON *memory, const char *name, double rank)
{
	const char *unit = strrchr(name, '_');
	char text[NAME_BYTES];

	snprintf(text, sizeof(text), "rank_of_%.*s", (int)(unit - name), name);
	cJSON_DeleteItemFromObjectCaseSensitive(memory, text);
	cJSON_AddNumberToObject(memory, text, rank);
}

static void add_row(cJSON *memory, const cJSON *row, double rank)
{
	const cJSON *item;
	char name[NAME_BYTES];

	cJSON_ArrayForEach(item, row)
	{
		if (!cJSON_IsNumber(item) || strncmp(item->string, "max_", 4))
			continue;
		if (isfinite(rank) &&
		    !(cJSON_GetNumberValue(
			      cJSON_GetObjectItemCaseSensitive(memory,
							       item->string)) >=
		      item->valuedouble))
			put_rank(memory, item->string, rank);
		put_most(memory, item->string, item->valuedouble);
		snprintf(name, sizeof(name), "rank0_%s", item->string);
		if (rank == 0)
			put_most(memory, name, item->valuedouble);
	}
}

/* mem_allocated_gib and mem_max_allocated_gib: both are a maximum over all
 * steps.
 */
static void add_step_memory(cJSON *memory, const struct extract *extract)
{
	size_t count;
	const struct record *records = extract_records(extract, &count);
	const char *name;

	for (size_t m = 0; (name = extract_metric_name(extract, m)); m++) {
		char text[NAME_BYTES];
		double number;

		if (strncmp(name, "mem_", 4) != 0)
			continue;
		name += 4;
		snprintf(text, sizeof(text), "%s%s",
			 strncmp(name, "max_", 4) != 0 ? "max_" : "", name);
		for (size_t i = 0; i < count; i++)
			if (record_metric(&records[i], m, &number))
				put_most(memory, text, number);
	}
}

/* Memory that rules put into no section and no metric. */
static void add_plain_memory(cJSON *memory, const struct extract *extract)
{
	size_t count;
	const struct record *records = extract_records(extract, &count);

	for (size_t i = 0; i < count; i++)
		if (record_has(&records[i], RECORD_MEMORY_MIB))
			put_most(memory, "max_mib", records[i].memory_mib);
}

static void add_memory(cJSON *object, const struct derive_input *input)
{
	cJSON *memory = cJSON_CreateObject();
	const cJSON *row;
	double rank, ranks = 0;

	for (size_t i = 0;
	     (row = section_row(input->sections, "memory", i, &rank)); i++) {
		rank = row_double(row, "rank");
		ranks += isfinite(rank);
		add_row(memory, row, rank);
	}
	if (ranks > 0)
		cJSON_AddNumberToObject(memory, "ranks", ranks);
	add_step_memory(memory, input->extract);
	if (memory && !memory->child)
		add_plain_memory(memory, input->extract);
	cJSON_DeleteItemFromObjectCaseSensitive(object, "memory");
	if (memory && memory->child)
		cJSON_AddItemToObject(object, "memory", memory);
	else
		cJSON_Delete(memory);
}

/* MLPerf. */

static void add_block(cJSON *list, const cJSON *row)
{
	const double figures[] = { row_double(row, "first_epoch_num"),
				   row_double(row, "epoch_count"),
				   row_double(row, "stop_ms") -
					   row_double(row, "start_ms") };
	cJSON *block = cJSON_CreateArray();

	for (size_t i = 0; i < 3; i++)
		cJSON_AddItemToArray(block,
				     isfinite(figures[i])
					     ? cJSON_CreateNumber(figures[i])
					     : cJSON_CreateNull());
	cJSON_AddItemToArray(list, block);
}

static void add_mlperf(cJSON *object, const struct sections *sections)
{
	size_t evaluations = section_count(sections, "eval_accuracy");
	const cJSON *last =
		section_row(sections, "eval_accuracy", evaluations - 1, NULL);
	cJSON *blocks;
	const cJSON *row;

	if (!section_count(sections, "run"))
		return;
	add_figure(object, "run_seconds", mlperf_seconds(sections));
	last = last && last->child ? last->child->next : NULL;
	if (last)
		cJSON_AddItemToObject(object, "final_accuracy",
				      cJSON_Duplicate(last, true));
	blocks = cJSON_AddArrayToObject(object, "blocks_first_count_ms");
	for (size_t i = 0; (row = section_row(sections, "blocks", i, NULL));
	     i++)
		add_block(blocks, row);
	add_figure(object, "epochs", mlperf_epochs(sections));
}

static void add_train_result(cJSON *object, const struct sections *sections)
{
	size_t count = section_count(sections, "train_result_lines");
	const cJSON *last =
		section_row(sections, "train_result_lines", count - 1, NULL);

	if (last && !cJSON_GetObjectItemCaseSensitive(object, "train_result"))
		cJSON_AddItemToObject(object, "train_result",
				      cJSON_Duplicate(last, true));
}

static void add_metrics(cJSON *object, const struct extract *extract)
{
	size_t count;
	const struct run_metric *run = extract_run_metrics(extract, &count);
	cJSON *metrics =
		count ? cJSON_AddObjectToObject(object, "metrics") : NULL;

	for (size_t i = 0; i < count; i++) {
		char name[2 * NAME_BYTES];
		cJSON *metric;

		snprintf(name, sizeof(name), "%.100s%s%.50s", run[i].name,
			 run[i].unit ? " " : "",
			 run[i].unit ? run[i].unit : "");
		metric = cJSON_AddObjectToObject(metrics, name);
		add_figure(metric, "mean", run[i].sum / (double)run[i].count);
		add_figure(metric, "min", run[i].min);
		add_figure(metric, "max", run[i].max);
		cJSON_AddNumberToObject(metric, "count", (double)run[i].count);
		if (run[i].unit)
			cJSON_AddStringToObject(metric, "unit", run[i].unit);
	}
}

static void add_derived(cJSON *object, const struct derive_input *input,
			cJSON *derived)
{
	cJSON *behind[] = { derive_behind(input, 0), derive_behind(input, 1) };

	cJSON_AddItemToObject(object, "derived", derived);
	if (behind[0])
		cJSON_AddItemToObject(object, "derived_warmup_0", behind[0]);
	if (behind[1])
		cJSON_AddItemToObject(object, "derived_warmup_1", behind[1]);
}

cJSON *log_document(const struct derive_input *input,
		    const struct log_bytes *bytes, struct error *err)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *derived = derive(input, err);
	cJSON *flags = log_bytes_json(bytes);

	if (!object || !derived || !flags) {
		cJSON_Delete(object);
		cJSON_Delete(derived);
		cJSON_Delete(flags);
		return error_null(error_nomem(err, "log"));
	}
	add_steps(object, input);
	add_loss(object, input);
	add_records(object, input->extract);
	sections_print(input->sections, object);
	add_memory(object, input);
	add_mlperf(object, input->sections);
	add_train_result(object, input->sections);
	add_metrics(object, input->extract);
	add_derived(object, input, derived);
	cJSON_AddItemToObject(object, "bytes_flags", flags);
	return object;
}

bool log_document_empty(const struct derive_input *input)
{
	size_t count;

	extract_records(input->extract, &count);
	return !count && sections_empty(input->sections) &&
	       !extract_summary(input->extract)->has;
}
