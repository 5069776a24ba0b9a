/* SPDX-License-Identifier: GPL-2.0 */
/* Things that free themselves when their variable goes out of scope. */
#ifndef FULLSTRIPE_CLEANUP_H
#define FULLSTRIPE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn)	__attribute__((cleanup(fn)))

/* A cleanup function for variables of @type, out of one that takes the pointer itself. */
#define DEFINE_CLEANUP(type, fn)		\
	static inline void fn##p(type *p)	\
	{					\
		if (*p)				\
			fn(*p);			\
	}

DEFINE_CLEANUP(DIR *, closedir)
DEFINE_CLEANUP(FILE *, fclose)

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_		_cleanup_(freep)
#define _cleanup_close_		_cleanup_(closep)
#define _cleanup_closedir_	_cleanup_(closedirp)
#define _cleanup_fclose_	_cleanup_(fclosep)

#endif
