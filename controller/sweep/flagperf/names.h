/* names.h - the named texts that fill the templates of FlagPerf cases.
 *
 * images/flagperf.yaml has templates, such as ${path}/benchmarks/${model}. A
 * filled template is a text of a sweep file: each `$` of an inserted text is
 * doubled, and names that are known only at the start of a task
 * (controller/cell/interpolate.h) are kept.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/yaml/value.h"

#define NAMES_MAX 64 /* names */

struct names {
	struct {
		char *name;
		char *text;  /* with each `$` doubled */
		char *plain; /* as it was set */
	} items[NAMES_MAX];
	size_t count;
};

void names_clear(struct names *names);
OWNED_VALUE(struct names, names_clear)

/* Is the name set, even if to ""? */
bool names_has(const struct names *names, const char *name);

/* Set or replace the text of a name. E2BIG, ENOMEM. */
int names_set(struct names *names, const char *name, const char *text,
	      struct error *err);
int names_number(struct names *names, const char *name, uint64_t number,
		 struct error *err);

/* Unless the name is set, set it to the filled template; of a list of
 * templates, to the first result that is not empty.
 */
int names_make(struct names *names, const char *name,
	       const struct value *template, struct error *err);

/* Append the filled template, a scalar. ${NAME} is the text; ${NAME_shell}
 * quotes it for a shell if needed; ${NAME_below} is "/" and the text, or
 * nothing if it is empty; ${NAME_upper} is in upper case. Errors name file and
 * line of the template.
 */
int names_fill(const struct names *names, const struct value *template,
	       struct buffer *out, struct error *err);

/* The text of a name without doubled `$`; "": not set. Borrowed until the name
 * is set again.
 */
const char *names_plain(const struct names *names, const char *name);
