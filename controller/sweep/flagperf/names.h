/* names.h - the texts that a FlagPerf case is made of, by name.
 *
 * images/flagperf.yaml has templates, such as ${path}/benchmarks/${model}; what
 * they name stands here. A filled template is a text of a sweep file: what came
 * from outside has each `$` doubled, and names of the start of a task
 * (controller/cell/interpolate.h) are left for it.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_NAMES_H
#define CONTROLLER_SWEEP_FLAGPERF_NAMES_H

#include "protocol/base/buffer.h"
#include "protocol/yaml/value.h"

#define NAMES_MAX 64 /* names */

struct names {
	struct {
		char *name;
		char *text;
	} items[NAMES_MAX];
	size_t count;
};

void names_clear(struct names *names);
OWNED_VALUE(struct names, names_clear)

/* Is it set, be it to nothing? */
bool names_has(const struct names *names, const char *name);

/* Set a name to a text from outside, over what it was. E2BIG, ENOMEM. */
int names_set(struct names *names, const char *name, const char *text,
	      struct error *err);
int names_number(struct names *names, const char *name, uint64_t number,
		 struct error *err);

/* Set it to what the template makes, or of a list the first that makes more
 * than nothing, unless it is set.
 */
int names_make(struct names *names, const char *name,
	       const struct value *template, struct error *err);

/* Append what a scalar makes. ${NAME}, and with what follows the name:
 * ${NAME_shell}, quoted for a shell where it needs that; ${NAME_below}, "/"
 * and the text, or nothing; ${NAME_upper}. Errors name the template's place.
 */
int names_fill(const struct names *names, const struct value *template,
	       struct buffer *out, struct error *err);

/* The text of a name as it came from outside; "" for one that is not set. The
 * caller frees it. NULL: no memory.
 */
char *names_plain(const struct names *names, const char *name);

#endif
