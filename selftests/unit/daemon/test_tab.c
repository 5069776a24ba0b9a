// SPDX-License-Identifier: GPL-2.0
/* fullstripetab: what a line says, what is refused, and what it is to systemd and to udev. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/tab.h"
#include "lib/tab_units.h"
#include "lib/unit_name.h"

/* The entry of a line that is right. */
static struct tab_entry entry_of(const char *text)
{
	struct tab t = { .n = 0 };
	char why[TAB_WHY] = "";
	struct tab_entry e;

	if (tab_add_line(&t, 7, text, why) != 0)
		fail_msg("'%s': %s", text, why);
	assert_int_equal(t.n, 1);
	e = t.entries[0];
	tab_free(&t);
	return e;
}

static void test_lines(void **state)
{
	struct tab_entry e = entry_of("fast\t/dev/md0\n");

	(void)state;
	assert_string_equal(e.name, "fast");
	assert_string_equal(e.lower, "/dev/md0");
	assert_int_equal(e.line, 7);
	assert_false(e.noauto || e.nofail || e.netdev || e.initrd || e.force);
	assert_string_equal(e.device_timeout, "");

	e = entry_of("  a.b_C-9+ /dev/disk/by-id/md-uuid-1:2 noauto,nofail,,_netdev,x-initrd.attach,force \r\n");
	assert_string_equal(e.name, "a.b_C-9+");
	assert_true(e.noauto && e.nofail && e.netdev && e.initrd && e.force);

	e = entry_of("f /dev/md0 cluster_bytes=1MiB,hold_ms=100,mode=writethrough,x-systemd.device-timeout=5min");
	assert_true(target_keys_given(&e.keys, "cluster_bytes"));
	assert_false(target_keys_given(&e.keys, "chunk_bytes"));
	assert_string_equal(e.device_timeout, "5min");
	assert_string_equal(entry_of("f /dev/md0 defaults").device_timeout, "");
}

static void test_lowers(void **state)
{
	(void)state;
	assert_string_equal(entry_of("f PARTUUID=1a-2b").lower, "/dev/disk/by-partuuid/1a-2b");
	assert_string_equal(entry_of("f PARTLABEL=a/b\"c").lower,
			    "/dev/disk/by-partlabel/a\\x2fb\\x22c");
}

static void test_nothing_said(void **state)
{
	static const char * const texts[] = { "", "\n", "  \t\n", "# fast /dev/md0", "  #x" };
	struct tab t = { .n = 0 };
	char why[TAB_WHY];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(tab_add_line(&t, 1, texts[i], why), 0);
	assert_int_equal(t.n, 0);
}

static void test_lines_refused(void **state)
{
	static const char *const longest = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234";
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "g", "has no device" },
		{ "g /dev/md1 noauto x", "has more than three fields" },
		{ "g/h /dev/md1", "the name 'g/h': must be of letters" },
		{ "g%h /dev/md1", "the name 'g%h'" },
		{ "control /dev/md1", "not 'control'" },
		{ ".. /dev/md1", "the name '..'" },
		{ "g md1", "the device 'md1': must be a path in /dev, PARTUUID=" },
		{ "g /dev/", "the device '/dev/'" },
		{ "g /dev/md1/", "the device '/dev/md1/'" },
		{ "g /dev/../x", "the device '/dev/../x'" },
		{ "g /dev//x", "the device '/dev//x'" },
		{ "g /dev/a\"b", "the device '/dev/a\"b'" },
		{ "g /dev/md*", "the device '/dev/md*'" },
		{ "g /srv/x", "the device '/srv/x'" },
		{ "g UUID=1-2", "names both" },
		{ "g LABEL=a", "names both" },
		{ "g /dev/disk/by-uuid/1-2", "names both" },
		{ "g /dev/disk/by-label/a", "names both" },
		{ "g /dev/./md0", "must be a path in /dev" },
		{ "g /dev/md0\\", "must be a path in /dev" },
		{ "g LABEL=x", "names both" },
		{ "g PARTUUID=", "must be a path in /dev" },
		{ "g /dev/md1 auto", "the option 'auto': must be noauto, nofail" },
		{ "g /dev/md1 noauto,colour=red", "the option 'colour=red': no such key" },
		{ "g /dev/md1 cluster_bytes=much", "'cluster_bytes=much': no size" },
		{ "g /dev/md1 hold_ms=1s", "'hold_ms=1s': no whole number" },
		{ "g /dev/md1 hold_ms=", "'hold_ms=': no whole number" },
		{ "g /dev/md1 mode=fast", "mode 'fast': writebehind or writethrough" },
		{ "g /dev/md1 x-systemd.device-timeout=", "must be a time" },
		{ "g /dev/md1 x-systemd.device-timeout=5%", "must be a time" },
		{ "f /dev/md1", "the name 'f' is that of line 3 already" },
		{ "g /dev/md0", "the device '/dev/md0' is that of line 3 already" },
	};
	struct tab t = { .n = 0 };
	char why[TAB_WHY], text[256];

	(void)state;
	assert_int_equal(tab_add_line(&t, 3, "f /dev/md0", why), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		why[0] = '\0';
		assert_true(tab_add_line(&t, 4, cases[i].text, why) < 0);
		if (!strstr(why, cases[i].says))
			fail_msg("'%s': '%s' should say '%s'", cases[i].text, why, cases[i].says);
		assert_int_equal(t.n, 1);
	}
	/* The longest name that fits, and one more. */
	snprintf(text, sizeof(text), "x%s /dev/md1", longest);
	assert_int_equal(tab_add_line(&t, 5, text, why), 0);
	snprintf(text, sizeof(text), "xy%s /dev/md2", longest);
	assert_int_equal(tab_add_line(&t, 6, text, why), -ENAMETOOLONG);
	tab_free(&t);
}

static void test_device_too_long(void **state)
{
	char text[600] = "f PARTLABEL=", why[TAB_WHY];
	struct tab t = { .n = 0 };

	(void)state;
	memset(text + strlen(text), '/', 100);
	assert_int_equal(tab_add_line(&t, 1, text, why), -ENAMETOOLONG);
	snprintf(text, sizeof(text), "f /dev/%0300d", 0);
	assert_int_equal(tab_add_line(&t, 1, text, why), -ENAMETOOLONG);
	assert_int_equal(t.n, 0);
}

/* What a function writes. */
#define WRITTEN(write)						\
	({							\
		static char text[4096];				\
		FILE *f = fmemopen(text, sizeof(text), "w");	\
								\
		write;						\
		fclose(f);					\
		(const char *)text;				\
	})

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("should have '%s':\n%s", line, text);
}

static void has_not(const char *text, const char *line)
{
	if (strstr(text, line))
		fail_msg("should not have '%s':\n%s", line, text);
}

static void test_service(void **state)
{
	struct tab_entry e = entry_of("f-1 /dev/md/a-b cluster_bytes=1M,force");
	char name[TAB_UNIT];
	const char *text;

	(void)state;
	tab_service_name(&e, name);
	assert_string_equal(name, "fullstripe@f\\x2d1.service");
	tab_device_name(&e, name);
	assert_string_equal(name, "dev-mapper-f\\x2d1.device");
	tab_lower_name(&e, name);
	assert_string_equal(name, "dev-md-a\\x2db.device");
	text = WRITTEN(tab_write_service(f, &e, "/etc/x", "/sbin/ctl"));
	has(text, "\nSourcePath=/etc/x\n");
	has(text, "\nBindsTo=dev-md-a\\x2db.device\nAfter=dev-md-a\\x2db.device ");
	has(text, "\nBefore=local-fs-pre.target local-fs.target\n");
	has(text, "\nBefore=blockdev@dev-mapper-%i.target\n");
	has(text, "\nConflicts=umount.target\n");
	has(text, "\nExecStart=/sbin/ctl create --force --set cluster_bytes=1048576 -- \"f-1\" \"/dev/md/a-b\"\n");
	has(text, "\nExecStop=/sbin/ctl remove --keep-layers -- \"f-1\"\n");
}

/* Backslashes stand for themselves in the command line, and in a rule for udev. */
static void test_backslash(void **state)
{
	struct tab_entry e = entry_of("f PARTLABEL=a$b");

	(void)state;
	has(WRITTEN(tab_write_service(f, &e, "x", "ctl")), "\"/dev/disk/by-partlabel/a\\\\x24b\"");
	has(WRITTEN(tab_write_rule(f, &e)), "SYMLINK==\"disk/by-partlabel/a\\x24b\", ");
	has(WRITTEN(tab_write_rule(f, &e)), "ENV{DEVNAME}==\"/dev/disk/by-partlabel/a\\x24b\", ");
}

static void test_what_waits(void **state)
{
	struct tab_entry e = entry_of("f /dev/md0");

	(void)state;
	assert_string_equal(tab_wanted_by(&e), "local-fs.target");
	e = entry_of("f /dev/md0 nofail");
	assert_string_equal(tab_wanted_by(&e), "local-fs.target");
	has_not(WRITTEN(tab_write_service(f, &e, "x", "ctl")), "local-fs");
	e = entry_of("f /dev/md0 noauto");
	assert_null(tab_wanted_by(&e));
	has_not(WRITTEN(tab_write_service(f, &e, "x", "ctl")), "local-fs");
	e = entry_of("f /dev/md0 _netdev");
	assert_string_equal(tab_wanted_by(&e), "remote-fs.target");
	has(WRITTEN(tab_write_service(f, &e, "x", "ctl")),
	    "\nBefore=remote-fs-pre.target remote-fs.target\n");
	e = entry_of("f /dev/md0 x-initrd.attach");
	has_not(WRITTEN(tab_write_service(f, &e, "x", "ctl")), "Conflicts=");
}

static void test_unit_names(void **state)
{
	static const struct {
		const char *text, *escaped, *path;
	} cases[] = {
		{ "/dev/md0", "-dev-md0", "dev-md0" },
		{ "//dev//md/a-b/", "--dev--md-a\\x2db-", "dev-md-a\\x2db" },
		{ ".x", "\\x2ex", "\\x2ex" },
		{ "/dev/.x", "-dev-.x", "dev-.x" },
		{ "a:b_c.d+", "a:b_c.d\\x2b", "a:b_c.d\\x2b" },
		{ "\\\xc3\xa9", "\\x5c\\xc3\\xa9", "\\x5c\\xc3\\xa9" },
	};
	char text[UNIT_ESCAPED(32)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_escape(cases[i].text, text);
		assert_string_equal(text, cases[i].escaped);
		unit_escape_path(cases[i].text, text);
		assert_string_equal(text, cases[i].path);
	}
}

static void test_keys(void **state)
{
	static const char line[] = "4 chunk_bytes 65536 hold_ms 100";
	struct target_keys k = { .values = { "" } };
	char why[TARGET_KEYS_WHY], text[64];

	(void)state;
	assert_int_equal(target_keys_set(&k, "hold_ms=100", why), 0);
	target_keys_default(&k, "hold_ms", 5);
	target_keys_default(&k, "chunk_bytes", 65536);
	assert_int_equal(target_keys_number(&k, "hold_ms"), 100);
	assert_int_equal(target_keys_number(&k, "chunk_bytes"), 65536);
	assert_int_equal(target_keys_number(&k, "stripe_bytes"), 0);
	assert_int_equal(target_keys_format(&k, text, sizeof(text)), strlen(line));
	assert_string_equal(text, line);
	/* As snprintf() does. */
	assert_int_equal(target_keys_format(&k, text, 5), strlen(line));
	assert_string_equal(text, "4 ch");
	assert_int_equal(target_keys_set(&k, "hold_ms", why), -EINVAL);
	assert_int_equal(target_keys_set(&k, "hold=1", why), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lowers),
		cmocka_unit_test(test_nothing_said),
		cmocka_unit_test(test_lines_refused),
		cmocka_unit_test(test_device_too_long),
		cmocka_unit_test(test_service),
		cmocka_unit_test(test_backslash),
		cmocka_unit_test(test_what_waits),
		cmocka_unit_test(test_unit_names),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests_name("tab", tests, NULL, NULL);
}
