/* image_info.h - one image of a node, and the progress of one on its way there,
 * as its agent reports them.
 */
#pragma once

#include "protocol/message/codec.h"

struct image_info {
	char *id;     /* by which its engine calls it */
	char *config; /* loaded: the hash of its config, the same on all nodes
		       */
	struct strings tags;    /* name:tag */
	struct strings digests; /* name@sha256:... */
	uint64_t bytes;         /* including layers shared with others */
	uint64_t created_ms;
	uint64_t used_ms;    /* last use by a job; 0: not known */
	uint32_t containers; /* made from it, running or not */
	char *origin; /* "pulled", "built" or "loaded" by Regatta; NULL: by
			 others */
	char *needed; /* why it must stay, or NULL */
	bool removed; /* with dry_run: it would be removed */
};
extern const struct schema image_info_schema;

struct moving_layer {
	char *id;
	char *phase; /* "pulling" or "extracting" */
	uint64_t done_bytes;
	uint64_t total_bytes;
};
extern const struct schema moving_layer_schema;

/* What is being done to an image on a node, for a task or for an operation. */
struct image_progress {
	char *phase;         /* "checking", "pulling", "extracting", "building",
				"fetching"; of other operations: "loading", "saving",
				"looking", "removing"; "waiting": no report yet; in the
				end "ready" or "failed" */
	uint64_t done_bytes; /* of the phase; removed: freed */
	uint64_t total_bytes; /* 0: not known */
	bool partial;         /* total_bytes lacks layers still to come */
	uint32_t layers;      /* done; in a build: steps */
	uint32_t layers_total;
	uint32_t tries; /* 1 ..; 0: its rate and silence do not matter */
	double rate;    /* bytes a second; NAN, or from an agent 0: not known */
	/* Only the controller sets these. */
	uint64_t silent_seconds; /* since the last byte; 0: bytes arrive */
	double eta_seconds;      /* NAN: not known */
	struct moving_layer *moving;
	size_t moving_count;
};
extern const struct schema image_progress_schema;

/* Its fields in a schema of struct t; p: the member and a dot, or nothing. o:
 * are the first ones optional? MOVING: its layers, behind them.
 */
/* clang-format off */
#define IMAGE_PROGRESS_FIELD_(t, m, ...)                                       \
	.kind = FIELD_KIND_(t, m), .offset = offsetof(struct t, m), __VA_ARGS__
#define IMAGE_PROGRESS_FIELDS(t, p, o)                                         \
	{ .name = "phase", IMAGE_PROGRESS_FIELD_(t, p phase, .optional = (o)) },\
	{ .name = "done_bytes",                                                \
	  IMAGE_PROGRESS_FIELD_(t, p done_bytes, .optional = (o)) },           \
	{ .name = "total_bytes",                                               \
	  IMAGE_PROGRESS_FIELD_(t, p total_bytes, .optional = (o)) },          \
	{ .name = "partial",                                                   \
	  IMAGE_PROGRESS_FIELD_(t, p partial, .optional = true) },             \
	{ .name = "silent_seconds",                                            \
	  IMAGE_PROGRESS_FIELD_(t, p silent_seconds, .optional = true) },      \
	{ .name = "rate",                                                      \
	  IMAGE_PROGRESS_FIELD_(t, p rate, .optional = true, .known = true) }, \
	{ .name = "eta_seconds",                                               \
	  IMAGE_PROGRESS_FIELD_(t, p eta_seconds, .optional = true,            \
				.known = true) },                              \
	{ .name = "layers",                                                    \
	  IMAGE_PROGRESS_FIELD_(t, p layers, .optional = true) },              \
	{ .name = "layers_total",                                              \
	  IMAGE_PROGRESS_FIELD_(t, p layers_total, .optional = true) },        \
	{ .name = "tries", IMAGE_PROGRESS_FIELD_(t, p tries, .optional = true) }
#define IMAGE_PROGRESS_MOVING(t, p)                                            \
	{ .name = "moving", .kind = FIELD_LIST, .optional = true,              \
	  .offset = offsetof(struct t, p moving),                              \
	  .count_offset = offsetof(struct t, p moving_count),                  \
	  .schema = &moving_layer_schema }
/* clang-format on */
