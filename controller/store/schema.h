/* schema.h - the tables of the store, version by version.
 */
#ifndef CONTROLLER_STORE_SCHEMA_H
#define CONTROLLER_STORE_SCHEMA_H

/* In SQL: how many digits of a cell's key the index of runs has (64 bits). */
#define RUN_DIGITS "16"

/* The upgrades for database_open(). */
extern const char *const store_upgrades[];
extern const int store_upgrades_count;

#endif
