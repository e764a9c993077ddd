/* local_address.h - where another machine is likely to reach this one.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>

#define LOCAL_ADDRESS_SIZE 64

/* The local address, as numbers, of a connection to "tcp://HOST:PORT"; of other
 * endpoints 127.0.0.1. Nothing is sent. EHOSTUNREACH and others.
 */
int local_address(const char *endpoint, char address[LOCAL_ADDRESS_SIZE],
		  struct error *err);

/* Can only its own machine reach the host of SCHEME://HOST...? */
bool local_address_only(const char *url);
