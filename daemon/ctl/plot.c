// SPDX-License-Identifier: GPL-2.0
/* fullstripectl plot: one picture of recorded workloads. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "embedded.h"
#include "lib/exit_codes.h"
#include "lib/plot.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/save.h"
#include "subjects.h"

/* Draws SVG by cairo. Its package is what a user is told to install. */
#define CONVERTER		"rsvg-convert"
#define CONVERTER_PACKAGE	"librsvg2-bin"

DEFINE_CLEANUP(struct subjects *, subjects_free)

extern char **environ;

enum format {
	FORMAT_SVG,
	FORMAT_PNG,
	FORMAT_PDF,
	FORMATS,
};

static const char * const format_names[] = { "svg", "png", "pdf" };

struct options {
	struct subject_options subjects;
	const struct plot_kind *kind;
	const char *output;
	enum format format;
};

enum {
	OPTION_KIND = 256,
};

static const struct argp_option option_list[] = {
	{ "kind", OPTION_KIND, "KIND", 0, "What to draw; 'list' lists what there is", 0 },
	{ "output", 'o', "FILE", 0, "FILE.svg, .png or .pdf; - is standard output", 0 },
	{ 0 },
};

/* With what iowatcher and btt call them. */
static void list_kinds(void)
{
	for (unsigned int i = 0; plot_kind_at(i); i++) {
		const struct plot_kind *kind = plot_kind_at(i);

		printf("%-14s %-12s %s\n", kind->name, kind->alias ?: "", kind->title);
	}
	exit(EXIT_DONE);
}

static const struct plot_kind *parse_kind(const char *name, const struct argp_state *state)
{
	const struct plot_kind *kind = plot_kind_find(name);
	GString *known;

	if (strcmp(name, "list") == 0)
		list_kinds();
	if (kind)
		return kind;
	known = g_string_new(NULL);
	for (unsigned int i = 0; plot_kind_at(i); i++)
		g_string_append_printf(known, "%s%s", i ? ", " : "", plot_kind_at(i)->name);
	argp_error(state, "--kind '%s': one of %s", name, known->str);
	g_string_free(known, TRUE);
	return NULL;
}

static enum format parse_output(const char *path, const struct argp_state *state)
{
	const char *end = strrchr(path, '.');

	if (strcmp(path, "-") == 0)
		return FORMAT_SVG;
	for (unsigned int i = 0; end && i < FORMATS; i++)
		if (g_ascii_strcasecmp(end + 1, format_names[i]) == 0)
			return i;
	argp_error(state, "--output '%s': a file that ends in .svg, .png or .pdf, or -", path);
	return FORMAT_SVG;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->subjects;
		return 0;
	case OPTION_KIND:
		o->kind = parse_kind(arg, state);
		return 0;
	case 'o':
		o->output = arg;
		o->format = parse_output(arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!o->kind)
			argp_error(state, "--kind is missing");
		if (!o->output)
			argp_error(state, "--output is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[--label NAME] FILE...",
	.doc = "Draw what is in blktrace recordings. FILEs are merged by time; those behind a --label are a recording of their own, and all are drawn into one picture.\vExit status: 0 done, 1 failed, 2 wrong usage, 3 a file is damaged (what could be read was used), 4 there is nothing to draw.",
	.children = (const struct argp_child[]) { { &subjects_argp, 0, NULL, 0 }, { 0 } },
};

/* The converter reads @svg, which is a file, and writes to @output. */
static int run_converter(int svg, enum format format, int output)
{
	char *const argv[] = {
		(char *)CONVERTER, (char *)"--format", (char *)format_names[format],
		(char *)"--zoom", (char *)(format == FORMAT_PNG ? "2" : "1"), NULL,
	};
	posix_spawn_file_actions_t actions;
	int status, r;
	pid_t pid;

	r = posix_spawn_file_actions_init(&actions);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, svg, STDIN_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawnp(&pid, CONVERTER, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		return log_errno(r, CONVERTER ", which draws png and pdf (package " CONVERTER_PACKAGE ")");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return log_errno(errno, CONVERTER);
	if (status != 0)
		return log_errno(EIO, CONVERTER " ended with status %d",
				 WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	return 0;
}

static int convert(const struct save *to, enum format format, const GString *svg)
{
	_cleanup_close_ int fd = memfd_create("svg", MFD_CLOEXEC);
	const struct save memory = { .fd = fd };
	int r;

	if (fd < 0)
		return log_errno(errno, "svg");
	r = save_write(&memory, svg->str, svg->len);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = log_errno(errno, "svg");
	return r < 0 ? r : run_converter(fd, format, to->fd);
}

static int write_picture(const struct options *o, const GString *svg)
{
	_cleanup_(save_end) struct save save;
	int r = save_begin(&save, o->output);

	if (r == 0 && o->format == FORMAT_SVG)
		r = save_write(&save, svg->str, svg->len);
	else if (r == 0)
		r = convert(&save, o->format, svg);
	return r < 0 ? r : save_commit(&save);
}

static int draw(const struct options *o, const struct subjects *s, struct chart **ret)
{
	if (o->kind->each && s->n > 1) {
		log_warning("%s: a picture is of one device, and there are %u: choose one with --device, or draw one recording",
			    o->kind->name, s->n);
		return EXIT_USAGE;
	}
	*ret = o->kind->draw(o->kind, s->plots, s->n);
	if (!*ret) {
		log_warning("%s: %s", o->kind->name, o->kind->missing);
		return EXIT_NOTHING;
	}
	return EXIT_DONE;
}

int verb_plot(int argc, char **argv)
{
	_cleanup_(subjects_freep) struct subjects *subjects = NULL;
	struct options o = { .kind = NULL };
	struct chart *chart = NULL;
	GString *svg;
	char *css;
	int r, code;

	argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &o);
	code = subjects_read(&o.subjects, &subjects);
	if (!subjects)
		return code;
	r = draw(&o, subjects, &chart);
	if (r != EXIT_DONE)
		return code == EXIT_DONE ? r : code;
	svg = g_string_new(NULL);
	css = EMBEDDED_TEXT(chart_css);
	chart_svg_file(svg, chart, css);
	r = write_picture(&o, svg);
	g_free(css);
	g_string_free(svg, TRUE);
	chart_free(chart);
	return r < 0 ? EXIT_FAILED : code;
}
