/* document.h - parses YAML or JSON text to a read-only tree with line numbers.
 *
 * All files that people write (sweeps, profiles, frameworks, models) are read
 * here, so that all errors have the same form:
 *
 *	demo.yaml:7: batch.micro: "two" is not valid here; expected 1 to 65536
 *
 * The text is one YAML 1.2 document of maps, lists and scalars; JSON is YAML.
 * Anchors, aliases and `<<` merge keys work. Errors, with the line: a key twice
 * in a map (both lines are named), a key that is not a scalar, a tag other than
 * !!str !!int !!float !!bool !!null !!map !!seq, an alias inside the value it
 * names, invalid UTF-8, NUL, a second document (unless `layers` is set), more
 * than 1,000 anchors, and anything past the limits. Escaped surrogate pairs of
 * JSON ("\ud83d\ude00") are errors, too.
 *
 * A quoted scalar is a string. A plain scalar is a number, a bool or a string,
 * as the reader of the field expects, by the YAML 1.2 core schema: true and
 * false are bools; yes, no, on and off are strings.
 *
 * The document owns all values and texts: they live until document_free(). An
 * aliased value is shared; its line and path are those of its anchor.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct document;
struct value;

/* Limits of a document. Zero means the default given here. */
struct document_limits {
	size_t bytes;  /* of text; 1 MiB */
	size_t values; /* in the tree with all aliases expanded; 200,000
			*/
	size_t depth;  /* of nested maps and lists; 64, at most 256 */
	bool layers;   /* later documents are merged over earlier ones: maps are
			  merged, other values are replaced, a key without a value
			  is removed */
};

/* Parse text[0..size). file is its name in errors (copied). limits may be NULL.
 * EINVAL: not a valid document; E2BIG: past a limit; ENOMEM.
 */
struct document *document_parse(const char *text, size_t size, const char *file,
				const struct document_limits *limits,
				struct error *err);

/* The same for the file at path. Errors use the path as given. */
struct document *document_read(const char *path,
			       const struct document_limits *limits,
			       struct error *err);
void document_free(struct document *document);
OWNED_POINTER(struct document, document_free)

/* The root is never NULL: that of an empty text is a VALUE_NULL at line 1. */
const struct value *document_root(const struct document *document);
const char *document_file(const struct document *document);
