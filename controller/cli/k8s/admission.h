/* admission.h - says beforehand what a cluster would refuse, and which of its
 * nodes could run a pod. Nothing is created.
 */
#pragma once

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define ADMISSION_TEXT_MAX 400

/* Ask the API server whether it takes a pod of this Job (a dry run), whether
 * the quotas of the namespace have room for all of them, and which nodes could
 * run one when they are empty. text: the answer, for people; it says what was
 * not asked, as the rights for it are missing. Returns 1: it could run; 0: it
 * never will; -1 with *err set.
 */
int admission_ask(const cJSON *kubectl, const cJSON *job,
		  char text[ADMISSION_TEXT_MAX], struct error *err);

/* Why the node could not run a pod of this spec: its name and what it lacks.
 * False: it could.
 */
bool admission_node_lacks(const cJSON *node, const cJSON *spec,
			  char text[ADMISSION_TEXT_MAX]);
