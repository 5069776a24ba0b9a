// SPDX-License-Identifier: GPL-2.0
/* Messages of netlink: they come from the kernel, but from another version of the module. */
#include "fuzz.h"
/* Its parsers are nobody else's. */
#include "src/link.c"	// NOLINT(bugprone-suspicious-include)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t commands[] = {
		DM_FULLSTRIPE_CMD_THROTTLE_START_NTF, DM_FULLSTRIPE_CMD_WRITE_ERROR_NTF,
		DM_FULLSTRIPE_CMD_GEOMETRY_NTF,
	};
	struct nlmsghdr *header;
	struct genlmsghdr *generic;
	struct event_view event;
	struct file_view file;
	struct stream_view stream;

	if (size == 0)
		return 0;
	/* As long as the message, so that reading beyond it is seen. */
	header = malloc(NLMSG_LENGTH(GENL_HDRLEN + size - 1));
	check(header);
	*header = (struct nlmsghdr) { .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN + size - 1) };
	generic = nlmsg_data(header);
	*generic = (struct genlmsghdr) { .cmd = commands[data[0] % ARRAY_SIZE(commands)] };
	memcpy((char *)generic + GENL_HDRLEN, data + 1, size - 1);
	if (parse_event(header, &event) == 0) {
		char *said = view_event(&event);

		check(said && memchr(event.disk, '\0', sizeof(event.disk)));
		json_object_put(view_event_json(&event));
		free(said);
	}
	if (parse_file(header, &file) == 0)
		json_object_put(view_file_json(&file));
	if (parse_stream(header, &stream) == 0)
		json_object_put(view_stream_json(&stream));
	free(header);
	return 0;
}
