/* installed.h - where the installed parts of Regatta are.
 *
 * They are found from the path of the running program, before main() begins, so
 * that one build can be installed anywhere, and an installation may be moved:
 *
 *	program			parts			settings
 *	/usr/sbin/regatta-agent	/usr/lib/regatta	/etc/regatta
 *	/usr/local/bin/regatta	/usr/local/lib/regatta	/etc/regatta
 *	PREFIX/bin/regatta	PREFIX/lib/regatta	PREFIX/etc/regatta
 *	build/regatta		build			/etc/regatta
 *
 * Other modules only read these texts.
 */
#pragma once

#include <limits.h>

#define INSTALLED_SYSTEM "/etc/regatta" /* where the system's settings are */

/* Folders: that of this program, and that of the settings. */
extern char installed_programs[PATH_MAX];
extern char installed_settings[PATH_MAX];

/* Files in the folder of settings. */
extern char installed_agent_yaml[PATH_MAX];
extern char installed_controller_yaml[PATH_MAX];
extern char installed_operator_yaml[PATH_MAX];
extern char installed_policy_yaml[PATH_MAX];
extern char installed_registry_json[PATH_MAX];
extern char installed_slurm_sh[PATH_MAX];

/* Installed parts. */
extern char installed_images[PATH_MAX]; /* a folder */
extern char installed_init[PATH_MAX];   /* regatta-init */
