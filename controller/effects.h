/* effects.h - the environment of jobs and nodes in the daemon.
 *
 * Time and turns come from the event loop, commands go through the wire, rows
 * into the store's queue, output into the log store.
 */
#pragma once

#include "controller/cluster/effects.h"
#include "controller/web/metrics.h"

struct artifact_fetches;
struct blob_service;
struct jobs;
struct log_journal;
struct log_store;
struct sd_event;
struct sd_event_source;

struct world {
	/* Borrowed; the owner sets them before they are used. */
	struct sd_event *loop;
	struct log_store *logs;
	struct log_journal *journal;
	struct blob_service *blobs;
	struct artifact_fetches *fetches;
	struct jobs *jobs;
	/* Of effects.c: */
	struct counters counters;
	struct sd_event_source *settler, *patience;
	struct deferral *reader;
	bool reads; /* the reader will run */
	struct job_effects effects;
};

/* Fill world->effects; the world stays where it is. */
void effects_connect(struct world *world);
/* Call it before the loop is freed. */
void effects_disconnect(struct world *world);
