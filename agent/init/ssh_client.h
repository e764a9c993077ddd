/* ssh_client.h - ssh and scp in the container of a job that asks for them.
 *
 * There is no sshd, no key and no connection: a command goes by files to the
 * task of the same job on another node (agent/init/init.h). Of the options of
 * ssh, -n and -f have an effect; -f returns when the command has ended or has
 * run for SSH_CLIENT_BACKGROUND_MS. Options for logins, ports and keys are
 * ignored. scp copies one file to another node.
 */
#pragma once

#define SSH_CLIENT_BACKGROUND_MS 2000

/* If the program's name is ssh or scp, run it; returns the exit code of the
 * command, or 255: it was not run. Else -1.
 */
int ssh_client_main(int argc, char **argv);
