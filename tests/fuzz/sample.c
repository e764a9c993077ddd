/* sample.c - any bytes as the output of any vendor's monitor tool.
 *
 * Run in the root of the project: the monitors are those of images/vendors.
 * The first byte chooses the vendor.
 */
#include "protocol/hardware/sample.h"
#include "protocol/yaml/document.h"

#include <glob.h>
#include <stdint.h>
#include <string.h>

#define MONITORS_MAX 32

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sampler *samplers[MONITORS_MAX];
static size_t count;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	glob_t found = { 0 };
	struct error err = { 0 };

	glob("images/vendors/*/profile.yaml", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && count < MONITORS_MAX; i++) {
		/* Kept as long as the fuzzer runs. */
		static struct document *documents[MONITORS_MAX];
		const struct value *monitor;

		documents[count] = document_read(found.gl_pathv[i], NULL, &err);
		monitor = documents[count]
				  ? value_get(document_root(documents[count]),
					      "monitor")
				  : NULL;
		if (monitor && (samplers[count] = sampler_new(monitor, &err)))
			count++;
		else
			document_free(documents[count]);
	}
	globfree(&found);
	if (!count)
		fprintf(stderr, "no monitors: %s\n", err.text);
	return count ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };

	if (!size || !count)
		return 0;
	if (sampler_read(samplers[data[0] % count], (const char *)data + 1,
			 size - 1, &samples, &err) < 0) {
		/* A refusal has a sentence. */
		if (!err.code || !*err.text || samples.rows)
			abort();
		return 0;
	}
	if (!samples.count || samples.count > SAMPLE_DEVICES_MAX)
		abort();
	cJSON_Delete(samples_json(&samples, &err));
	return 0;
}
