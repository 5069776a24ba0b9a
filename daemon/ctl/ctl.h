/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of fullstripectl. Each gets its own arguments, its name first, and returns an exit code. */
#ifndef FULLSTRIPE_CTL_H
#define FULLSTRIPE_CTL_H

int verb_apply(int argc, char **argv);
int verb_create(int argc, char **argv);
int verb_daemon(int argc, char **argv);
int verb_explain(int argc, char **argv);
int verb_files(int argc, char **argv);
int verb_history(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_monitor(int argc, char **argv);
int verb_plan(int argc, char **argv);
int verb_plot(int argc, char **argv);
int verb_profile(int argc, char **argv);
int verb_refresh(int argc, char **argv);
int verb_remove(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_rollback(int argc, char **argv);
int verb_rule(int argc, char **argv);
int verb_simulate(int argc, char **argv);
int verb_status(int argc, char **argv);
int verb_streams(int argc, char **argv);
int verb_top(int argc, char **argv);
int verb_verify(int argc, char **argv);

#endif
