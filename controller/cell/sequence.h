/* sequence.h - what a cell says of the order of jobs: after, same_nodes, until.
 */
#ifndef CONTROLLER_CELL_SEQUENCE_H
#define CONTROLLER_CELL_SEQUENCE_H

#include "protocol/message/spec.h"
#include "protocol/yaml/value.h"

/* From the values of a cell, by key, into its spec. Errors name file and line.
 */
int sequence_read(const struct value *const *values, struct job_spec *spec,
		  struct error *err);

#endif
