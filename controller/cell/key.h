/* key.h - the content address of a cell: what its job is, as a hash.
 *
 * The same container, shape and reading of the result give the same key,
 * whatever the sweep is called and however the cell came about; repeats share
 * it, and priority, time limit, retries and the jobs before it do not count. A
 * field of the spec that is optional and empty does not count either, so a spec
 * that learns a new one keeps its keys.
 */
#ifndef CONTROLLER_CELL_KEY_H
#define CONTROLLER_CELL_KEY_H

#include "protocol/message/spec.h"

#define SPEC_KEY_SIZE 65 /* 64 hex digits of SHA-256, and the NUL */

int spec_key(const struct job_spec *spec, char key[SPEC_KEY_SIZE],
	     struct error *err);

#endif
