/* document.h - YAML or JSON text to a read-only tree that knows its lines.
 *
 * Whatever a person writes for us (sweeps, profiles, frameworks, models) is
 * read here, so that every error reads alike:
 *
 *	demo.yaml:7: batch.micro: found "two", allowed 1 to 65536
 *
 * The text is one YAML 1.2 document of maps, lists and scalars; JSON is YAML.
 * Anchors, aliases and `<<` merge keys work. Refused, with the line: a key
 * twice in a map (both lines are named), a key that is not a scalar, a tag
 * other than !!str !!int !!float !!bool !!null !!map !!seq, an alias inside
 * the value it names, invalid UTF-8, NUL, a second document (unless
 * documents may be laid over each other), more than 1,000 anchors, and anything
 * past the limits. Of JSON, escaped surrogate pairs ("\ud83d\ude00") are
 * refused.
 *
 * A quoted scalar is a string. A plain one is a number, a bool or a string as
 * the reader of the field demands, by the rules of the YAML 1.2 core schema:
 * true and false are bools, yes, no, on and off are words.
 *
 * Everything belongs to the document: a value and its texts live until
 * document_free(). An aliased value is shared; its line and path are those of
 * the place where it is written.
 */
#ifndef PROTOCOL_YAML_DOCUMENT_H
#define PROTOCOL_YAML_DOCUMENT_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct document;
struct value;

/* What may be read. Zero means the default given here. */
struct document_limits {
	size_t bytes;  /* of text; 1 MiB */
	size_t values; /* in the tree when every alias is written out; 200,000
			*/
	size_t depth; /* of maps and lists inside each other; 64, at most 256 */
	bool layers;  /* further documents are laid over those before: maps are
			 merged, anything else is replaced, a key with nothing
			 behind it is taken away */
};

/* Parse text[0..size). file names it in errors (copied). limits may be NULL.
 * EINVAL: it is not such a document; E2BIG: past a limit; ENOMEM.
 */
struct document *document_parse(const char *text, size_t size, const char *file,
				const struct document_limits *limits,
				struct error *err);

/* The same for the file at path, which errors name as it is given here. */
struct document *document_read(const char *path,
			       const struct document_limits *limits,
			       struct error *err);
void document_free(struct document *document);
OWNED_POINTER(struct document, document_free)

/* Never NULL: an empty text is one VALUE_NULL at line 1. */
const struct value *document_root(const struct document *document);
const char *document_file(const struct document *document);

#endif
