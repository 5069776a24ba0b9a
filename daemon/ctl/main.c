// SPDX-License-Identifier: GPL-2.0
/* fullstripectl: the command that people use. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "output.h"
#include "src/log.h"

const char *argp_program_version = "fullstripectl " FULLSTRIPE_VERSION;

static const struct verb {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "create", "put a fullstripe device on an array", verb_create },
	{ "refresh", "let a device follow its array, which grew or was reshaped", verb_refresh },
	{ "remove", "take a fullstripe device away, its data stays on the array", verb_remove },
	{ "list", "the fullstripe devices and what they are set to", verb_list },
	{ "status", "how the devices are: what they hold, what became of the writes", verb_status },
	{ "files", "the files that have writes outstanding, and which of them are held", verb_files },
	{ "streams", "the streams of reads that are read ahead for", verb_streams },
	{ "top", "what the devices do now, in a terminal: bandwidth, full stripes, memory, who waits", verb_top },
	{ "monitor", "what happens to the devices, as it happens", verb_monitor },
	{ "profile", "the five characteristics of a recorded workload", verb_profile },
	{ "plot", "a picture of recorded workloads: seeks, bandwidth, latency and others", verb_plot },
	{ "report", "all pictures, the profile and the plan, as one page", verb_report },
	{ "simulate", "what other sizes would have made of a recorded workload", verb_simulate },
	{ "plan", "what a device should be set to for its workload", verb_plan },
	{ "explain", "why: what was measured, the whole sum, each limit", verb_explain },
	{ "apply", "set a device for its workload, all values or none", verb_apply },
	{ "rollback", "take the last change back", verb_rollback },
	{ "verify", "whether a device still is as it was set", verb_verify },
	{ "history", "what was changed in a device, when, and why", verb_history },
	{ "daemon", "what fullstriped does now, and telling it: reload, mode, record", verb_daemon },
	{ "rule", "stripe width and cluster size of an array that need not exist", verb_rule },
};

#define N_VERBS	ARRAY_SIZE(verbs)

static void print_help(FILE *file)
{
	fputs("Usage: fullstripectl VERB [OPTION...] [ARGUMENT...]\n\n", file);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(file, "  %-9s %s\n", verbs[i].name, verbs[i].help);
	fputs("\n  --help, --version; fullstripectl VERB --help tells more. See fullstripectl(8).\n",
	      file);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	char name[64];

	argp_program_version = NULL;
	/* As argp's messages and help have it. */
	snprintf(name, sizeof(name), "fullstripectl %s", verb->name);
	argv[0] = name;
	return verb->run(argc, argv);
}

/* Some errors are told only now. Who closed a pipe has read what it wanted: that is none. */
static void end_output(void)
{
	int r = output_flush();

	if (r == 0 && close(STDOUT_FILENO) < 0 && errno != EBADF)
		r = -errno;
	if (r == 0 || r == -EPIPE)
		return;
	log_errno(r, "standard output could not be written, and what was printed is not complete");
	_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	/* Not below, as argp ends the program, too. */
	atexit(end_output);
	argp_err_exit_status = EXIT_USAGE;
	/* Help is to fit on one screen: without what argp says of short options, and of --version, each time. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0) {
		print_help(stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts(argp_program_version);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < N_VERBS; i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return run(&verbs[i], argc - 1, argv + 1);
	fprintf(stderr, "%s: '%s' is no verb (known:", program_invocation_short_name, argv[1]);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(stderr, " %s", verbs[i].name);
	fputs(")\n", stderr);
	return EXIT_USAGE;
}
