/* delegated.h - which resources a user's own engine can limit.
 */
#pragma once

#include "protocol/base/strings.h"

/* The controllers that our cgroup was given, such as "memory": a child without
 * root can use these. None where cgroups are of version 1, or of both. root: of
 * /proc and /sys, "" but in tests.
 *
 * Source: Podman 4.3, pkg/cgroups, AvailableControllers; cgroups(7).
 */
int delegated_controllers(const char *root, struct strings *controllers,
			  struct error *err);
