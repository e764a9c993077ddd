/* installed.h - where the installed parts of Regatta lie.
 *
 * Fixed when Regatta is built: make install PREFIX=... SYSCONFDIR=...
 * DATADIR=... compiles installed.c again, and nothing else.
 */
#ifndef PROTOCOL_CONFIG_INSTALLED_H
#define PROTOCOL_CONFIG_INSTALLED_H

/* Folders. */
extern const char installed_settings[]; /* SYSCONFDIR/regatta */
extern const char installed_data[];     /* DATADIR */
extern const char installed_library[];  /* PREFIX/lib/regatta */

/* In the folder of settings. */
extern const char installed_agent_yaml[];
extern const char installed_controller_yaml[];
extern const char installed_operator_yaml[];
extern const char installed_policy_yaml[];
extern const char installed_registry_json[];

extern const char installed_images[]; /* folder, below DATADIR */
extern const char installed_init[];   /* regatta-init */

#endif
