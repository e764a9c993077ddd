/* questions.h - what people may ask, a function a question.
 */
#ifndef CONTROLLER_SERVER_QUESTIONS_H
#define CONTROLLER_SERVER_QUESTIONS_H

#include "controller/jobs/cluster.h"

#define QUESTION_ROWS_MAX 1000 /* in one answer */

/* EINVAL names the questions there are. */
bool question_known(const char *what, struct error *err);

/* The body of the reply, which the caller deletes; NULL with *err set. */
cJSON *question_answer(struct cluster *cluster,
		       const struct message_query *query, struct error *err);

#endif
