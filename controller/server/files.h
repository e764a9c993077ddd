/* files.h - the output of a job by stream: which there are, and of which file.
 */
#ifndef CONTROLLER_SERVER_FILES_H
#define CONTROLLER_SERVER_FILES_H

#include "controller/jobs/cluster.h"

#define FILES_MAX 2000 /* in one list */

/* [{"stream", "rank", "path", "part", "bytes"} ...] of the followed files of an
 * attempt that have been announced; rank is the node's. The first FILES_MAX.
 */
cJSON *files_describe(struct cluster *cluster, uint64_t job, uint32_t attempt);

/* [{"stream", "bytes"} ...] of the processes' own output, then the followed
 * files as above.
 */
cJSON *files_describe_all(struct cluster *cluster, uint64_t job,
			  uint32_t attempt);

#endif
