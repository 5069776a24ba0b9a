// SPDX-License-Identifier: GPL-2.0
/*
 * What no well-behaved caller of org.fullstripe1 sends.
 *
 *	bus SEED COUNT DEVICE	COUNT calls of random objects, methods and arguments, none of
 *				which can be right; DEVICE is the path of an object
 *
 * Exit status: 0, 1 if one was not answered by an error, 2 wrong usage or no bus.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define ANSWER_USEC	10000000ull
#define PICK(list)	((list)[rand() % (sizeof(list) / sizeof((list)[0]))])

static const char *random_text(char text[static 64])
{
	size_t n = rand() % 62;

	/* Never a mode, nor the name of an interface or of a property. */
	text[0] = '~';
	for (size_t i = 1; i <= n; i++)
		text[i] = ' ' + rand() % 95;
	text[n + 1] = '\0';
	return text;
}

static int append_random(sd_bus_message *m, int depth);

static int append_container(sd_bus_message *m, int depth)
{
	int r;

	switch (rand() % 3) {
	case 0:
		r = sd_bus_message_open_container(m, 'a', "s");
		for (int i = rand() % 200; r >= 0 && i > 0; i--)
			r = sd_bus_message_append(m, "s", "element");
		break;
	case 1:
		r = sd_bus_message_open_container(m, 'v', "u");
		if (r >= 0)
			r = sd_bus_message_append(m, "u", (uint32_t)rand());
		break;
	default:
		r = sd_bus_message_open_container(m, 'r', "tas");
		if (r >= 0)
			r = sd_bus_message_append(m, "tas", (uint64_t)rand(), 2, "a", "");
	}
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 || depth == 0 ? r : append_random(m, depth - 1);
}

static int append_random(sd_bus_message *m, int depth)
{
	char text[64];

	switch (rand() % 7) {
	case 0:
		return sd_bus_message_append(m, "s", random_text(text));
	case 1:
		return sd_bus_message_append(m, "ss", random_text(text), "Mode");
	case 2:
		return sd_bus_message_append(m, "u", (uint32_t)rand());
	case 3:
		return sd_bus_message_append(m, "bd", rand() % 2, (double)rand());
	case 4:
		return sd_bus_message_append(m, "ssv", random_text(text), "Mode", "s", "auto");
	case 5:
		return sd_bus_message_append(m, "o", "/org/fullstripe1/device/fs0");
	default:
		return append_container(m, depth);
	}
}

/* Return: a negative errno if there is no bus any more, or else whether it is an error. */
static int call_random(sd_bus *bus, const char *device)
{
	const char * const paths[] = {
		"/", "/org", "/org/fullstripe1", "/org/fullstripe1/device", device,
		"/org/fullstripe1/device/_", "/org/fullstripe1/device/none/of/these",
	};
	static const char * const interfaces[] = {
		NULL, "org.fullstripe1.Manager", "org.fullstripe1.Device", "org.fullstripe1.None",
		"org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager",
	};
	static const char * const members[] = {
		"Reload", "SetMode", "RecordNow", "Apply", "TakeBack", "Get", "Set", "GetAll",
		"GetManagedObjects", "None",
	};
	const char *path = PICK(paths), *interface = PICK(interfaces), *member = PICK(members);
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *m = NULL;
	int r, is_error;

	/* Half of them get as far as to where the arguments are looked at. */
	if (rand() % 2) {
		path = "/org/fullstripe1";
		interface = "org.fullstripe1.Manager";
		member = rand() % 2 ? "SetMode" : "Reload";
	}
	r = sd_bus_message_new_method_call(bus, &m, "org.fullstripe1", path, interface, member);
	if (r >= 0)
		r = append_random(m, 3);
	if (r < 0) {
		fprintf(stderr, "a call cannot be made: %s\n", strerror(-r));
		sd_bus_message_unref(m);
		return r;
	}
	r = sd_bus_call(bus, m, ANSWER_USEC, &error, NULL);
	is_error = r < 0 && sd_bus_error_is_set(&error) &&
		   !sd_bus_error_has_name(&error, SD_BUS_ERROR_NO_REPLY) &&
		   !sd_bus_error_has_name(&error, SD_BUS_ERROR_SERVICE_UNKNOWN);
	if (!is_error)
		fprintf(stderr, "%s %s.%s(%s): %s\n", path, interface ?: "", member,
			sd_bus_message_get_signature(m, 1),
			r < 0 ? error.message ?: strerror(-r) : "done");
	sd_bus_error_free(&error);
	sd_bus_message_unref(m);
	return is_error;
}

int main(int argc, char **argv)
{
	unsigned long count, errors = 0;
	sd_bus *bus = NULL;
	int r = 0;

	if (argc != 4) {
		fputs("usage: bus SEED COUNT DEVICE\n", stderr);
		return 2;
	}
	srand(strtoul(argv[1], NULL, 10));
	count = strtoul(argv[2], NULL, 10);
	r = sd_bus_open_system(&bus);
	if (r < 0) {
		fprintf(stderr, "no bus: %s\n", strerror(-r));
		return 2;
	}
	for (unsigned long i = 0; i < count && r >= 0; i++) {
		r = call_random(bus, argv[3]);
		errors += r > 0;
	}
	printf("%lu errors\n", errors);
	sd_bus_flush_close_unref(bus);
	return errors != count;
}
