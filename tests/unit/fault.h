/* fault.h - make the nth allocation fail, to walk every error path of a test.
 *
 *	for (long n = 1;; n++) {
 *		fault_arm(n);
 *		thing = thing_new(&err);
 *		if (!fault_disarm())
 *			break;	(fewer than n allocations: all were tried)
 *		ok(!thing, "allocation %ld: an error, no leak", n);
 *	}
 *
 * The program is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,
 * --wrap=strdup, which catches the calls of our own objects. Of libraries only
 * cJSON's are caught, after fault_hook_cjson().
 */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static long fault_left; /* allocations up to the one that fails; 0: none will */
static bool fault_happened;

/* The nth allocation from now on fails; those behind it succeed. */
static inline void fault_arm(long n)
{
	fault_left = n;
	fault_happened = false;
}

/* No allocation fails any more. True: one did. */
static inline bool fault_disarm(void)
{
	fault_left = 0;
	return fault_happened;
}

static bool fault_now(void)
{
	if (!fault_left || --fault_left)
		return false;
	fault_happened = true;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
	return fault_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fault_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fault_now() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
	return fault_now() ? NULL : __real_strdup(text);
}

static inline void fault_hook_cjson(void)
{
	cJSON_InitHooks(&(cJSON_Hooks){ malloc, free });
}
