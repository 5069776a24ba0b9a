/* SPDX-License-Identifier: GPL-2.0 */
/* The version of all of fullstripe; makefiles read it here, debian/changelog says it too. */
#ifndef FULLSTRIPE_VERSION_H
#define FULLSTRIPE_VERSION_H

#define FULLSTRIPE_MAJOR	0
#define FULLSTRIPE_MINOR	1
#define FULLSTRIPE_PATCH	0

#endif
