// SPDX-License-Identifier: GPL-2.0
/* The model of plugs and of members' queues, by cases counted by hand. */
#include "fixture.h"
#include "lib/members.h"

#define SERVICE		100

static char token;

struct bench {
	struct members *members;
	struct sender a, b, c;
};

static struct bench *new_bench(unsigned int queue_requests)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_non_null(bench);
	assert_int_equal(members_new(2, SERVICE, queue_requests, &bench->members), 0);
	sender_init(&bench->a, "a");
	sender_init(&bench->b, "b");
	sender_init(&bench->c, "c");
	return bench;
}

static void free_bench(struct bench *bench)
{
	sender_free(&bench->a);
	sender_free(&bench->b);
	sender_free(&bench->c);
	members_free(bench->members);
	free(bench);
}

static int send_to(struct bench *bench, struct sender *s, unsigned int member, uint64_t first,
		   uint64_t blocks)
{
	return members_send(bench->members, s, &(struct member_bio) {
		.member = member, .write = true, .first = first, .blocks = blocks,
	}, &token, 0);
}

static int send(struct bench *bench, struct sender *s, uint64_t first, uint64_t blocks)
{
	return send_to(bench, s, 0, first, blocks);
}

static void send_at_once(struct bench *bench, struct sender *s, uint64_t first)
{
	assert_int_equal(send(bench, s, first, 1), 1);
	members_unplug(bench->members, s, 0);
}

static size_t end(struct bench *bench)
{
	void **tokens;
	size_t n = members_end(bench->members, &tokens);

	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(tokens[i], &token);
	return n;
}

static uint64_t sent(const struct bench *bench)
{
	return members_counts(bench->members).writes;
}

/* Each token comes back as often as it was given, also where all became one request. */
static void test_plug_joins(void **state)
{
	struct bench *bench = new_bench(64);

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(send(bench, &bench->a, i, 1), 1);
	assert_int_equal(send(bench, &bench->a, 4, 1), 1);
	assert_int_equal(sent(bench), 0);
	members_unplug(bench->members, &bench->a, 0);
	assert_int_equal(sent(bench), 2);
	assert_int_equal(end(bench), 3);
	assert_int_equal(end(bench), 1);
	assert_true(members_next(bench->members) == UINT64_MAX);
	free_bench(bench);
}

static void test_what_does_not_join(void **state)
{
	struct bench *bench = new_bench(64);
	struct member_bio read = { .first = 1, .blocks = 1 };
	struct member_bio apart = { .write = true, .apart = true, .first = 3, .blocks = 1 };

	(void)state;
	assert_int_equal(send(bench, &bench->a, 0, 1), 1);
	assert_int_equal(members_send(bench->members, &bench->a, &read, &token, 0), 1);
	assert_int_equal(send(bench, &bench->a, 2, 1), 1);
	assert_int_equal(members_send(bench->members, &bench->a, &apart, &token, 0), 1);
	assert_int_equal(send_to(bench, &bench->a, 1, 4, 1), 1);
	members_unplug(bench->members, &bench->a, 0);
	assert_int_equal(sent(bench), 4);
	assert_int_equal(members_counts(bench->members).reads, 1);
	free_bench(bench);
}

static void test_request_is_bounded(void **state)
{
	struct bench *bench = new_bench(64);

	(void)state;
	for (uint64_t i = 0; i <= REQUEST_BLOCKS; i++)
		assert_int_equal(send(bench, &bench->a, i, 1), 1);
	members_unplug(bench->members, &bench->a, 0);
	assert_int_equal(sent(bench), 2);
	assert_int_equal(end(bench), REQUEST_BLOCKS);
	assert_int_equal(end(bench), 1);
	free_bench(bench);
}

/* It leaves when there are 64 requests, or one of 128 KiB, and another comes. */
static void test_plug_is_bounded(void **state)
{
	struct bench *bench = new_bench(1000);

	(void)state;
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(send(bench, &bench->a, 2 * i, 1), 1);
	assert_int_equal(sent(bench), 0);
	assert_int_equal(send(bench, &bench->a, 1000, 1), 1);
	assert_int_equal(sent(bench), 64);
	assert_int_equal(send(bench, &bench->a, 1001, PLUG_BLOCKS - 1), 1);
	assert_int_equal(sent(bench), 64);
	assert_int_equal(send(bench, &bench->a, 2000, 1), 1);
	assert_int_equal(sent(bench), 65);
	free_bench(bench);
}

/* What waits in a member's queue is joined, what is being done is not. */
static void test_queue_joins(void **state)
{
	struct bench *bench = new_bench(64);

	(void)state;
	send_at_once(bench, &bench->a, 0);
	send_at_once(bench, &bench->a, 1);
	send_at_once(bench, &bench->a, 2);
	assert_int_equal(sent(bench), 2);
	assert_int_equal(end(bench), 1);
	assert_int_equal(end(bench), 2);
	free_bench(bench);
}

/* One after the other, and two members at one time. */
static void test_time(void **state)
{
	struct bench *bench = new_bench(64);

	(void)state;
	assert_true(members_next(bench->members) == UINT64_MAX);
	send_at_once(bench, &bench->a, 0);
	send_at_once(bench, &bench->a, 10);
	assert_int_equal(send_to(bench, &bench->a, 1, 0, 1), 1);
	members_unplug(bench->members, &bench->a, SERVICE / 2);
	assert_int_equal(members_next(bench->members), SERVICE);
	end(bench);
	assert_int_equal(members_next(bench->members), SERVICE + SERVICE / 2);
	end(bench);
	assert_int_equal(members_next(bench->members), 2 * SERVICE);
	end(bench);
	assert_true(members_next(bench->members) == UINT64_MAX);
	free_bench(bench);
}

/* Who finds no place lets go what it has, and waits behind those who came before. */
static void test_places(void **state)
{
	struct bench *bench = new_bench(1);

	(void)state;
	send_at_once(bench, &bench->a, 0);
	assert_int_equal(send_to(bench, &bench->a, 1, 0, 1), 1);
	assert_int_equal(sent(bench), 1);
	assert_int_equal(send(bench, &bench->a, 10, 1), 0);
	assert_true(bench->a.waits);
	assert_int_equal(sent(bench), 2);
	assert_int_equal(send(bench, &bench->b, 20, 1), 0);
	assert_null(members_granted(bench->members));

	end(bench);
	assert_ptr_equal(members_granted(bench->members), &bench->a);
	assert_null(members_granted(bench->members));
	assert_false(bench->a.waits);
	assert_int_equal(send(bench, &bench->c, 30, 1), 0);
	assert_int_equal(send(bench, &bench->a, 10, 1), 1);
	members_unplug(bench->members, &bench->a, SERVICE);
	end(bench);
	end(bench);
	assert_ptr_equal(members_granted(bench->members), &bench->b);
	assert_int_equal(send(bench, &bench->b, 20, 1), 1);
	members_unplug(bench->members, &bench->b, SERVICE);
	end(bench);
	assert_ptr_equal(members_granted(bench->members), &bench->c);
	assert_int_equal(send(bench, &bench->c, 30, 1), 1);
	members_unplug(bench->members, &bench->c, SERVICE);
	end(bench);
	/* The place is free again. */
	assert_int_equal(send(bench, &bench->a, 40, 1), 1);
	free_bench(bench);
}

/* Who was given a place and joins what waits needs none: the next one has it. */
static void test_place_is_passed_on(void **state)
{
	struct bench *bench = new_bench(3);

	(void)state;
	send_at_once(bench, &bench->a, 0);
	send_at_once(bench, &bench->a, 5);
	send_at_once(bench, &bench->a, 10);
	assert_int_equal(send(bench, &bench->b, 20, 1), 0);
	assert_int_equal(send(bench, &bench->c, 30, 1), 0);
	end(bench);
	assert_int_equal(send(bench, &bench->a, 11, 9), 1);
	assert_ptr_equal(members_granted(bench->members), &bench->b);
	assert_int_equal(send(bench, &bench->b, 20, 1), 1);
	assert_int_equal(sent(bench), 3);
	assert_ptr_equal(members_granted(bench->members), &bench->c);
	assert_int_equal(send(bench, &bench->c, 30, 1), 1);
	members_unplug(bench->members, &bench->c, SERVICE);
	assert_int_equal(sent(bench), 4);
	end(bench);
	assert_int_equal(end(bench), 3);
	free_bench(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plug_joins),
		cmocka_unit_test(test_what_does_not_join),
		cmocka_unit_test(test_request_is_bounded),
		cmocka_unit_test(test_plug_is_bounded),
		cmocka_unit_test(test_queue_joins),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_place_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
