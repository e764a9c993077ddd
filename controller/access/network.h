/* network.h - networks as people write them: 10.0.0.0/8, fd00::/8, 192.0.2.7.
 */
#ifndef CONTROLLER_ACCESS_NETWORK_H
#define CONTROLLER_ACCESS_NETWORK_H

#include "protocol/base/error.h"

#include <stdbool.h>

#define NETWORK_TEXT_SIZE 64

/* EINVAL: not a network. A single address is a network of one address. */
int network_check(const char *text, struct error *err);

/* Is the address in that network? text must be checked before. IPv4 addresses
 * may be written as IPv6 (::ffff:10.0.0.1). A text that is not an address is in
 * no network.
 */
bool network_has(const char *text, const char *address);

#endif
