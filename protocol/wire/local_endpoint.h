/* local_endpoint.h - unix sockets, on which nothing is encrypted.
 *
 * Who can read what passes through one, or listen in its place, is root or owns
 * its folder. So both ends ask that nobody else can write in that folder.
 */
#pragma once

#include "protocol/base/error.h"

/* 1: a unix socket ("ipc:///PATH") in such a folder; 0: another endpoint.
 * EPERM: others can write in its folder; EINVAL: no path from the root.
 */
int endpoint_is_local(const char *endpoint, struct error *err);
