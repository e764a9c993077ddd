/* name_index_test.c - names of chips and models as documents write them.
 */
#include "controller/catalog/catalog_internal.h"
#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *text, *before;
	uint32_t gib;
	bool same;
} cases[] = {
	{ "A100-SXM4-80GB", "NVIDIA_A100-SXM4-80GB", "nvidia", 80, true },
	{ "A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB", "nvidia", 80, true },
	{ "H800", "NVIDIA_H800-80GB", "nvidia", 80, true },
	{ "H800", "NVIDIA H800(80G)", "nvidia", 80, true },
	{ "H800", "nvidia H800", "nvidia", 80, true },
	{ "A100-40GB", "A10040G", "nvidia", 40, true },
	{ "C500", "曦云®C500 64G", "metax", 64, true },
	{ "MTT S4000", "MTT_S4000", "mthreads", 48, true },
	{ "llama2_7b", "LLaMA2-7B", NULL, 0, true },
	{ "H800", "H800(40G)", "nvidia", 80, false },
	{ "A100", "A1008", "nvidia", 80, false },
	{ "A100", "A10", "nvidia", 80, false },
	{ "A100", "amd A100", "nvidia", 80, false },
	{ "qwen1.5", "qwen15", NULL, 0, false },
	{ "R300", "R300+", "kunlunxin", 32, false },
	{ "nvidia", "nvidia", "nvidia", 0, true },
	{ "A100", "", "nvidia", 80, false },
	{ "A100", "®", "nvidia", 80, false },
	{ "", "A100", "nvidia", 80, false },
};

int main(void)
{
	char longer[200];

	tap_begin(10);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct name name = { .text = cases[i].name,
					   .vendor = cases[i].before,
					   .gib = cases[i].gib };

		ok(name_match(&name, cases[i].text) == cases[i].same,
		   "%s is %sanother way to write %s", cases[i].text,
		   cases[i].same ? "" : "not ", cases[i].name);
	}
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	ok(!name_match(&(struct name){ .text = longer }, longer),
	   "a name that is too long is none");
	return tap_done();
}
