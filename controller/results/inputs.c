/* inputs.c - converts the inputs of a result beside its log to JSON and back.
 */
#include "controller/results/inputs.h"

#include "controller/results/json_object.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define EXACT_MAX 9007199254740992.0 /* integers up to it are exact */

/* clang-format off */
#define NUMBER(m) { #m, offsetof(struct result_input, m), \
	_Generic(((struct result_input *)0)->m, \
		 double: 'd', int64_t: 'i', uint64_t: 'u', uint32_t: 'w') }
static const struct {
	const char *name;
	size_t offset;
	char type;
} numbers[] = {
	NUMBER(devices), NUMBER(memory_peak_bytes), NUMBER(started_ms),
	NUMBER(ended_ms), NUMBER(flops.factor), NUMBER(flops.parameters),
	NUMBER(flops.layers), NUMBER(flops.hidden), NUMBER(flops.sequence),
	NUMBER(arrival.arrival_ms), NUMBER(arrival.arrival_q1_ms),
	NUMBER(arrival.arrival_q3_ms), NUMBER(arrival.arrival_error_ms),
	NUMBER(arrival.arrival_blocks),
	NUMBER(peak_flops), NUMBER(chip_memory_bytes), NUMBER(power_w),
};
/* clang-format on */

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* The name without that of its struct. */
static const char *number_name(size_t i)
{
	const char *dot = strchr(numbers[i].name, '.');

	return dot ? dot + 1 : numbers[i].name;
}

static double number_get(const struct result_input *input, size_t i)
{
	const void *at = (const char *)input + numbers[i].offset;

	switch (numbers[i].type) {
	case 'i':
		return (double)*(const int64_t *)at;
	case 'u':
		return (double)*(const uint64_t *)at;
	case 'w':
		return *(const uint32_t *)at;
	default:
		return *(const double *)at;
	}
}

static void number_set(struct result_input *input, size_t i, double number)
{
	void *at = (char *)input + numbers[i].offset;

	switch (numbers[i].type) {
	case 'i':
		*(int64_t *)at = (int64_t)number;
		break;
	case 'u':
		*(uint64_t *)at = (uint64_t)number;
		break;
	case 'w':
		*(uint32_t *)at = (uint32_t)number;
		break;
	default:
		*(double *)at = number;
	}
}

cJSON *inputs_json(const struct result_input *input)
{
	cJSON *object = cJSON_CreateObject();
	bool failed = !object;

	for (size_t i = 0; i < NUMBERS; i++)
		json_add_number(object, number_name(i), number_get(input, i),
				&failed);
	json_add(object, "simulated", cJSON_CreateBool(input->simulated),
		 &failed);
	if (cJSON_GetArraySize(input->warnings))
		json_add_copy(object, "warnings", input->warnings, &failed);
	if (!failed)
		return object;
	cJSON_Delete(object);
	return NULL;
}

static double number_limit(size_t i)
{
	return numbers[i].type == 'w'   ? UINT32_MAX
	       : numbers[i].type == 'd' ? HUGE_VAL
					: EXACT_MAX;
}

void inputs_read(const cJSON *object, struct result_input *input)
{
	const cJSON *simulated = row_at(object, "simulated");
	const cJSON *warnings = row_at(object, "warnings");

	for (size_t i = 0; i < NUMBERS; i++) {
		double number = row_double(object, number_name(i));

		if (number >= 0 && number <= number_limit(i))
			number_set(input, i, number);
	}
	if (cJSON_IsBool(simulated))
		input->simulated = cJSON_IsTrue(simulated);
	if (cJSON_IsArray(warnings))
		input->warnings = warnings;
}
