/* sweeps.h - describes sweeps for replies, and checks who may change them.
 */
#pragma once

#include "controller/api/api.h"
#include "controller/store/store.h"
#include "controller/sweep/sweep.h"
#include "protocol/message/reply_sweeps.h"

/* Read the sweep file that a request carries, for the nodes that take jobs now.
 */
struct sweep *sweep_of_request(const struct api_request *request,
			       const char *file, struct error *err);

/* Fill *to, which was zero, from the store. sweep 0: the last one. ENOENT: no
 * such sweep. On failure the caller clears it, too.
 */
int sweep_describe_id(const struct api *api, uint64_t sweep,
		      struct sweep_info *to, struct error *err);

/* E2BIG: it has more than SWEEP_JOBS_MAX jobs. */
#define SWEEP_JOBS_MAX 100000
int sweep_check_size(const struct sweep *sweep, struct error *err);

/* As in sweep_info; NULL where no race is under way, where it is not paused. */
int sweep_describe_life(const struct api *api, uint64_t sweep, char **race,
			char **paused, struct error *err);

/* Is no job of the sweep active, and no container or spool of it left on a
 * known node?
 */
bool sweep_final(const struct api *api, uint64_t sweep);

/* ENOENT: no such sweep. */
int sweep_check(const struct api *api, uint64_t sweep, struct error *err);

/* May this operator cancel or retry the sweep? Its submitter may, others only
 * with force. EPERM, ENOENT.
 */
int sweep_check_owner(const struct api *api, uint64_t sweep, const char *by,
		      bool force, struct error *err);
