/* machine.h - an identifier of this machine.
 *
 * A text that stays the same as long as the system is installed. It is made
 * from machine-id(5), but does not disclose it:
 * sd_id128_get_machine_app_specific(3).
 */
#pragma once

#include <stdbool.h>

#define MACHINE_ID_SIZE 33 /* hex digits and a 0 */

/* False: the system has no such number. */
bool machine_id(char text[MACHINE_ID_SIZE]);
