/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs return; the man pages list the same. */
#ifndef FULLSTRIPE_EXIT_CODES_H
#define FULLSTRIPE_EXIT_CODES_H

enum {
	EXIT_DONE	= 0,
	EXIT_FAILED	= 1,	/* something that was asked for could not be done */
	EXIT_USAGE	= 2,	/* unknown verb or option, or a value that cannot be */
	EXIT_BAD_TRACE	= 3,	/* no trace, corrupt, cut short, or of an unknown version */
	EXIT_NOTHING	= 4,	/* nothing was measured or found to decide from */
	EXIT_DIFFERS	= 5,	/* something is not as it was set */
	EXIT_NO_DAEMON	= 6,	/* fullstriped does not run, or there is no D-Bus */
	EXIT_CONFIG_WRONG = 78,	/* as systemd has it: a configuration that cannot be */
};

#endif
