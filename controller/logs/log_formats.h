/* log_formats.h - the compiled log rules of a catalog's frameworks, made at
 * first use.
 */
#ifndef CONTROLLER_LOGS_LOG_FORMATS_H
#define CONTROLLER_LOGS_LOG_FORMATS_H

#include "controller/catalog/catalog.h"
#include "controller/results/format_choice.h"

struct log_formats;

/* catalog is borrowed; NULL: there are no formats. Returns NULL on ENOMEM. */
struct log_formats *log_formats_new(const struct catalog *catalog,
				    struct error *err);
void log_formats_free(struct log_formats *formats);

/* The compiled rules of a framework that has rules, borrowed. NULL: they do not
 * compile; that is logged once.
 */
struct extract_rules *log_formats_rules(struct log_formats *formats,
					const struct framework *framework);

/* The same of a framework of any catalog; the caller frees them. */
struct extract_rules *log_formats_compile(const struct catalog *catalog,
					  const struct framework *framework);

/* The formats that a log is tried with; NULL past the last. A framework that
 * only reuses the rules of others is not among them.
 */
const struct framework *log_formats_tried(const struct log_formats *formats,
					  size_t number);

/* The compiled rules of these formats, by number; *count: how many. Compiling
 * takes long, so each call compiles a few. NULL: call again.
 */
struct extract_rules *const *log_formats_all(struct log_formats *formats,
					     size_t *count);

#endif
