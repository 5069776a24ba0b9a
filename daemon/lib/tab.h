/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fullstripetab(5): the fullstripe devices of a machine, a line each, as crypttab(5) has
 * them: name, device below, options. Reading the file is generator/.
 */
#ifndef FULLSTRIPE_TAB_H
#define FULLSTRIPE_TAB_H

#include <stdbool.h>
#include <stddef.h>

#include "target_keys.h"

/* A device-mapper name or UUID has 128 characters with its end; FULLSTRIPE- is part of the latter. */
#define TAB_NAME	117
#define TAB_LOWER	256
#define TAB_TIMEOUT	16
#define TAB_WHY		320

/**
 * struct tab_entry - one line
 * @line: its number
 * @name: of the device that is made
 * @lower: the node of the one below it
 * @keys: of the table line
 * @noauto: not made at boot
 * @nofail: nothing waits for it at boot
 * @netdev: the device below comes by network
 * @initrd: made in the initrd, and not taken away before the initrd is back
 * @force: made although create would advise against it
 * @device_timeout: how long the device below is waited for; empty: not said
 */
struct tab_entry {
	unsigned int line;
	char name[TAB_NAME];
	char lower[TAB_LOWER];
	struct target_keys keys;
	bool noauto;
	bool nofail;
	bool netdev;
	bool initrd;
	bool force;
	char device_timeout[TAB_TIMEOUT];
};

/**
 * struct tab - the file
 * @n: entries
 * @entries: those lines of it that are right
 */
struct tab {
	size_t n;
	struct tab_entry *entries;
};

int tab_add_line(struct tab *t, unsigned int line, const char *text, char why[static TAB_WHY]);
void tab_free(struct tab *t);

#endif
