/* http_names.h - the names by which clients may ask an HTTP server.
 *
 * A page of another site can make a browser ask for what the site may not see,
 * by a name of its own that leads here (DNS rebinding). So only exact names
 * count: localhost, the host name of this machine, alone or as the hosts file
 * or DNS completes it, and the name of the configuration. An address counts,
 * too: nobody else decides where it leads.
 *
 * DNS may answer late or never. It is asked beside, and the full name does not
 * count until it is known.
 */
#pragma once

#include "protocol/base/owned.h"

#include <stdbool.h>

/* configured: one more name, or ".DOMAIN" for HOST.DOMAIN; NULL: none. NULL:
 * ENOMEM.
 */
struct http_names;
struct http_names *http_names_new(const char *configured);
void http_names_free(struct http_names *names);
OWNED_POINTER(struct http_names, http_names_free)

/* host: as in the header, with or without a port. */
bool http_names_have(const struct http_names *names, const char *host);
