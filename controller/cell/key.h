/* key.h - the content address of a cell: what its job is, as a hash.
 *
 * Cells with the same container, shape and log rules have the same key, in any
 * sweep. Repeats share it. Priority, time limit, retries and dependencies are
 * not part of it. Empty optional fields of the spec are not either, so that a
 * new field does not change existing keys.
 */
#pragma once

#include "protocol/base/digest.h"
#include "protocol/message/spec.h"

#define SPEC_KEY_SIZE DIGEST_HEX_SIZE

int spec_key(const struct job_spec *spec, char key[SPEC_KEY_SIZE],
	     struct error *err);
