/* schema.h - the tables of the store, and how an older store gets them.
 */
#ifndef CONTROLLER_STORE_SCHEMA_H
#define CONTROLLER_STORE_SCHEMA_H

#include "controller/store/database.h"

/* In SQL: how many digits of a cell's key the index of runs has (64 bits). */
#define RUN_DIGITS "16"

/* The upgrades for database_open(). */
extern const struct database_upgrade store_upgrades[];
extern const int store_upgrades_count;

#endif
