/* image_disk.h - where an engine keeps its images: with which store, and on
 * which disk.
 *
 * Docker keeps them below its own folder (overlay2), or leaves them to
 * containerd, which has a folder of its own, often on another disk. containerd
 * tells it nobody, but its process has its database there open.
 *
 * Source: Docker Engine API 1.51, "Get system information"; containerd 2.1,
 * plugins/metadata.
 */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Does the engine, by its answer to engine_info(), keep images in containerd's
 * store? Pure.
 */
bool image_disk_is_containerd(const cJSON *info);

/* The folder with the images of an engine on this machine, for the caller to
 * free. NULL: it is not known, as for an agent that may not look at the
 * process of containerd, or memory ran out.
 */
char *image_disk_folder(const cJSON *info);
