/* machine.c - an identifier of this machine.
 */
#include "protocol/base/machine.h"

#include <systemd/sd-id128.h>

/* Identifies Regatta; made once with `systemd-id128 new`. */
#define REGATTA_ID                                                             \
	SD_ID128_MAKE(5b, 1f, 0e, 83, 6c, 4a, 4d, 27, 9a, 30, e2, 77, 41, bc,  \
		      08, d5)

bool machine_id(char text[MACHINE_ID_SIZE])
{
	sd_id128_t id;

	if (sd_id128_get_machine_app_specific(REGATTA_ID, &id) < 0)
		return false;
	sd_id128_to_string(id, text);
	return true;
}
