// SPDX-License-Identifier: GPL-2.0
/* fullstripectl daemon: fullstriped that runs, by D-Bus. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "ctl.h"
#include "lib/config.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "src/bus_names.h"
#include "src/cleanup.h"
#include "src/clock.h"
#include "src/log.h"
#include "table.h"

/* A person may be asked for a password. */
#define ANSWER_USEC	(150 * 1000000ull)

DEFINE_CLEANUP(struct json_object *, json_object_put)

enum {
	OPTION_JSON = 256,
};

static const struct argp_option option_list[] = {
	{ "json", OPTION_JSON, NULL, 0, "status: print JSON", 0 },
	{ 0 },
};

struct options {
	const char *command;
	const char *argument;
	bool json;
};

/* Return: the exit code. */
static int say_error(const sd_bus_error *error, int r, const char *what)
{
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	    sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
		log_warning("fullstriped does not run, or is not on D-Bus: systemctl status fullstriped");
		return EXIT_NO_DAEMON;
	}
	if (error->message)
		log_warning("%s: %s", what, error->message);
	else
		log_errno(r, "%s", what);
	return EXIT_FAILED;
}

/* Return: the exit code. */
static int call(sd_bus *bus, const char *path, const char *interface, const char *method,
		const char *argument)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r;

	r = sd_bus_message_new_method_call(bus, &m, BUS_NAME, path, interface, method);
	if (r >= 0)
		r = sd_bus_message_set_allow_interactive_authorization(m, true);
	if (r >= 0 && argument)
		r = sd_bus_message_append(m, "s", argument);
	if (r >= 0)
		r = sd_bus_call(bus, m, ANSWER_USEC, &error, NULL);
	return r < 0 ? say_error(&error, r, method) : EXIT_DONE;
}

/* The objects of devices, a{oa{sa{sv}}}. Return: an exit code. */
static int get_devices(sd_bus *bus, sd_bus_message **ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r;

	r = sd_bus_call_method(bus, BUS_NAME, BUS_PATH, "org.freedesktop.DBus.ObjectManager",
			       "GetManagedObjects", &error, ret, NULL);
	return r < 0 ? say_error(&error, r, "the devices") : EXIT_DONE;
}

static int read_plan(sd_bus_message *m, struct json_object *o)
{
	struct json_object *plan = json_object_new_array();
	const char *setting, *sentence;
	uint64_t old, new;
	int left_alone, r;

	json_object_object_add(o, "plan", plan);
	r = sd_bus_message_enter_container(m, 'a', "(sttsb)");
	while (r >= 0 && (r = sd_bus_message_read(m, "(sttsb)", &setting, &old, &new, &sentence,
						  &left_alone)) > 0) {
		struct json_object *item = json_object_new_object();

		render_add_text(item, "setting", setting);
		render_add_number(item, "old", old);
		render_add_number(item, "new", new);
		render_add_text(item, "sentence", sentence);
		json_object_object_add(item, "left_alone", json_object_new_boolean(left_alone));
		json_object_array_add(plan, item);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_verdict(sd_bus_message *m, struct json_object *o)
{
	struct json_object *verdict = NULL;
	const char *name, *sentence;
	uint64_t change;
	int r;

	r = sd_bus_message_read(m, "(tss)", &change, &name, &sentence);
	if (r < 0)
		return r;
	if (change != 0) {
		verdict = json_object_new_object();
		render_add_number(verdict, "change", change);
		render_add_text(verdict, "verdict", name);
		render_add_text(verdict, "sentence", sentence);
	}
	json_object_object_add(o, "verdict", verdict);
	return 0;
}

static uint64_t seconds_until(uint64_t usec)
{
	uint64_t now = clock_now_ns() / 1000;

	return usec > now ? (usec - now) / 1000000 : 0;
}

static int read_value(sd_bus_message *m, const char *property, struct json_object *o)
{
	static const char * const names[][2] = {
		{ "Name", "name" }, { "Node", "node" }, { "State", "state" },
		{ "Recordings", "recordings" }, { "LostRecords", "lost_records" },
	};
	const char *text;
	uint64_t number;
	char type;
	int r;

	if (strcmp(property, "Plan") == 0)
		return read_plan(m, o);
	if (strcmp(property, "Verdict") == 0)
		return read_verdict(m, o);
	if (strcmp(property, "NextRecordingUSecMonotonic") == 0) {
		r = sd_bus_message_read(m, "t", &number);
		if (r >= 0)
			render_add_number(o, "next_recording_seconds", seconds_until(number));
		return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(property, names[i][0]) != 0)
			continue;
		r = sd_bus_message_peek_type(m, &type, NULL);
		if (r >= 0 && type == 's') {
			r = sd_bus_message_read(m, "s", &text);
			if (r >= 0)
				render_add_text(o, names[i][1], text);
		} else if (r >= 0) {
			r = sd_bus_message_read(m, "t", &number);
			if (r >= 0)
				render_add_number(o, names[i][1], number);
		}
		return r;
	}
	/* Of a daemon that is newer. */
	return sd_bus_message_skip(m, NULL);
}

static int read_properties(sd_bus_message *m, struct json_object *o)
{
	const char *property, *contents;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "{sv}");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &property);
		if (r >= 0)
			r = sd_bus_message_peek_type(m, NULL, &contents);
		if (r >= 0)
			r = sd_bus_message_enter_container(m, 'v', contents);
		if (r >= 0)
			r = read_value(m, property, o);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* One object: the properties of the one interface that is a device's. */
static int read_object(sd_bus_message *m, struct json_object *list)
{
	const char *path, *interface;
	int r;

	r = sd_bus_message_read(m, "o", &path);
	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "{sa{sv}}");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sa{sv}")) > 0) {
		r = sd_bus_message_read(m, "s", &interface);
		if (r >= 0 && strcmp(interface, BUS_DEVICE) == 0) {
			struct json_object *o = json_object_new_object();

			render_add_text(o, "path", path);
			json_object_array_add(list, o);
			r = read_properties(m, o);
		} else if (r >= 0) {
			r = sd_bus_message_skip(m, "a{sv}");
		}
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Return: an exit code; @ret has a list of all devices then. */
static int list_devices(sd_bus *bus, struct json_object **ret)
{
	_cleanup_(json_object_putp) struct json_object *list = json_object_new_array();
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r;

	r = get_devices(bus, &m);
	if (r != EXIT_DONE)
		return r;
	r = sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}")) > 0) {
		r = read_object(m, list);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r < 0) {
		log_errno(r, "fullstriped's answer");
		return EXIT_FAILED;
	}
	*ret = list;
	list = NULL;
	return EXIT_DONE;
}

static const char *text_of(const struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key)) ?: "";
}

static const char *plan_in_words(const struct json_object *o, char text[static 32])
{
	const struct json_object *plan = json_object_object_get(o, "plan");
	size_t n = plan ? json_object_array_length(plan) : 0, changes = 0;

	if (n == 0)
		return "none yet";
	for (size_t i = 0; i < n; i++) {
		const struct json_object *item = json_object_array_get_idx(plan, i);

		changes += strcmp(text_of(item, "old"), text_of(item, "new")) != 0 &&
			   !json_object_get_boolean(json_object_object_get(item, "left_alone"));
	}
	if (changes == 0)
		return "as it is";
	snprintf(text, 32, "%zu change%s", changes, changes == 1 ? "" : "s");
	return text;
}

static int print_table(const struct json_object *devices)
{
	static const struct table_column columns[] = {
		{ "NAME", 0 }, { "NODE", 0 }, { "STATE", 0 }, { "NEXT", SCOLS_FL_RIGHT },
		{ "RECORDINGS", SCOLS_FL_RIGHT }, { "LOST", SCOLS_FL_RIGHT }, { "PLAN", 0 },
		{ "VERDICT", 0 },
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table =
		table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		const struct json_object *o = json_object_array_get_idx(devices, i);
		char next[32], plan[32];
		const char * const cells[] = {
			text_of(o, "name"), text_of(o, "node"), text_of(o, "state"), next,
			text_of(o, "recordings"), text_of(o, "lost_records"),
			plan_in_words(o, plan),
			text_of(json_object_object_get(o, "verdict"), "verdict"),
		};

		snprintf(next, sizeof(next), "%.20s s", text_of(o, "next_recording_seconds"));
		if (table_add_line(table, cells, ARRAY_SIZE(cells)) < 0)
			return -ENOMEM;
	}
	return scols_print_table(table);
}

static int print_status(const char *version, const char *mode, struct json_object *devices,
			bool json)
{
	_cleanup_(json_object_putp) struct json_object *o = NULL;
	size_t n = json_object_array_length(devices);
	int r;

	if (json) {
		o = json_object_new_object();
		render_add_text(o, "version", version);
		render_add_text(o, "mode", mode);
		json_object_object_add(o, "devices", json_object_get(devices));
		puts(render_text(o));
		return EXIT_DONE;
	}
	printf("fullstriped %s, mode %s, %zu device%s watched\n", version, mode, n,
	       n == 1 ? "" : "s");
	r = n > 0 ? print_table(devices) : 0;
	if (r < 0)
		log_errno(r, "the table");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int status(sd_bus *bus, const struct options *o)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(json_object_putp) struct json_object *devices = NULL;
	_cleanup_free_ char *version = NULL, *mode = NULL;
	int r;

	r = sd_bus_get_property_string(bus, BUS_NAME, BUS_PATH, BUS_MANAGER, "Version", &error,
				       &version);
	if (r >= 0)
		r = sd_bus_get_property_string(bus, BUS_NAME, BUS_PATH, BUS_MANAGER, "Mode",
					       &error, &mode);
	if (r < 0)
		return say_error(&error, r, "status");
	r = list_devices(bus, &devices);
	return r == EXIT_DONE ? print_status(version, mode, devices, o->json) : r;
}

static int reload(sd_bus *bus, const struct options *o)
{
	(void)o;
	return call(bus, BUS_PATH, BUS_MANAGER, "Reload", NULL);
}

static int set_mode(sd_bus *bus, const struct options *o)
{
	return call(bus, BUS_PATH, BUS_MANAGER, "SetMode", o->argument);
}

/* By its name, or by whatever leads to its node. */
static bool is_named(const struct json_object *o, const char *text)
{
	_cleanup_free_ char *real = realpath(text, NULL);
	const char *name = text;

	if (strncmp(name, "/dev/mapper/", strlen("/dev/mapper/")) == 0)
		name += strlen("/dev/mapper/");
	return strcmp(text_of(o, "name"), name) == 0 || strcmp(text_of(o, "node"), text) == 0 ||
	       (real && strcmp(text_of(o, "node"), real) == 0);
}

static int record(sd_bus *bus, const struct options *o)
{
	_cleanup_(json_object_putp) struct json_object *devices = NULL;
	int r;

	r = list_devices(bus, &devices);
	if (r != EXIT_DONE)
		return r;
	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		const struct json_object *d = json_object_array_get_idx(devices, i);

		if (is_named(d, o->argument))
			return call(bus, text_of(d, "path"), BUS_DEVICE, "RecordNow", NULL);
	}
	log_warning("'%s' is no device that fullstriped watches: fullstripectl daemon status has them",
		    o->argument);
	return EXIT_FAILED;
}

/* As the daemon will see it. */
static int check_mode(const char *mode, char why[static CONFIG_WHY])
{
	struct config config = { 0 };

	return config_set(&config, "fullstriped", "mode", mode, why);
}

/*
 * What can be done; @argument asks for what it takes, and @check, if there is one, tells why that
 * cannot be.
 */
static const struct command {
	const char *name;
	const char *argument;
	int (*check)(const char *argument, char why[static CONFIG_WHY]);
	int (*run)(sd_bus *bus, const struct options *o);
} commands[] = {
	{ "status", NULL, NULL, status },
	{ "reload", NULL, NULL, reload },
	{ "mode", "advise or auto?", check_mode, set_mode },
	{ "record", "which device? See fullstripectl daemon status", NULL, record },
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	const struct command *command;
	char why[CONFIG_WHY];

	switch (key) {
	case OPTION_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->argument)
			argp_error(state, "'%s' is one argument too many", arg);
		else if (o->command)
			o->argument = arg;
		else
			o->command = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->command)
			o->command = "status";
		command = find_command(o->command);
		if (!command)
			argp_error(state, "'%s': status, reload, mode or record", o->command);
		else if (command->argument && !o->argument)
			argp_error(state, "%s: %s", o->command, command->argument);
		else if (command->check && command->check(o->argument, why) < 0)
			argp_error(state, "the %s", why);
		else if (!command->argument && o->argument)
			argp_error(state, "'%s' is one argument too many", o->argument);
		else if (o->json && strcmp(o->command, "status") != 0)
			argp_error(state, "--json is for status");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[status | reload | mode advise|auto | record DEV]",
	.doc = "Ask the fullstriped that runs what it does (status, which all may), let it read its configuration again, set its mode until the next reload, or record DEV now.\vExit status: 0 done, 1 failed or not permitted, 2 wrong usage, 6 fullstriped does not run, or there is no D-Bus.",
};

int verb_daemon(int argc, char **argv)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	struct options o = { .json = false };
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = sd_bus_open_system(&bus);
	if (r < 0) {
		log_errno(r, "fullstriped cannot be asked, as there is no D-Bus: systemctl status dbus");
		return EXIT_NO_DAEMON;
	}
	return find_command(o.command)->run(bus, &o);
}
