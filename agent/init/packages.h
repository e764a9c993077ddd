/* packages.h - lists the Python packages of the image.
 *
 * Only names of folders are read, so it costs milliseconds and needs no Python:
 * NAME-VERSION.dist-info in the folders of packages beside those of PATH, and
 * in /opt. What a command installs or activates later is not seen.
 */
#pragma once

#include "agent/init/index_writer.h"

/* Announce and write the stream PACKAGES_STREAM (protocol/message), if there
 * are any. path: as PATH of the command.
 */
void packages_write(struct index_writer *index, const char *path);
