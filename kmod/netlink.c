// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family dm_fullstripe: devices, files and streams to be listed, and
 * events. Nothing can be changed there.
 *
 * DOC: who holds whom up
 *
 * A list goes over several messages, and its reader may take days for it. Between them it
 * has numbers only: a device by its serial, a file or a stream by its place. In each it is in
 * one RCU read section, in which a device that it found does not go away; it allocates
 * nothing there, takes no lock but those under which one file or a few streams are
 * copied, and fills no more than one message. So suspend and removal wait for it as for any
 * RCU reader, and it waits for neither. A list that is not read to its end keeps the
 * module loaded, and nothing else.
 *
 * Events are sent by who has something to tell, without sleeping, and are lost where there is
 * no memory. Nothing is done where nobody listens.
 */
#include <linux/blkdev.h>
#include <linux/rculist.h>
#include <net/genetlink.h>

#include <linux/dm-fullstripe.h>

#include "fullstripe.h"
#include "netlink.h"

#define GROUP_EVENTS	0

static DEFINE_MUTEX(devices_lock);	/* changes of devices and next_serial */
static LIST_HEAD(devices);		/* by serial; read in RCU sections */
static u32 next_serial = 1;

static struct genl_family family;

/**
 * struct dump - where a list stands.
 * @serial: of the device; those before are done.
 * @file: in the device's files.
 * @stream: in its streams.
 * @begun: something was looked at.
 */
struct dump {
	u32 serial;
	struct file_cursor file;
	unsigned int stream;
	bool begun;
};

/*
 * What is told
 */

static const char *disk_name(const struct fullstripe *fs)
{
	return dm_disk(dm_table_get_md(fs->ti->table))->disk_name;
}

static int put_number(struct sk_buff *skb, int attribute, u64 value)
{
	/* The number of the pad is the same everywhere. */
	return nla_put_u64_64bit(skb, attribute, value, DM_FULLSTRIPE_A_DEVICE_PAD);
}

static int put_setting(struct sk_buff *skb, int attribute, const struct fullstripe *fs,
		       enum setting key)
{
	return put_number(skb, attribute, setting(fs, key));
}

static int put_target(struct sk_buff *skb, struct fullstripe *fs)
{
	dev_t dev = disk_devt(dm_disk(dm_table_get_md(fs->ti->table)));
	const struct throttle *t = &fs->throttle;

	if (nla_put_string(skb, DM_FULLSTRIPE_A_DEVICE_DISK, disk_name(fs)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_MAJOR, MAJOR(dev)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_MINOR, MINOR(dev)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_MODE, setting(fs, SETTING_MODE)) ||
	    put_setting(skb, DM_FULLSTRIPE_A_DEVICE_STRIPE_BYTES, fs, SETTING_STRIPE_BYTES) ||
	    put_setting(skb, DM_FULLSTRIPE_A_DEVICE_CHUNK_BYTES, fs, SETTING_CHUNK_BYTES) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_DATA_MEMBERS,
			setting(fs, SETTING_DATA_MEMBERS)) ||
	    put_setting(skb, DM_FULLSTRIPE_A_DEVICE_CLUSTER_BYTES, fs, SETTING_CLUSTER_BYTES) ||
	    put_setting(skb, DM_FULLSTRIPE_A_DEVICE_HIGH_WATER_BYTES, fs,
			SETTING_HIGH_WATER_BYTES) ||
	    put_number(skb, DM_FULLSTRIPE_A_DEVICE_STAGED_BYTES, staging_staged_bytes(fs)) ||
	    put_setting(skb, DM_FULLSTRIPE_A_DEVICE_FILE_HIGH_WATER_BYTES, fs,
			SETTING_FILE_HIGH_WATER_BYTES) ||
	    put_setting(skb, DM_FULLSTRIPE_A_DEVICE_FILE_LOW_WATER_BYTES, fs,
			SETTING_FILE_LOW_WATER_BYTES) ||
	    put_number(skb, DM_FULLSTRIPE_A_DEVICE_FILE_PEAK_BYTES, atomic64_read(&t->peak)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_DIRTY_FILES, atomic_read(&t->nr_files)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_HELD_FILES, atomic_read(&t->nr_held)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_FAILING_STRIPES,
			atomic_read(&fs->destager.failing)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_DEVICE_STREAMS, prefetch_active_streams(fs)) ||
	    put_number(skb, DM_FULLSTRIPE_A_DEVICE_PREFETCHING_BYTES, prefetch_reading_bytes(fs)))
		return -EMSGSIZE;
	return 0;
}

static int put_key(struct sk_buff *skb, const struct file_key *key)
{
	/* In the kernel's own form of device numbers, as inodes have it. */
	dev_t dev = key->dev;

	if (!dev)
		return nla_put_u32(skb, DM_FULLSTRIPE_A_FILE_TGID, key->id);
	if (put_number(skb, DM_FULLSTRIPE_A_FILE_INODE, key->id) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_FILE_GENERATION, key->generation) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_FILE_FS_MAJOR, MAJOR(dev)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_FILE_FS_MINOR, MINOR(dev)))
		return -EMSGSIZE;
	return 0;
}

static int put_file(struct sk_buff *skb, struct fullstripe *fs, const struct file_info *info)
{
	if (nla_put_string(skb, DM_FULLSTRIPE_A_FILE_DISK, disk_name(fs)) ||
	    put_key(skb, &info->key) ||
	    put_number(skb, DM_FULLSTRIPE_A_FILE_OUTSTANDING_BYTES, info->outstanding) ||
	    put_number(skb, DM_FULLSTRIPE_A_FILE_STAGED_BYTES, info->staged) ||
	    (info->parked && nla_put_flag(skb, DM_FULLSTRIPE_A_FILE_HELD)) ||
	    (info->over && nla_put_flag(skb, DM_FULLSTRIPE_A_FILE_OVER_MARK)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_FILE_PARKED, info->parked) ||
	    put_number(skb, DM_FULLSTRIPE_A_FILE_PARKED_BYTES, info->parked_bytes) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_FILE_TIMES_HELD, info->times) ||
	    put_number(skb, DM_FULLSTRIPE_A_FILE_WAIT_US, div_u64(info->wait, NSEC_PER_USEC)) ||
	    put_number(skb, DM_FULLSTRIPE_A_FILE_LONGEST_WAIT_US,
		       div_u64(info->longest, NSEC_PER_USEC)))
		return -EMSGSIZE;
	return 0;
}

static int put_stream(struct sk_buff *skb, struct fullstripe *fs, const struct stream_info *info)
{
	bool strided = info->stride;

	if (nla_put_string(skb, DM_FULLSTRIPE_A_STREAM_DISK, disk_name(fs)) ||
	    put_number(skb, DM_FULLSTRIPE_A_STREAM_POSITION_BYTES,
		       info->position << SECTOR_SHIFT) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_STREAM_DIRECTION,
			strided ? DM_FULLSTRIPE_DIRECTION_STRIDED :
			info->backward ? DM_FULLSTRIPE_DIRECTION_BACKWARD :
			DM_FULLSTRIPE_DIRECTION_FORWARD) ||
	    (strided && put_number(skb, DM_FULLSTRIPE_A_STREAM_STRIDE_BYTES,
				   info->stride * SECTOR_SIZE)) ||
	    (strided && put_number(skb, DM_FULLSTRIPE_A_STREAM_RUN_BYTES,
				   info->run_length << SECTOR_SHIFT)) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_STREAM_DEGREE, info->degree) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_STREAM_TRIGGER, info->trigger) ||
	    put_number(skb, DM_FULLSTRIPE_A_STREAM_AHEAD_BYTES, info->ahead << SECTOR_SHIFT) ||
	    put_number(skb, DM_FULLSTRIPE_A_STREAM_READ_BYTES, info->read << SECTOR_SHIFT) ||
	    nla_put_u32(skb, DM_FULLSTRIPE_A_STREAM_IDLE_MS, jiffies_to_msecs(info->idle)))
		return -EMSGSIZE;
	return 0;
}

/*
 * Lists
 */

static void *begin_entry(struct sk_buff *skb, struct netlink_callback *cb, u8 command)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family,
				   NLM_F_MULTI, command);

	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}

static int end_entry(struct sk_buff *skb, void *header, int r)
{
	if (r)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	return r;
}

static int list_target(struct sk_buff *skb, struct netlink_callback *cb, struct fullstripe *fs)
{
	void *header = begin_entry(skb, cb, DM_FULLSTRIPE_CMD_DEVICE_GET);

	return header ? end_entry(skb, header, put_target(skb, fs)) : -EMSGSIZE;
}

static int list_files(struct sk_buff *skb, struct netlink_callback *cb, struct fullstripe *fs)
{
	struct dump *dump = (struct dump *)cb->ctx;
	struct file_cursor at = dump->file;
	struct file_info info;

	while (held_next(fs, &at, &info)) {
		void *header = begin_entry(skb, cb, DM_FULLSTRIPE_CMD_FILE_GET);

		if (!header || end_entry(skb, header, put_file(skb, fs, &info)))
			return -EMSGSIZE;
		dump->file = at;
	}
	return 0;
}

static int list_streams(struct sk_buff *skb, struct netlink_callback *cb, struct fullstripe *fs)
{
	struct dump *dump = (struct dump *)cb->ctx;
	unsigned int at = dump->stream;
	struct stream_info info;

	while (prefetch_next_stream(fs, &at, &info)) {
		void *header = begin_entry(skb, cb, DM_FULLSTRIPE_CMD_STREAM_GET);

		if (!header || end_entry(skb, header, put_stream(skb, fs, &info)))
			return -EMSGSIZE;
		dump->stream = at;
	}
	return 0;
}

typedef int (*list_fn)(struct sk_buff *skb, struct netlink_callback *cb, struct fullstripe *fs);

/* One message full of a list. */
static int list_some(struct sk_buff *skb, struct netlink_callback *cb, list_fn list)
{
	/* Validated when the request came, and the request stays as long as the list. */
	const struct nlattr *only = nlmsg_find_attr(cb->nlh, GENL_HDRLEN,
						    DM_FULLSTRIPE_A_DEVICE_DISK);
	struct dump *dump = (struct dump *)cb->ctx;
	bool begun = dump->begun;
	struct fullstripe *fs;

	dump->begun = true;
	rcu_read_lock();
	/* Which device comes or goes makes a list incomplete. */
	cb->seq = READ_ONCE(next_serial);
	list_for_each_entry_rcu(fs, &devices, device) {
		if (fs->serial < dump->serial || (only && nla_strcmp(only, disk_name(fs))))
			continue;
		if (fs->serial != dump->serial)
			*dump = (struct dump) { .serial = fs->serial };
		begun = true;
		if (list(skb, cb, fs))
			break;
		*dump = (struct dump) { .serial = fs->serial + 1 };
	}
	rcu_read_unlock();
	dump->begun = true;
	if (only && !begun) {
		NL_SET_ERR_MSG_ATTR(cb->extack, only,
				    "disk: no fullstripe device of this name is active");
		return -ENODEV;
	}
	return skb->len;
}

static int dump_devices(struct sk_buff *skb, struct netlink_callback *cb)
{
	return list_some(skb, cb, list_target);
}

static int dump_files(struct sk_buff *skb, struct netlink_callback *cb)
{
	return list_some(skb, cb, list_files);
}

static int dump_streams(struct sk_buff *skb, struct netlink_callback *cb)
{
	return list_some(skb, cb, list_streams);
}

/*
 * Events
 */

/**
 * netlink_listens() - whether anybody wants events.
 *
 * Context: any.
 * Return: true if so.
 */
bool netlink_listens(void)
{
	return genl_has_listeners(&family, &init_net, GROUP_EVENTS);
}

static struct sk_buff *begin_event(u8 command, void **header)
{
	struct sk_buff *skb;

	if (!netlink_listens())
		return NULL;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_NOWAIT | __GFP_NOWARN);
	if (skb)
		*header = genlmsg_put(skb, 0, 0, &family, 0, command);
	return skb;
}

static void end_event(struct sk_buff *skb, void *header, int r)
{
	if (r) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	/* Who cannot take it is told so by its socket. */
	genlmsg_multicast(&family, skb, 0, GROUP_EVENTS, GFP_NOWAIT | __GFP_NOWARN);
}

/**
 * netlink_throttle() - tell that a file is held, or is no longer.
 * @fs: the target.
 * @info: the file.
 *
 * Context: any.
 */
void netlink_throttle(struct fullstripe *fs, const struct file_info *info)
{
	void *header;
	struct sk_buff *skb = begin_event(info->parked ? DM_FULLSTRIPE_CMD_THROTTLE_START_NTF :
					  DM_FULLSTRIPE_CMD_THROTTLE_STOP_NTF, &header);

	if (skb)
		end_event(skb, header, put_file(skb, fs, info));
}

/**
 * netlink_write_error() - tell that a stripe could not be written.
 * @fs: the target.
 * @sector: its first sector, on the device.
 * @sectors: its sectors.
 * @dirty: those that were to be written.
 * @error: a negative errno.
 *
 * Context: any.
 */
void netlink_write_error(struct fullstripe *fs, u64 sector, u32 sectors, u32 dirty, int error)
{
	void *header;
	struct sk_buff *skb = begin_event(DM_FULLSTRIPE_CMD_WRITE_ERROR_NTF, &header);

	if (skb)
		end_event(skb, header,
			  nla_put_string(skb, DM_FULLSTRIPE_A_FAILURE_DISK, disk_name(fs)) ?:
			  put_number(skb, DM_FULLSTRIPE_A_FAILURE_SECTOR, sector) ?:
			  nla_put_u32(skb, DM_FULLSTRIPE_A_FAILURE_SECTORS, sectors) ?:
			  nla_put_u32(skb, DM_FULLSTRIPE_A_FAILURE_DIRTY_SECTORS, dirty) ?:
			  nla_put_u32(skb, DM_FULLSTRIPE_A_FAILURE_ERROR, -error));
}

/**
 * netlink_recovered() - tell that everything that could not be written now is.
 * @fs: the target.
 *
 * Context: any.
 */
void netlink_recovered(struct fullstripe *fs)
{
	void *header;
	struct sk_buff *skb = begin_event(DM_FULLSTRIPE_CMD_WRITE_RECOVERED_NTF, &header);

	if (skb)
		end_event(skb, header,
			  nla_put_string(skb, DM_FULLSTRIPE_A_FAILURE_DISK, disk_name(fs)));
}

/**
 * netlink_geometry() - tell what the stripes of a device are now.
 * @fs: the target.
 *
 * Context: may sleep.
 */
void netlink_geometry(struct fullstripe *fs)
{
	void *header;
	struct sk_buff *skb = begin_event(DM_FULLSTRIPE_CMD_GEOMETRY_NTF, &header);

	if (skb)
		end_event(skb, header, put_target(skb, fs));
}

/*
 * Life
 */

/**
 * netlink_add() - a device is there, for who lists.
 * @fs: the target.
 *
 * Context: .resume.
 */
void netlink_add(struct fullstripe *fs)
{
	if (fs->serial)
		return;
	mutex_lock(&devices_lock);
	fs->serial = next_serial++;
	list_add_tail_rcu(&fs->device, &devices);
	mutex_unlock(&devices_lock);
	netlink_geometry(fs);
}

/**
 * netlink_remove() - it no longer is.
 * @fs: the target.
 *
 * Context: .postsuspend and .dtr.
 */
void netlink_remove(struct fullstripe *fs)
{
	if (!fs->serial)
		return;
	mutex_lock(&devices_lock);
	list_del_rcu(&fs->device);
	WRITE_ONCE(next_serial, next_serial + 1);
	mutex_unlock(&devices_lock);
	synchronize_rcu();
	fs->serial = 0;
}

/* All that a request can have. */
static const struct nla_policy request_policy[] = {
	[DM_FULLSTRIPE_A_DEVICE_DISK] = { .type = NLA_NUL_STRING, .len = DISK_NAME_LEN - 1 },
};

static const struct genl_ops operations[] = {
	{
		.cmd = DM_FULLSTRIPE_CMD_DEVICE_GET,
		.dumpit = dump_devices,
		.policy = request_policy,
		.maxattr = ARRAY_SIZE(request_policy) - 1,
	},
	{
		.cmd = DM_FULLSTRIPE_CMD_FILE_GET,
		.dumpit = dump_files,
		.policy = request_policy,
		.maxattr = ARRAY_SIZE(request_policy) - 1,
		/* Which files others write, and how much. */
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = DM_FULLSTRIPE_CMD_STREAM_GET,
		.dumpit = dump_streams,
		.policy = request_policy,
		.maxattr = ARRAY_SIZE(request_policy) - 1,
		/* Where others read. */
		.flags = GENL_ADMIN_PERM,
	},
};

static const struct genl_multicast_group groups[] = {
	[GROUP_EVENTS] = { .name = DM_FULLSTRIPE_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

static struct genl_family family __ro_after_init = {
	.name = DM_FULLSTRIPE_FAMILY_NAME,
	.version = DM_FULLSTRIPE_FAMILY_VERSION,
	.module = THIS_MODULE,
	/* No list keeps another waiting. */
	.parallel_ops = true,
	.ops = operations,
	.n_ops = ARRAY_SIZE(operations),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

/**
 * netlink_init() - register the family.
 *
 * Return: 0 or a negative errno.
 */
int __init netlink_init(void)
{
	BUILD_BUG_ON(sizeof(struct dump) > sizeof_field(struct netlink_callback, ctx));
	/* The same numbers everywhere, see put_number() and list_some(). */
	BUILD_BUG_ON((int)DM_FULLSTRIPE_A_DEVICE_PAD != DM_FULLSTRIPE_A_FILE_PAD);
	BUILD_BUG_ON((int)DM_FULLSTRIPE_A_DEVICE_PAD != DM_FULLSTRIPE_A_STREAM_PAD);
	BUILD_BUG_ON((int)DM_FULLSTRIPE_A_DEVICE_PAD != DM_FULLSTRIPE_A_FAILURE_PAD);
	BUILD_BUG_ON((int)DM_FULLSTRIPE_A_DEVICE_DISK != DM_FULLSTRIPE_A_FILE_DISK);
	BUILD_BUG_ON((int)DM_FULLSTRIPE_A_DEVICE_DISK != DM_FULLSTRIPE_A_STREAM_DISK);
	BUILD_BUG_ON((int)DM_FULLSTRIPE_MODE_WRITETHROUGH != MODE_WRITETHROUGH);
	return genl_register_family(&family);
}

/**
 * netlink_exit() - the opposite, when no target is left.
 */
void netlink_exit(void)
{
	genl_unregister_family(&family);
}
