// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bus_authorize.h"
#include "bus_names.h"
#include "cleanup.h"

#define QUESTIONS_MAX	64

/* Of polkit's CheckAuthorization: it may be slow, or ask a person, who has so long to answer. */
#define ALLOW_INTERACTION	1
#define POLKIT_USEC		(25 * 1000000ull)
#define PERSON_USEC		(120 * 1000000ull)

/**
 * struct question - one call, as long as polkit thinks about it
 * @questions: all of them
 * @call: the call
 * @then: what is done if it may be
 * @data: its argument
 */
struct question {
	struct bus_questions *questions;
	sd_bus_message *call;
	sd_bus_message_handler_t then;
	void *data;
};

static void free_question(void *data)
{
	struct question *q = data;

	q->questions->n--;
	sd_bus_message_unref(q->call);
	free(q);
}

static int refuse(sd_bus_message *call)
{
	return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_ACCESS_DENIED,
					  "%s.%s() is for root, and for whom polkit lets do " BUS_ACTION_CONTROL,
					  sd_bus_message_get_interface(call),
					  sd_bus_message_get_member(call));
}

static int on_answer(sd_bus_message *answer, void *data, sd_bus_error *ret_error)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	const struct question *q = data;
	int may, could, r;

	(void)ret_error;
	/* polkit is not there, or does not answer: nobody let it be done. */
	if (sd_bus_message_is_method_error(answer, NULL))
		return refuse(q->call);
	r = sd_bus_message_enter_container(answer, 'r', "bba{ss}");
	if (r > 0)
		r = sd_bus_message_read(answer, "bb", &may, &could);
	if (r <= 0 || (!may && !could))
		return refuse(q->call);
	if (!may)
		return sd_bus_reply_method_errorf(q->call,
						  SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
						  "%s.%s() takes a password, and there is nobody to ask for it: call it as root",
						  sd_bus_message_get_interface(q->call),
						  sd_bus_message_get_member(q->call));
	r = q->then(q->call, q->data, &error);
	if (sd_bus_error_is_set(&error))
		return sd_bus_reply_method_error(q->call, &error);
	return r < 0 ? sd_bus_reply_method_errno(q->call, r, NULL) : r;
}

static int ask(struct bus_questions *questions, sd_bus_message *m, sd_bus_message_handler_t then,
	       void *data)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
	sd_bus *bus = sd_bus_message_get_bus(m);
	int interaction = sd_bus_message_get_allow_interactive_authorization(m) > 0;
	struct question *q;
	sd_bus_slot *slot;
	int r;

	r = sd_bus_message_new_method_call(bus, &message, "org.freedesktop.PolicyKit1",
					   "/org/freedesktop/PolicyKit1/Authority",
					   "org.freedesktop.PolicyKit1.Authority",
					   "CheckAuthorization");
	if (r >= 0)
		r = sd_bus_message_append(message, "(sa{sv})sa{ss}us",
					  "system-bus-name", 1, "name", "s",
					  sd_bus_message_get_sender(m),
					  BUS_ACTION_CONTROL, 0,
					  interaction ? ALLOW_INTERACTION : 0, "");
	if (r < 0)
		return r;
	q = malloc(sizeof(*q));
	if (!q)
		return -ENOMEM;
	*q = (struct question) { questions, sd_bus_message_ref(m), then, data };
	questions->n++;
	r = sd_bus_call_async(bus, &slot, message, on_answer, q, interaction ? PERSON_USEC : POLKIT_USEC);
	if (r < 0) {
		free_question(q);
		return r;
	}
	sd_bus_slot_set_destroy_callback(slot, free_question);
	sd_bus_slot_set_floating(slot, true);
	sd_bus_slot_unref(slot);
	return 1;
}

/**
 * bus_authorize() - do what a call asks for, if who calls may have it done
 * @questions: to polkit
 * @m: the call
 * @then: does it; called from here, or later, when polkit has answered
 * @data: its argument
 * @error: why it is not done, if that is known now
 *
 * On D-Bus sd-bus knows who calls by the user and not by the capabilities, so CAP_SYS_ADMIN
 * is what root has.
 *
 * Return: as a handler of sd-bus.
 */
int bus_authorize(struct bus_questions *questions, sd_bus_message *m,
		  sd_bus_message_handler_t then, void *data, sd_bus_error *error)
{
	int r = sd_bus_query_sender_privilege(m, CAP_SYS_ADMIN);

	if (r < 0)
		return r;
	if (r > 0)
		return then(m, data, error);
	if (!sd_bus_message_get_sender(m))
		return refuse(m);
	if (questions->n == QUESTIONS_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "polkit is being asked %d times already, try again",
					 QUESTIONS_MAX);
	return ask(questions, m, then, data);
}
