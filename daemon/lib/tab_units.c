// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "tab_units.h"

/**
 * tab_service_name() - the unit that makes the device
 * @e: the entry
 * @ret: its name
 */
void tab_service_name(const struct tab_entry *e, char ret[static TAB_UNIT])
{
	char name[UNIT_ESCAPED(TAB_NAME)];

	unit_escape(e->name, name);
	snprintf(ret, TAB_UNIT, "fullstripe@%s.service", name);
}

static void device_name(const char *path, char ret[static TAB_UNIT])
{
	char name[UNIT_ESCAPED(TAB_LOWER)];

	unit_escape_path(path, name);
	snprintf(ret, TAB_UNIT, "%s.device", name);
}

/**
 * tab_device_name() - the unit that is the device
 * @e: the entry
 * @ret: its name
 */
void tab_device_name(const struct tab_entry *e, char ret[static TAB_UNIT])
{
	char path[TAB_LOWER];

	snprintf(path, sizeof(path), "/dev/mapper/%s", e->name);
	device_name(path, ret);
}

/**
 * tab_lower_name() - the unit that is the device below
 * @e: the entry
 * @ret: its name
 */
void tab_lower_name(const struct tab_entry *e, char ret[static TAB_UNIT])
{
	device_name(e->lower, ret);
}

/**
 * tab_wanted_by() - the target that starts it at boot
 * @e: the entry
 *
 * Return: its name, or NULL if nothing does.
 */
const char *tab_wanted_by(const struct tab_entry *e)
{
	if (e->noauto)
		return NULL;
	return e->netdev ? "remote-fs.target" : "local-fs.target";
}

/* A word of a command line, in which systemd is to replace nothing. */
static void write_word(FILE *f, const char *text)
{
	fputs(" \"", f);
	for (; *text; text++) {
		if (strchr("\"\\", *text))
			fputc('\\', f);
		else if (strchr("%$", *text))
			fputc(*text, f);
		fputc(*text, f);
	}
	fputc('"', f);
}

/*
 * The order that makes a device before it is mounted also takes it away after it was
 * unmounted. blockdev@ gives that order to mounts by path; for those by UUID, whose names
 * say nothing of this device, local-fs-pre.target does, which comes before all of them.
 */
static void write_order(FILE *f, const struct tab_entry *e)
{
	char lower[TAB_UNIT];
	const char *pre = e->netdev ? "remote-fs-pre.target" : "local-fs-pre.target";

	tab_lower_name(e, lower);
	fprintf(f, "BindsTo=%s\nAfter=%s systemd-udevd-kernel.socket\n", lower, lower);
	/* What is staged is written while the network, and what brings the device, are there. */
	if (e->netdev)
		fputs("After=network.target network-online.target open-iscsi.service iscsi.service\n", f);
	fputs("Wants=blockdev@dev-mapper-%i.target\nBefore=blockdev@dev-mapper-%i.target\n", f);
	if (!e->noauto && !e->nofail)
		fprintf(f, "Wants=%s\nBefore=%s %s\n", pre, pre, tab_wanted_by(e));
	fputs("Before=umount.target\n", f);
	if (!e->initrd)
		fputs("Conflicts=umount.target\n", f);
}

/**
 * tab_write_service() - the unit that makes the device, and takes it away
 * @f: where to
 * @e: the entry
 * @source: the file that it is of
 * @program: fullstripectl, with its path
 */
void tab_write_service(FILE *f, const struct tab_entry *e, const char *source,
		       const char *program)
{
	fprintf(f,
		"# Made by fullstripe-generator.\n\n"
		"[Unit]\n"
		"Description=fullstripe device %%I\n"
		"Documentation=man:fullstripetab(5) man:fullstripe-generator(8)\n"
		"SourcePath=%s\n"
		"DefaultDependencies=no\n"
		"IgnoreOnIsolate=yes\n", source);
	write_order(f, e);
	/* What is staged is written before it is gone, however long that takes. */
	fprintf(f,
		"\n[Service]\n"
		"Type=oneshot\n"
		"RemainAfterExit=yes\n"
		"TimeoutStopSec=infinity\n"
		"ExecStart=%s create%s", program, e->force ? " --force" : "");
	for (size_t i = 0; i < TARGET_KEYS; i++)
		if (e->keys.values[i][0])
			fprintf(f, " --set %s=%s", target_keys_name(i), e->keys.values[i]);
	fputs(" --", f);
	write_word(f, e->name);
	write_word(f, e->lower);
	/* It is made again, or the machine is switched off: no time is lost with layers. */
	fprintf(f, "\nExecStop=%s remove --keep-layers --", program);
	write_word(f, e->name);
	fputc('\n', f);
}

/**
 * tab_write_timeout() - how long a device is waited for, as a drop-in of its unit
 * @f: where to
 * @timeout: a time, or infinity
 */
void tab_write_timeout(FILE *f, const char *timeout)
{
	fprintf(f, "# Made by fullstripe-generator.\n\n[Unit]\nJobRunningTimeoutSec=%s\n", timeout);
}

/**
 * tab_write_rule() - a rule that lets udev know the device below
 * @f: where to
 * @e: the entry
 *
 * 65-fullstripe.rules does the rest.
 */
void tab_write_rule(FILE *f, const struct tab_entry *e)
{
	fprintf(f, "SUBSYSTEM==\"block\", ENV{DEVNAME}==\"%s\", ENV{FULLSTRIPE_TAB}=\"1\"\n",
		e->lower);
	fprintf(f, "SUBSYSTEM==\"block\", SYMLINK==\"%s\", ENV{FULLSTRIPE_TAB}=\"1\"\n",
		e->lower + strlen("/dev/"));
}
