/* log_formats.c - the compiled log rules of a catalog's frameworks, made at
 * first use.
 */
#include "controller/logs/log_formats.h"

#include "protocol/base/log.h"

#include <stdlib.h>

#define COMPILED_AT_ONCE 4 /* formats in a call; each takes some ms */

struct compiled {
	const struct framework *framework;
	struct extract_rules *rules; /* NULL: they do not compile */
};

struct log_formats {
	const struct catalog *catalog;
	struct compiled *compiled;
	size_t compiled_count;
	const struct framework *tried[FORMAT_CHOICE_MAX];
	struct extract_rules *rules[FORMAT_CHOICE_MAX]; /* of `tried` */
	size_t tried_count;
	size_t ready; /* of `rules` */
};

struct log_formats *log_formats_new(const struct catalog *catalog,
				    struct error *err)
{
	struct log_formats *formats = calloc(1, sizeof(*formats));
	const struct framework *framework;

	if (!formats)
		return error_null(error_nomem(err, "log formats"));
	formats->catalog = catalog;
	for (size_t i = 0;
	     catalog && formats->tried_count < FORMAT_CHOICE_MAX &&
	     (framework = catalog_framework_at(catalog, i));
	     i++)
		if (framework->log && value_get(framework->log, "rules"))
			formats->tried[formats->tried_count++] = framework;
	return formats;
}

void log_formats_free(struct log_formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->compiled_count; i++)
		extract_rules_free(formats->compiled[i].rules);
	free(formats->compiled);
	free(formats);
}

struct extract_rules *log_formats_compile(const struct catalog *catalog,
					  const struct framework *framework)
{
	const struct value *logs[CATALOG_LOGS_MAX];
	struct extract_rules *rules = NULL;
	struct error err;
	size_t count = 0;

	if (catalog_logs(catalog, framework, logs, &count, &err) == 0)
		rules = extract_rules_new(logs, count, &err);
	if (!rules)
		log_error("framework=%s: %s", framework->name, err.text);
	return rules;
}

struct extract_rules *log_formats_rules(struct log_formats *formats,
					const struct framework *framework)
{
	struct compiled *compiled;

	for (size_t i = 0; i < formats->compiled_count; i++)
		if (formats->compiled[i].framework == framework)
			return formats->compiled[i].rules;
	compiled = realloc(formats->compiled,
			   (formats->compiled_count + 1) * sizeof(*compiled));
	if (!compiled)
		return NULL;
	formats->compiled = compiled;
	compiled += formats->compiled_count++;
	compiled->framework = framework;
	compiled->rules = log_formats_compile(formats->catalog, framework);
	return compiled->rules;
}

const struct framework *log_formats_tried(const struct log_formats *formats,
					  size_t number)
{
	return number < formats->tried_count ? formats->tried[number] : NULL;
}

/* Its rules do not compile. */
static void drop_tried(struct log_formats *formats, size_t number)
{
	formats->tried_count--;
	for (size_t i = number; i < formats->tried_count; i++)
		formats->tried[i] = formats->tried[i + 1];
}

struct extract_rules *const *log_formats_all(struct log_formats *formats,
					     size_t *count)
{
	for (int i = 0;
	     i < COMPILED_AT_ONCE && formats->ready < formats->tried_count;
	     i++) {
		struct extract_rules *rules =
			log_formats_rules(formats,
					  formats->tried[formats->ready]);

		if (rules)
			formats->rules[formats->ready++] = rules;
		else
			drop_tried(formats, formats->ready);
	}
	*count = formats->tried_count;
	return formats->ready < formats->tried_count ? NULL : formats->rules;
}
