// SPDX-License-Identifier: GPL-2.0
/*
 * What no well-behaved reader of the module's netlink family does.
 *
 *	genl devices			list the devices: name and stripe width
 *	genl bad SEED COUNT		send COUNT malformed requests; those that must fail shall
 *	genl leave			begin a list of files, read it on when a line comes in
 *	genl write DEV COUNT BYTES	COUNT processes that write 4 KiB each, so many BYTES apart
 *
 * Exit status: 0, 1 if something was not as it has to be, 2 wrong usage or no such family.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-fullstripe.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int family;

static int open_family(void)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (!sock || genl_connect(sock) < 0)
		return -1;
	family = genl_ctrl_resolve(sock, DM_FULLSTRIPE_FAMILY_NAME);
	return family < 0 ? -1 : nl_socket_get_fd(sock);
}

/* One request that is being put together. */
struct request {
	union {
		struct nlmsghdr header;
		unsigned char bytes[8192];
	};
	size_t len;
};

static void begin(struct request *r, int command, int flags)
{
	struct genlmsghdr genl = { .cmd = command, .version = DM_FULLSTRIPE_FAMILY_VERSION };

	memset(r, 0, sizeof(*r));
	r->header.nlmsg_type = family;
	r->header.nlmsg_flags = flags;
	r->len = NLMSG_HDRLEN + sizeof(genl);
	memcpy(r->bytes + NLMSG_HDRLEN, &genl, sizeof(genl));
	r->header.nlmsg_len = r->len;
}

static void add_attribute(struct request *r, int type, const void *data, size_t len)
{
	struct nlattr a = { .nla_type = type, .nla_len = NLA_HDRLEN + len };

	memcpy(r->bytes + r->len, &a, sizeof(a));
	if (len)
		memcpy(r->bytes + r->len + NLA_HDRLEN, data, len);
	r->len += NLA_ALIGN(NLA_HDRLEN + len);
	r->header.nlmsg_len = r->len;
}

static void add_random(struct request *r, size_t len)
{
	for (size_t i = 0; i < len; i++)
		r->bytes[r->len++] = random();
	r->header.nlmsg_len = r->len;
}

static int any_dump(void)
{
	return DM_FULLSTRIPE_CMD_DEVICE_GET + random() % 3;
}

#define DUMP	(NLM_F_REQUEST | NLM_F_DUMP)

/* Return: whether it must fail. */
static bool make_bad(struct request *r, unsigned int kind)
{
	unsigned char text[600];

	memset(text, 'd', sizeof(text));
	begin(r, any_dump(), DUMP);
	switch (kind) {
	case 0:	/* no such command, or one of the events */
		begin(r, random() % 2 ? 0 : DM_FULLSTRIPE_CMD_THROTTLE_START_NTF + random() % 240,
		      DUMP);
		return true;
	case 1:	/* lists only */
		r->header.nlmsg_flags = NLM_F_REQUEST | (random() % 2 ? NLM_F_ACK : 0);
		return true;
	case 2:	/* reserved field */
		r->bytes[NLMSG_HDRLEN + 2 + random() % 2] = 1 + random() % 255;
		return true;
	case 3:	/* no whole header */
		r->len = NLMSG_HDRLEN + random() % 4;
		r->header.nlmsg_len = r->len;
		return true;
	case 4:	/* unknown attribute */
		add_attribute(r, 2 + random() % 8000, text, random() % 100);
		return true;
	case 5:	/* no end of the text */
		add_attribute(r, DM_FULLSTRIPE_A_FILE_DISK, text, random() % 32);
		return true;
	case 6:	/* too long */
		text[sizeof(text) - 1] = 0;
		add_attribute(r, DM_FULLSTRIPE_A_FILE_DISK, text + random() % 500, 100);
		return true;
	case 7:	/* no such device */
		text[1 + random() % 30] = 0;
		add_attribute(r, DM_FULLSTRIPE_A_FILE_DISK, text, strlen((char *)text) + 1);
		return true;
	case 8:	/* nested, as it should not be, and garbage in it */
		add_attribute(r, DM_FULLSTRIPE_A_FILE_DISK | NLA_F_NESTED, NULL, 0);
		((struct nlattr *)(r->bytes + r->len - NLA_HDRLEN))->nla_len += 64;
		add_random(r, 64);
		return true;
	case 9:	/* an attribute that is shorter than its own header */
		add_attribute(r, DM_FULLSTRIPE_A_FILE_DISK, text, 8);
		((struct nlattr *)(r->bytes + r->len - 8 - NLA_HDRLEN))->nla_len = random() % 4;
		return true;
	case 10: /* an attribute that is longer than the message */
		add_attribute(r, DM_FULLSTRIPE_A_FILE_DISK, "dm-0", 5);
		((struct nlattr *)(r->bytes + r->len - 8 - NLA_HDRLEN))->nla_len = 100 + random() % 60000;
		return true;
	case 11: /* longer or shorter than it says */
		add_attribute(r, DM_FULLSTRIPE_A_FILE_DISK, text, 16);
		r->header.nlmsg_len = random() % 4 ? random() % 100 : random();
		return false;
	case 12: /* any flags, any command */
		begin(r, random(), random());
		add_random(r, random() % 300);
		return false;
	default: /* anything at all to the family */
		r->len = NLMSG_HDRLEN;
		add_random(r, random() % 500);
		r->header.nlmsg_flags = random();
		return false;
	}
}

/* What came back for a request. */
struct answer {
	unsigned int errors;
	unsigned int entries;
	unsigned int ends;
};

static void look_at(const struct nlmsghdr *header, struct answer *answer)
{
	int error = 0;

	if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE) {
		memcpy(&error, NLMSG_DATA(header), sizeof(error));
		if (error < 0)
			answer->errors++;
		if (header->nlmsg_type == NLMSG_DONE)
			answer->ends++;
	} else {
		answer->entries++;
	}
}

/* All that has come; a list is read to its end by this. */
static int receive(int fd, struct answer *answer)
{
	static union {
		struct nlmsghdr header;
		char bytes[65536];
	} buffer;

	for (;;) {
		ssize_t n = recv(fd, &buffer, sizeof(buffer), MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		for (struct nlmsghdr *h = &buffer.header; NLMSG_OK(h, (size_t)n);
		     h = NLMSG_NEXT(h, n))
			look_at(h, answer);
	}
}

static int exchange(int fd, const struct request *r, struct answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	if (send(fd, r->bytes, r->len, 0) < 0)
		return -errno;
	return receive(fd, answer);
}

static int good_list(int fd)
{
	struct answer answer;
	struct request r;

	begin(&r, any_dump(), DUMP);
	if (exchange(fd, &r, &answer) < 0 || answer.errors || answer.ends != 1) {
		printf("a good list fails: %u errors, %u ends\n", answer.errors, answer.ends);
		return -EIO;
	}
	return 0;
}

static int send_bad(int fd, unsigned int seed, unsigned int count)
{
	unsigned int refused = 0, ignored = 0, answered = 0;
	struct answer answer;
	struct request r;

	srandom(seed);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int kind = i % 14;
		bool must_fail = make_bad(&r, kind);
		int error = exchange(fd, &r, &answer);

		if (error < 0 || (must_fail && (!answer.errors || answer.entries))) {
			printf("seed %u, request %u of kind %u: %u errors, %u entries (%d)\n", seed, i,
			       kind, answer.errors, answer.entries, error);
			return 1;
		}
		if (answer.errors)
			refused++;
		else if (answer.ends || answer.entries)
			answered++;
		else
			ignored++;
		if (i % 100 == 99 && good_list(fd) < 0)
			return 1;
	}
	printf("seed %u: %u refused, %u ignored, %u answered\n", seed, refused, ignored, answered);
	return 0;
}

/* The first message of a list comes with the request; the rest when it is read. */
static int leave_list(int fd)
{
	struct answer answer = { 0 };
	struct request r;
	char line[16];
	int error;

	begin(&r, DM_FULLSTRIPE_CMD_FILE_GET, DUMP);
	if (send(fd, r.bytes, r.len, 0) < 0)
		return 1;
	puts("begun");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 0;
	error = receive(fd, &answer);
	printf("%u entries, %u ends, %u errors\n", answer.entries, answer.ends, answer.errors);
	return error < 0 || answer.ends != 1 || answer.errors;
}

static int print_device(struct nl_msg *message, void *unused)
{
	struct nlattr *attrs[DM_FULLSTRIPE_A_DEVICE_MAX + 1];

	(void)unused;
	if (genlmsg_parse(nlmsg_hdr(message), 0, attrs, DM_FULLSTRIPE_A_DEVICE_MAX, NULL) < 0)
		return NL_STOP;
	printf("%s %llu\n", nla_get_string(attrs[DM_FULLSTRIPE_A_DEVICE_DISK]),
	       (unsigned long long)nla_get_u64(attrs[DM_FULLSTRIPE_A_DEVICE_STRIPE_BYTES]));
	return NL_OK;
}

static int list_devices(void)
{
	struct nl_sock *sock = nl_socket_alloc();

	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, print_device, NULL);
	if (genl_connect(sock) < 0 ||
	    genl_send_simple(sock, family, DM_FULLSTRIPE_CMD_DEVICE_GET, 1, NLM_F_DUMP) < 0)
		return 1;
	return nl_recvmsgs_default(sock) < 0;
}

static int write_many(const char *path, unsigned int count, off_t apart)
{
	void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(path, O_WRONLY | O_DIRECT);
	int status, failed = 0;

	if (fd < 0 || data == MAP_FAILED)
		return 1;
	for (unsigned int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			memset(data, i, 4096);
			_exit(pwrite(fd, data, 4096, i * apart) != 4096);
		}
		if (waitpid(pid, &status, 0) < 0 || status)
			failed = 1;
		printf("%d\n", pid);
	}
	return failed;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	int fd;

	if (strcmp(verb, "write") == 0 && argc == 5)
		return write_many(argv[2], atoi(argv[3]), atoi(argv[4]));
	fd = open_family();
	if (fd < 0) {
		fprintf(stderr, "genl: no family %s\n", DM_FULLSTRIPE_FAMILY_NAME);
		return 2;
	}
	if (strcmp(verb, "bad") == 0 && argc == 4)
		return send_bad(fd, atoi(argv[2]), atoi(argv[3]));
	if (strcmp(verb, "leave") == 0)
		return leave_list(fd);
	if (strcmp(verb, "devices") == 0)
		return list_devices();
	fprintf(stderr, "genl: devices | bad SEED COUNT | leave | write DEV COUNT BYTES\n");
	return 2;
}
