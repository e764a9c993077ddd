/* schema.h - the tables of the store, version by version.
 */
#ifndef CONTROLLER_STORE_SCHEMA_H
#define CONTROLLER_STORE_SCHEMA_H

/* Digits of a cell's key by which runs are found: 64 bits. In SQL. */
#define RUN_DIGITS "16"

/* SQL, each from the version of its place to the next; 0 is an empty file. */
extern const char *const store_upgrades[];
extern const int store_upgrades_count;

#endif
