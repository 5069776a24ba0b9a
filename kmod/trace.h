/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: events/fullstripe/ in tracefs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM fullstripe

#if !defined(FULLSTRIPE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FULLSTRIPE_TRACE_H

#include <linux/tracepoint.h>

#include "fullstripe.h"

/* A write of a file, and what the file has outstanding without it. */
DECLARE_EVENT_CLASS(fullstripe_parking,
		    TP_PROTO(struct fullstripe *fs, const struct dirty_file *file,
			     const struct bio *bio),
		    TP_ARGS(fs, file, bio),
		    TP_STRUCT__entry(__field(dev_t, dev)
				     __field(dev_t, file_dev)
				     __field(u64, id)
				     __field(u64, sector)
				     __field(u32, bytes)
				     __field(u64, outstanding)
		    ),
		    TP_fast_assign(struct mapped_device *md = dm_table_get_md(fs->ti->table);

				   __entry->dev = disk_devt(dm_disk(md));
				   __entry->file_dev = file->key.dev;
				   __entry->id = file->key.id;
				   __entry->sector = bio->bi_iter.bi_sector;
				   __entry->bytes = bio->bi_iter.bi_size;
				   __entry->outstanding = file->outstanding;
		    ),
		    TP_printk("%d,%d %s %llu of %d,%d: %llu + %u, outstanding %llu",
			      MAJOR(__entry->dev), MINOR(__entry->dev),
			      __entry->file_dev ? "inode" : "process", __entry->id,
			      MAJOR(__entry->file_dev), MINOR(__entry->file_dev),
			      __entry->sector, __entry->bytes, __entry->outstanding)
);

/* It waits: for the low water mark, for a flush, or for more to leave with. */
DEFINE_EVENT(fullstripe_parking, fullstripe_park,
	     TP_PROTO(struct fullstripe *fs, const struct dirty_file *file, const struct bio *bio),
	     TP_ARGS(fs, file, bio));

/* It goes on. */
DEFINE_EVENT(fullstripe_parking, fullstripe_unpark,
	     TP_PROTO(struct fullstripe *fs, const struct dirty_file *file, const struct bio *bio),
	     TP_ARGS(fs, file, bio));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
