/* slurm_share.h - the share of this machine that Slurm gave to this step.
 *
 * An agent in an allocation offers these devices, processors and memory, until
 * the allocation ends.
 *
 * Source: srun(1) of Slurm 22.05, "OUTPUT ENVIRONMENT VARIABLES".
 */
#pragma once

#include "protocol/message/spec.h"
#include "protocol/slurm/scontrol.h"
#include "protocol/wire/key.h"

#include <cjson/cJSON.h>
#include <limits.h>

struct slurm_share {
	char job[24];
	char node[KEY_NAME_SIZE]; /* its name in Slurm */
	char address[SCONTROL_VALUE_SIZE];
	/* Borrowed from the environment: a list as offered.h reads it; NULL:
	 * Slurm hands out no devices here.
	 */
	const char *devices;
	double cpus;           /* 0: unknown */
	uint64_t memory_bytes; /* 0: unknown */
	int64_t begin_ms;      /* wall clock, when this was read */
	int64_t end_ms;        /* when it ends; 0: never */
};

/* Read the environment, and ask scontrol. EINVAL: this is no Slurm step. Values
 * that only scontrol has may be missing; then the log says so.
 */
int slurm_share_read(struct slurm_share *share, struct error *err);

/* When to begin to leave: two minutes before the end, or after three quarters
 * of a short time; 0: never.
 */
int64_t slurm_share_leave_ms(const struct slurm_share *share);

/* A container that names no limits gets those of the allocation. EINVAL: it
 * asks for more.
 */
int slurm_share_limit(const struct slurm_share *share,
		      struct container_spec *container, struct error *err);

/* Replace facts of the host by those of the allocation. */
void slurm_share_facts(const struct slurm_share *share, cJSON *facts);

/* Make the folder for the agent's state, below TMPDIR (NULL: /tmp). EACCES: it
 * exists, and others own it or may use it.
 */
int slurm_share_make_state(const struct slurm_share *share, const char *tmpdir,
			   const char *cluster, char path[PATH_MAX],
			   struct error *err);
