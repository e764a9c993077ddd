/* sweeps.h - sweeps as people see them.
 */
#ifndef CONTROLLER_API_SWEEPS_H
#define CONTROLLER_API_SWEEPS_H

#include "controller/api/api.h"
#include "controller/store/store.h"
#include "protocol/message/reply_sweeps.h"

/* Fill *to, which was zero, from the store. ENOENT: no such sweep. On failure
 * the caller clears it, too.
 */
int sweep_describe_id(const struct api *api, uint64_t sweep,
		      struct sweep_info *to, struct error *err);

/* No job of the sweep is active, and no container or spool of it is left that
 * we know of.
 */
bool sweep_final(const struct api *api, uint64_t sweep);

/* ENOENT: there is no sweep of that number. */
int sweep_check(const struct api *api, uint64_t sweep, struct error *err);

/* May this operator end or retry the sweep? Whoever submitted it may, others
 * with force: EPERM otherwise. ENOENT.
 */
int sweep_check_owner(const struct api *api, uint64_t sweep, const char *by,
		      bool force, struct error *err);

#endif
