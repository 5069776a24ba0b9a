// SPDX-License-Identifier: GPL-2.0
/* fullstripetab(5): a line is refused with a reason, or what it becomes is what it says. */
#include "fuzz.h"
#include "lib/tab.h"
#include "lib/tab_units.h"

/* Nothing of the line is a line of its own in what systemd and udev read. */
static void write_all(const struct tab_entry *e)
{
	static const struct tab_entry plain = { .name = "a", .lower = "/dev/a" };
	char unit[TAB_UNIT];
	size_t lines[2] = { 0 };

	for (size_t i = 0; i < 2; i++) {
		struct tab_entry entry = i ? plain : *e;
		char *text = NULL;
		size_t len = 0;
		FILE *f = open_memstream(&text, &len);

		check(f);
		tab_write_rule(f, &entry);
		tab_write_timeout(f, "90s");
		check(fclose(f) == 0);
		check(strlen(text) == len);
		for (const char *c = text; *c; c++)
			lines[i] += *c == '\n';
		free(text);
		f = open_memstream(&text, &len);
		check(f);
		tab_write_service(f, &entry, "/etc/fullstripetab", "/usr/sbin/fullstripectl");
		check(fclose(f) == 0);
		check(strlen(text) == len);
		free(text);
	}
	check(lines[0] == lines[1]);
	tab_service_name(e, unit);
	check(memchr(unit, '\0', sizeof(unit)) && !strchr(unit, '/'));
	tab_device_name(e, unit);
	check(memchr(unit, '\0', sizeof(unit)) && !strchr(unit, '/'));
	tab_lower_name(e, unit);
	check(memchr(unit, '\0', sizeof(unit)) && !strchr(unit, '/'));
	check(e->noauto == !tab_wanted_by(e));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *rest = text, *line;
	struct tab t = { .n = 0 };
	unsigned int number = 0;

	while ((line = strsep(&rest, "\n"))) {
		char why[TAB_WHY] = "";
		size_t n = t.n;

		if (tab_add_line(&t, ++number, line, why) < 0)
			check(t.n == n && why[0]);
	}
	for (size_t i = 0; i < t.n; i++)
		write_all(&t.entries[i]);
	tab_free(&t);
	free(text);
	return 0;
}
