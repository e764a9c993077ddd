/* recorder.h - asks PyTorch's flight recorder for a dump of a rank.
 *
 * A process of PyTorch makes the pipe EVIDENCE_DUMP<rank>.pipe, looks at it
 * once a second, and writes its dump, EVIDENCE_DUMP<rank>, when there is a byte
 * in it; its training goes on. Source: PyTorch, DumpPipe in
 * ProcessGroupNCCL.hpp and HeartbeatMonitor::runLoop() in ProcessGroupNCCL.cpp,
 * since 2.2.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A younger dump is new enough, and may not be complete yet. */
#define RECORDER_AGE_MS 5000
#define RECORDER_DUMP_MS 3000 /* after which a dump is at the controller */

/* Remove the rank's old dump from the folder, so that the new one is another
 * file, and ask for that. The container may have put anything in these places:
 * only a pipe that somebody reads is written to, and nothing blocks. False:
 * nobody was asked.
 */
bool recorder_ask(int folder, int64_t rank);
