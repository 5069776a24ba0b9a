// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "members.h"

/* A plug's requests leave when they are so many. */
#define PLUG_REQUESTS		64

struct request {
	TAILQ_ENTRY(request) link;	/* in the plug, or in its member's queue */
	struct member_bio bio;
	/* Of what was joined to it. */
	size_t n, room;
	void **tokens;
};

TAILQ_HEAD(senders, sender);

struct member {
	struct requests queue;		/* the first being done */
	uint64_t ends;			/* when the first is done */
	unsigned int taken;		/* places of the queue, with those in plugs */
	struct senders waiting;		/* for one */
};

struct members {
	unsigned int n;
	uint64_t service_ns;
	unsigned int queue_requests;
	struct senders granted;		/* that may go on */
	struct request *ended;
	struct member_counts counts;
	struct member list[];
};

/**
 * members_new() - members that have nothing to do
 * @n: how many
 * @service_ns: what each takes for a request
 * @queue_requests: how many requests each one's queue takes (nr_requests); not 0
 * @ret: the members
 *
 * Return: 0 or -ENOMEM.
 */
int members_new(unsigned int n, uint64_t service_ns, unsigned int queue_requests,
		struct members **ret)
{
	struct members *ms = calloc(1, sizeof(*ms) + n * sizeof(ms->list[0]));

	if (!ms)
		return -ENOMEM;
	ms->n = n;
	ms->service_ns = service_ns;
	ms->queue_requests = queue_requests;
	TAILQ_INIT(&ms->granted);
	for (unsigned int i = 0; i < n; i++) {
		TAILQ_INIT(&ms->list[i].queue);
		TAILQ_INIT(&ms->list[i].waiting);
	}
	*ret = ms;
	return 0;
}

static void request_free(struct request *request)
{
	if (request)
		free(request->tokens);
	free(request);
}

static void free_all(struct requests *requests)
{
	struct request *request;

	while ((request = TAILQ_FIRST(requests))) {
		TAILQ_REMOVE(requests, request, link);
		request_free(request);
	}
}

/**
 * sender_init() - somebody who has nothing to send
 * @s: to be initialized
 * @owner: of use to the caller only
 */
void sender_init(struct sender *s, void *owner)
{
	*s = (struct sender) { .granted = -1, .owner = owner };
	TAILQ_INIT(&s->plug);
}

/**
 * sender_free() - free what is in the plug
 * @s: the sender; it does not wait, or its members are to be freed, too
 */
void sender_free(struct sender *s)
{
	free_all(&s->plug);
}

/**
 * members_free() - free members and what they have to do
 * @ms: the members or NULL
 *
 * Return: NULL.
 */
struct members *members_free(struct members *ms)
{
	if (!ms)
		return NULL;
	for (unsigned int i = 0; i < ms->n; i++)
		free_all(&ms->list[i].queue);
	request_free(ms->ended);
	free(ms);
	return NULL;
}

static int add_token(struct request *request, void *token)
{
	if (request->n == request->room) {
		size_t room = request->room ? 2 * request->room : 4;
		void **tokens = reallocarray(request->tokens, room, sizeof(tokens[0]));

		if (!tokens)
			return -ENOMEM;
		request->tokens = tokens;
		request->room = room;
	}
	request->tokens[request->n++] = token;
	return 0;
}

/* Make one of a request and a bio. Return: 1 if they are, 0 if they cannot be, or -ENOMEM. */
static int join(struct request *request, const struct member_bio *bio, void *token)
{
	struct member_bio *to = &request->bio;
	int k;

	if (bio->apart || to->write != bio->write || to->first + to->blocks != bio->first ||
	    to->blocks + bio->blocks > REQUEST_BLOCKS)
		return 0;
	k = add_token(request, token);
	if (k < 0)
		return k;
	to->blocks += bio->blocks;
	return 1;
}

static struct request *request_new(const struct member_bio *bio, void *token)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->bio = *bio;
	if (add_token(request, token) < 0) {
		free(request);
		return NULL;
	}
	return request;
}

static void dispatch(struct members *ms, struct request *request, uint64_t now)
{
	struct member *m = &ms->list[request->bio.member];

	if (TAILQ_EMPTY(&m->queue))
		m->ends = now + ms->service_ns;
	TAILQ_INSERT_TAIL(&m->queue, request, link);
	if (request->bio.write)
		ms->counts.writes++;
	else
		ms->counts.reads++;
}

/**
 * members_unplug() - let what is in a plug go
 * @ms: the members
 * @s: whose plug
 * @now: when
 */
void members_unplug(struct members *ms, struct sender *s, uint64_t now)
{
	struct request *request;

	while ((request = TAILQ_FIRST(&s->plug))) {
		TAILQ_REMOVE(&s->plug, request, link);
		dispatch(ms, request, now);
	}
	s->nr_plugged = 0;
}

static struct request *plugged(const struct sender *s, unsigned int member)
{
	struct request *request;

	TAILQ_FOREACH_REVERSE(request, &s->plug, requests, link)
		if (request->bio.member == member)
			return request;
	return NULL;
}

/* The last request that a member was given, if it has not begun it. */
static struct request *waiting(const struct member *m)
{
	struct request *last = TAILQ_LAST(&m->queue, requests);

	return last == TAILQ_FIRST(&m->queue) ? NULL : last;
}

/* Somebody's place has become free. */
static void pass_on_place(struct members *ms, struct member *m)
{
	struct sender *s = TAILQ_FIRST(&m->waiting);

	if (!s) {
		m->taken--;
		return;
	}
	TAILQ_REMOVE(&m->waiting, s, link);
	TAILQ_INSERT_TAIL(&ms->granted, s, link);
	s->waits = false;
	s->granted = m - ms->list;
}

/* Have a place in a member's queue. Return: false if the sender has to wait for it. */
static bool take_place(struct members *ms, struct sender *s, unsigned int member, uint64_t now)
{
	struct member *m = &ms->list[member];

	if (s->granted == (int)member) {
		s->granted = -1;
		return true;
	}
	if (m->taken < ms->queue_requests) {
		m->taken++;
		return true;
	}
	members_unplug(ms, s, now);
	s->waits = true;
	TAILQ_INSERT_TAIL(&m->waiting, s, link);
	return false;
}

/**
 * members_send() - send a bio
 * @ms: the members
 * @s: who sends it, and does not wait
 * @bio: copied
 * @token: what members_end() gives back when it is done, as often as it was given here
 * @now: when
 *
 * Return: 1, or 0 if there is no place: then it is to be sent again, before all others, when
 * members_granted() says so; or -ENOMEM.
 */
int members_send(struct members *ms, struct sender *s, const struct member_bio *bio, void *token,
		 uint64_t now)
{
	struct request *request = plugged(s, bio->member) ?: waiting(&ms->list[bio->member]);
	int k = request ? join(request, bio, token) : 0;

	if (k > 0 && s->granted == (int)bio->member) {
		s->granted = -1;
		pass_on_place(ms, &ms->list[bio->member]);
	}
	if (k != 0)
		return k;
	if (!take_place(ms, s, bio->member, now))
		return 0;
	request = TAILQ_LAST(&s->plug, requests);
	if (s->nr_plugged == PLUG_REQUESTS || (request && request->bio.blocks >= PLUG_BLOCKS))
		members_unplug(ms, s, now);
	request = request_new(bio, token);
	if (!request)
		return -ENOMEM;
	s->nr_plugged++;
	TAILQ_INSERT_TAIL(&s->plug, request, link);
	return 1;
}

/**
 * members_granted() - who may go on
 * @ms: the members
 *
 * Return: a sender that waited for a place and now has one, each once; or NULL.
 */
struct sender *members_granted(struct members *ms)
{
	struct sender *s = TAILQ_FIRST(&ms->granted);

	if (s)
		TAILQ_REMOVE(&ms->granted, s, link);
	return s;
}

/* Return: the number of the member that is done next, or -1. */
static int next_member(const struct members *ms)
{
	int next = -1;

	for (unsigned int i = 0; i < ms->n; i++)
		if (!TAILQ_EMPTY(&ms->list[i].queue) && (next < 0 || ms->list[i].ends < ms->list[next].ends))
			next = i;
	return next;
}

/**
 * members_next() - when a request ends next
 * @ms: the members
 *
 * Return: the time, UINT64_MAX if there is none.
 */
uint64_t members_next(const struct members *ms)
{
	int next = next_member(ms);

	return next < 0 ? UINT64_MAX : ms->list[next].ends;
}

/**
 * members_end() - end the request that ends next
 * @ms: the members; one has something to do
 * @tokens: set to those of the request; valid until the next call
 *
 * Return: how many.
 */
size_t members_end(struct members *ms, void ***tokens)
{
	struct member *m = &ms->list[next_member(ms)];
	struct request *request = TAILQ_FIRST(&m->queue);

	TAILQ_REMOVE(&m->queue, request, link);
	m->ends += ms->service_ns;
	pass_on_place(ms, m);
	request_free(ms->ended);
	ms->ended = request;
	*tokens = request->tokens;
	return request->n;
}

/**
 * members_counts() - what there was so far
 * @ms: the members
 */
struct member_counts members_counts(const struct members *ms)
{
	return ms->counts;
}
