/* gst-spdl: element spdlsrc
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlsrc
 * @title: spdlsrc
 * @short_description: lists the items of a dataset
 *
 * Sends one buffer per item, which holds the URI of the item and a
 * #GstSpdlItemMeta. An `spdl-epoch` event follows the last item of each epoch.
 * An empty dataset is an error.
 *
 * ## Folders
 * A folder is searched recursively, in byte order of the names. Names that
 * start with a dot are skipped. `pattern` selects files by name: a glob that
 * ignores case and may hold alternatives, such as `*.@(jpg|jpeg)`. A folder
 * that cannot be read, or a link to a folder that contains it, is skipped with
 * a warning.
 *
 * ## Lists
 * Each line of a `.txt` list is a path or URI, optionally followed by a tab and
 * a label. The last tab of a line is the separator; write a path that contains
 * a tab as a URI (`%09`). Blanks at the ends of a path are parts of its name.
 * Lines that are empty, consist of blanks or start with `#` are skipped.
 *
 * A `.csv` list follows RFC 4180: quoted fields may contain commas, newlines
 * and doubled quotes. The first line names the columns. Column `uri`, or the
 * one that `uri-column` names, is a path or URI, and the optional column
 * `label`, or the one that `label-column` names, is a label. Other fields that
 * are not empty are stored as strings in the item's `extra`; columns without a
 * name are left out with a warning. Empty lines are skipped, and there are no
 * comments. `label=none` ignores labels.
 *
 * A `.jsonl` or `.ndjson` list has a JSON object on each line. Its members
 * correspond to the columns of a `.csv` list, and may differ from line to line.
 * Strings, numbers and booleans keep their types in `extra`; arrays and objects
 * become strings of their JSON; a member that is null is left out. The label is
 * a string or a number. Numbers that do not fit into 64 bits, and names that
 * appear twice in an object, are errors.
 *
 * Paths are relative to the list. A URI may name a byte range:
 * `file:///shard.tar#bytes=1536-90111`. Lists are UTF-8 with an optional byte
 * order mark, and lines end in LF or CRLF. The limit is 64 KiB for a line of a
 * `.txt` list and 1 MiB for a record of a `.csv` or `.jsonl` list. Malformed
 * lines keep the element from starting; the error names the first of them and
 * their number. Writing to a list while it is in use ends the stream with an
 * error. To replace a list, rename another file to its name.
 *
 * A list can have any size. The element keeps the position of every 32nd item
 * in memory (at most 128 MiB, with larger steps for very large lists) and 64
 * MiB of the list. From 16 MiB on, it stores an index of the list in
 * `.NAME.spdl-index` next to it or, if that folder is not writable, in
 * `gst-spdl` in the user's cache (`XDG_CACHE_HOME`). With an index the list
 * opens in milliseconds; without one it is read once. A changed list is indexed
 * again. `index-cache=none` disables the index, and `index-cache=always` writes
 * one for small lists too.
 *
 * `root` is the folder that relative paths start from, instead of that of the
 * list.
 *
 * ## COCO annotations
 * A `.json` file has the images and annotations of COCO's format. An item is
 * an image, in the order of the ids; its URI is `file_name`, or the member that
 * `uri-column` names, such as `coco_url`. `root` is the folder of the images.
 * `extra` holds the members of the image and, as JSON, an array with a value
 * for each annotation, in the order of the file: `boxes` (from `bbox`),
 * `boxes_labels`, `boxes_area`, `boxes_crowd`, `boxes_ids`, `keypoints` and
 * `captions`, as far as annotations have them, and `boxes_masks`, where the
 * `segmentation` stands in the file (offset and length in bytes). The
 * categories become `classes`, in the order of their ids, which may have gaps;
 * `boxes_labels` are numbers of classes. Images without annotations are items,
 * unless `require-annotations` is set.
 *
 * The file is read once, and written as a list to `.NAME.spdl-list` next to it
 * or in the user's cache, which opens in milliseconds. A changed file is read
 * again.
 *
 * ## Object stores
 * `s3://bucket/train/`, `gs://bucket/train/` and
 * `hf://datasets/owner/name/train/` are folders: all keys below them are listed
 * when the element starts, and sorted as a local folder of the same names.
 * Lists must be local files; their URIs may refer to object stores.
 *
 * ## Shards
 * Shards are tar archives in the WebDataset format, or ZIP archives with stored
 * or deflated files: `train-{0000..0127}.tar`, a glob, or one archive, also on
 * HTTP(S) servers (without globs) and in object stores. Consecutive files with
 * the same path up to the first dot of the name form a sample, and this path is
 * its key. The item is the byte range of one file: the first one with an
 * extension in `extensions` (`jpg,png`), or else the first media file, or else
 * the first file that is not a note. `.cls` is the label (a text only with
 * `classes`). `extra` holds the key as `key`, each `.txt` and `.json` file as a
 * string, the URI of each other file under its extension, and each string,
 * number or boolean of the JSON as a field. `label-column` names a member of
 * the JSON as the label. Notes above 16 MiB, and samples without a media file,
 * are skipped with a warning.
 *
 * Samples are drawn from all shards in any order and read in parallel;
 * `spdlfetch coalesce` joins neighbours. At the start, the element reads the
 * headers of 16 shards at a time, those on a server by `Range` requests. It
 * keeps the index in `SHARD.spdl-index` next to the shard or in the user's
 * cache. `gst-spdl-index` creates indexes in advance, also for shards on a
 * server. A changed shard is indexed again. A local shard that changes while it
 * is in use ends the stream with an error.
 *
 * If a server does not support byte ranges, shards are read as streams, one
 * after the other. `shuffle=true` then changes the order of the shards each
 * epoch, and `shuffle-buffer` draws each sample from that number of samples.
 * Each rank has its own shards, the number of items is known at the end of the
 * epoch, and for a shard that fails the element posts a warning that names it.
 *
 * The URI in an item's meta, which appears in messages, has `***` in place of
 * credentials and signatures. The buffer has the complete URI.
 *
 * ## Boxes and keypoints
 * `box-column`, `box-label-columns`, `box-mask-column` and `keypoint-column`
 * name the fields of boxes, of their labels and masks, and of keypoints. Masks
 * are polygons or RLE of COCO. spdldecode and spdlaugment move them with the
 * image, and spdlbatch pads them to tensors of the batch.
 *
 * ## Tables
 * gst_spdl_loader_set_arrow_table(), or `source=` of the Python package, sets a
 * table of Arrow's C stream interface instead of `location`. The item is the
 * first column that is binary, or a structure of `bytes` and `path`; without
 * one, the text column `uri`. `label` is a number or text.
 * Other text, numbers and booleans are fields of `extra` unless they are null,
 * as are the URIs of other binary columns, which `spdlfetch parts` loads.
 * Columns of other types are left out with a warning.
 *
 * The bytes are not copied. The URI of an item is `arrow:///COLUMN/ROW`, or its
 * `path` if `bytes` are null; an item that is null fails in `spdlfetch`.
 *
 * gst_spdl_loader_set_arrow_stream() sets a stream, which is read again in each
 * epoch, in its order: `shuffle` and `weight-column` are errors, text labels
 * need `classes`, and several ranks need `shard-mode=uneven`.
 *
 * gst_spdl_loader_set_arrow_parts() sets a table whose parts are read when they
 * are needed, such as the row groups of Parquet files, which `location` names
 * in Python. `shuffle` orders the parts, and the rows within blocks of parts
 * that have at least `shuffle-buffer` rows together. Each rank has a run of
 * this order, unless `shard-run` is set. Up to `read-ahead` parts are read
 * before they are needed. `weight-column` is an error, and text labels need
 * `classes`. The rows of a part that cannot be read fail in `spdlfetch`.
 *
 * ## Labels and classes
 * The label of an item is a number, and -1 without a label. Labels of a list
 * may be text, such as `aqua`; each text is then a class, and classes are
 * numbered in byte order on all ranks. The first label of a list decides
 * whether its labels are numbers or text; a label of the other kind is an
 * error. `3.0` is 3, and a number with a fraction is an error.
 *
 * If some items have no label, a warning counts them and names the first;
 * `label-missing` makes that an error or accepts it. If no item has one, that
 * is an error if labels were asked for: by `label`, `label-column`, `classes`
 * or `label-missing=fail`.
 *
 * With `label=folder`, the top-level folders are the classes, in byte order.
 * The limit is 1,048,576 classes.
 *
 * `classes` is an array of names that sets the classes and their order. Each
 * label must then be one of the names, or, if no name is an integer, an integer
 * from 0 to n - 1. A top-level folder with items must be one of the names. Use
 * it to give a second part of a dataset the same numbers. Text labels of shards
 * need it, because their indexes hold no classes; without it, such items have
 * no label, and a warning is posted.
 *
 * From PAUSED on, `classes` returns the classes in use; it is empty if labels
 * are numbers. A resume state holds a hash of the names. A state of other
 * names, or of the same names in another order, is refused.
 *
 * ## Order of items
 * With `shuffle=true`, each epoch has its own order. It depends only on `seed`,
 * the number of the epoch and the number of items. It is the same on each
 * machine and in each version, takes no memory, and allows access to any
 * position.
 *
 * `weight-column=COLUMN` names a column of a `.csv` list, or a member of the
 * objects of a `.jsonl` list, with weights. Items are then drawn with
 * replacement, in proportion to their weights. Weights are decimal numbers of
 * at least 0; a negative or empty field, `inf` and `nan` are malformed.
 * `items-per-epoch` is the number of draws per epoch (0: the number
 * of items). A draw depends only on `seed`, epoch, position and weights, so
 * ranks and resume states work as with an order; `shuffle` has no effect.
 * `index` is the index of the drawn item; `sequence` and `num-items` count
 * draws.
 *
 * ## Distributed loading
 * Each of `world-size` processes sends a part of each epoch: `rank` r of W
 * takes the positions r, r + W, r + 2W ... of the order. All ranks need the
 * same dataset and `seed`. Unset values come from the environment of torchrun
 * (`RANK` and `WORLD_SIZE`), Slurm, Open MPI or an indexed job of Kubernetes.
 * Without any of them there is one process. If only one of the two values is
 * set, that is an error. `shard-mode` divides n items that W does not divide
 * evenly:
 *
 * - `pad`: ceil(n / W) items for each rank. The first items of the order are
 *   repeated, more than once if there are fewer items than half of the ranks.
 * - `drop`: floor(n / W) items for each rank. The last positions of the order
 *   are left out, which with `shuffle` are other items in each epoch. Fewer
 *   items than ranks are an error.
 * - `uneven`: each item once; the first n mod W ranks have one more. A rank
 *   without items sends its `spdl-epoch` events and the end of the stream. With
 *   `epochs=-1` that is an error, because the rank would do so forever.
 *
 * With `shard-run=N`, ranks take runs of N positions in turns: rank r takes the
 * positions r N to r N + N - 1, then those W N further, and so on. If N is the
 * batch size, the batches of all ranks in turns are those of one process.
 *
 * An item's `index` is its position in the dataset, and its `sequence` the
 * position among the items that this rank sends in the epoch. `num-items`, the
 * property and the field of events, is the number of items that this rank sends
 * per epoch. It is known before the first item is sent.
 *
 * ## Resuming
 * Set `resume-state` to the state of a batch, which `spdlsink` stores in its
 * meta. The source then sends each item of the epoch that was neither delivered
 * nor lost by then, and after it the following epochs up to the last of
 * `epochs`, which includes the epochs before the state. A state of another
 * dataset, order or rank is an error that names the difference. At the end of
 * an epoch, rank, world size, `shard-mode` and `shard-run` may change.
 *
 * If `resume-state` has the states of all ranks, which gst_spdl_state_merge()
 * joins, the number of ranks may change at any time. Each rank takes its part
 * of what is left of the epoch, and reports it in `start-state`. Streamed
 * shards cannot be divided within an epoch; that is an error.
 *
 * ## Starting
 * The change from READY to PAUSED is asynchronous if the dataset is on a server
 * or a table: it ends when the dataset is open, or after an error message. From
 * then on, `num-items`, `classes` and `start-state` are valid.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     shuffle=true seed=1 epochs=2 rank=0 world-size=2
 *     ! spdlfetch concurrency=4 ! fakesink
 * ]|
 * 1,000 draws per epoch from a list with the columns `uri` and `often`:
 * |[
 * gst-launch-1.0 spdlsrc location=list.csv weight-column=often
 *     items-per-epoch=1000 ! spdlfetch ! fakesink
 * ]|
 * Samples of shards:
 * |[
 * gst-launch-1.0 spdlsrc location="train-{0000..0001}.tar" extensions=jpg,png
 *     shuffle=true ! spdlfetch concurrency=16 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/base/gstpushsrc.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/arrow/arrowreader.h"
#include "gst/spdl/common/asyncstart.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/sourcenumber.h"
#include "gst/spdl/common/storeuri.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/stage/failure.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/core/core.h"
#include "gst/spdl/common/propertytable.h"
#include "plugins/core/src/sampler.h"
#include "plugins/core/src/sourceshapes.h"
#include "plugins/dataset/list/coco.h"

GST_DEBUG_CATEGORY_STATIC (spdl_src_debug);
#define GST_CAT_DEFAULT spdl_src_debug

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("text/uri-list"));

#define GST_TYPE_SPDL_SRC (gst_spdl_src_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlSrc, gst_spdl_src, GST, SPDL_SRC, GstPushSrc)

struct _GstSpdlSrc {
  GstPushSrc parent;

  GstSpdlPlainStats *stats;

  /* Guarded by the object lock. */
  SpdlSourceSettings settings;
  gint64 epochs;
  SpdlArrowTable *table; /* nullable */
  gboolean started;      /* in PAUSED, or on the way there */
  gboolean flushing;     /* waits are interrupted */
  GCancellable *opening; /* (nullable): set while the dataset is opened */
  SpdlSampler *sampler;  /* (nullable): set while the dataset is open */
  GStrv classes;         /* (nullable): classes in use */
  gchar *start; /* (nullable): start state of this rank while started */

  SpdlSourceSettings run; /* copy for a run, from READY to PAUSED on */
  SpdlShapes *shapes;     /* (nullable): declared for each item */
  guint32 number;         /* number among the sources of the pipeline */
  guint64 n_items;
  gboolean announced; /* the source event was sent */
};

#define DEFAULT_EPOCHS 1

SPDL_DEFINE_ENUM_TYPE (GstSpdlLabel, spdl_label,
    { SPDL_LABEL_AUTO, "Labels of a list, a shard or a table, if there are any",
        "auto" },
    { SPDL_LABEL_NONE, "No labels", "none" },
    { SPDL_LABEL_FOLDER, "Index of the top-level folder, in sorted order",
        "folder" },
    { SPDL_LABEL_MANIFEST, "Label in the list, the shard or the table",
        "manifest" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlLabelMissing, spdl_label_missing,
    { SPDL_LABEL_MISSING_WARN, "Send the item with the label -1, and warn",
        "warn" },
    { SPDL_LABEL_MISSING_FAIL, "Fail", "fail" },
    { SPDL_LABEL_MISSING_KEEP, "Send the item with the label -1", "keep" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlShardMode, spdl_shard_mode,
    { SPDL_SHARD_PAD, "Equal numbers of items: repeat the epoch's first items",
        "pad" },
    { SPDL_SHARD_DROP, "Equal numbers of items: drop the epoch's last items",
        "drop" },
    { SPDL_SHARD_UNEVEN, "Each item once: some ranks get one item more",
        "uneven" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlIndexUse, spdl_index_use,
    { SPDL_SIDECAR_NONE, "In memory only", "none" },
    { SPDL_SIDECAR_AUTO, "In a file, for lists and shards of 16 MiB or more",
        "auto" },
    { SPDL_SIDECAR_ALWAYS, "In a file", "always" })

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_STRING (SpdlSourceSettings, location, READY, "location",
      "Location",
      "Dataset: a folder, local or in an object store; a .txt list with a path "
      "or URI on each line and, after a tab, a label; a .csv list with the "
      "columns uri, label and others; a .jsonl list with such an object on "
      "each line; COCO annotations (.json); token ids (.idx and .bin); or .tar "
      "or .zip shards, local or on servers: "
      "train-{0000..0127}.tar",
      NULL),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, root, READY, "root", "Root",
      "Folder that the relative paths of a list or of COCO annotations start "
      "from (unset = the folder of the list)",
      NULL),
  SPDL_PROPERTY_BOOLEAN (SpdlSourceSettings, require_annotations, READY,
      "require-annotations", "Require annotations",
      "Leave out images without annotations in a file of COCO annotations",
      FALSE),
  SPDL_PROPERTY_CHOICE (SpdlSourceSettings, pattern, READY, "pattern",
      "Pattern",
      "Glob for the names of a folder's files, case-insensitive, such as "
      "*.@(jpg|jpeg)",
      SPDL_DEFAULT_PATTERN),
  SPDL_PROPERTY_ENUM (SpdlSourceSettings, label, READY, "label", "Label",
      "Source of an item's label", spdl_label_get_type, SPDL_LABEL_AUTO),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, label_column, READY, "label-column",
      "Label column",
      "Column of a .csv list or a table, or member of the JSON of a list or a "
      "shard, with the label (unset = label, or a shard's .cls)",
      NULL),
  SPDL_PROPERTY_ENUM (SpdlSourceSettings, label_missing, READY, "label-missing",
      "Missing labels",
      "Action for an item without a label, if labels were requested or other "
      "items have labels",
      spdl_label_missing_get_type, SPDL_LABEL_MISSING_WARN),
  SPDL_PROPERTY_BOOLEAN (SpdlSourceSettings, shuffle, READY, "shuffle",
      "Shuffle", "Send the items of each epoch in a different random order",
      FALSE),
  SPDL_PROPERTY_UINT64 (SpdlSourceSettings, seed, READY, "seed", "Seed",
      "Seed of the random orders; the same on all ranks", 0, G_MAXUINT64, 0),
  SPDL_PROPERTY_INT (SpdlSourceSettings, rank, READY, "rank", "Rank",
      "Index of this process among world-size processes, from 0 (-1 = from the "
      "environment's RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or "
      "JOB_COMPLETION_INDEX, else 0)",
      -1, G_MAXINT, -1),
  SPDL_PROPERTY_INT (SpdlSourceSettings, world_size, READY, "world-size",
      "World size",
      "Number of processes that share each epoch (-1 = from the environment's "
      "WORLD_SIZE, SLURM_NTASKS or OMPI_COMM_WORLD_SIZE, else 1)",
      -1, G_MAXINT, -1),
  SPDL_PROPERTY_ENUM (SpdlSourceSettings, shard_mode, READY, "shard-mode",
      "Shard mode",
      "Items of each rank if world-size does not divide their number",
      spdl_shard_mode_get_type, SPDL_SHARD_PAD),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, shard_run, READY, "shard-run",
      "Shard run",
      "Number of successive items of an epoch that a rank takes at a time; if "
      "it is the batch size, the batches of all ranks, taken in turns, are the "
      "batches of one process",
      1, G_MAXINT, 1),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, resume_state, READY, "resume-state",
      "Resume state",
      "Resume state of the last batch that was used; the source continues "
      "after it (unset = start at the beginning)",
      NULL),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, uri, READY, "uri-column",
      "URI column",
      "Column of a .csv list or a table, or member of a .jsonl list's objects, "
      "with the items (unset = uri, or a table's first column of bytes)",
      NULL),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, weights, READY, "weight-column",
      "Weight column",
      "Column of a .csv list or a table, or member of a .jsonl list's objects, "
      "with the weights by which items are drawn with replacement (unset = "
      "send each item once)",
      NULL),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, targets, READY, "target-columns",
      "Target columns",
      "Columns of a .csv list or a table, or members of the JSON of a list or "
      "a "
      "shard, with numbers or lists of numbers, such as x,y, which become "
      "tensors of the batch",
      NULL),
  SPDL_SHAPES_PROPERTIES (SpdlSourceSettings, shapes),
  SPDL_PROPERTY_UINT64 (SpdlSourceSettings, items_per_epoch, READY,
      "items-per-epoch", "Items per epoch",
      "Number of items to draw in an epoch, over all ranks, with weight-column "
      "(0 = number of items)",
      0, G_MAXINT64, 0),
  SPDL_PROPERTY_ENUM (SpdlSourceSettings, sidecar, READY, "index-cache",
      "Index cache",
      "Keep the index of a list or a shard in a file next to it, to open it "
      "faster the next time",
      spdl_index_use_get_type, SPDL_SIDECAR_AUTO),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, extensions, READY, "extensions",
      "Extensions",
      "Extensions in order of preference, such as jpg,png, that select the "
      "file of a sample in a shard (unset = its first media file)",
      NULL),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, shuffle_buffer, READY,
      "shuffle-buffer", "Shuffle buffer",
      "Number of rows of a Parquet dataset that are shuffled together (0 = "
      "those of a row group), or size in samples of the shuffle buffer for "
      "shards that are streamed because the server supports no byte ranges (0 "
      "= keep their order)",
      0, G_MAXINT, 0),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, read_ahead, READY, "read-ahead",
      "Read ahead",
      "Number of row groups of a Parquet dataset that are read in advance", 0,
      1024, 4),
  SPDL_PROPERTY_UINT64 (SpdlSourceSettings, read_ahead_bytes, READY,
      "read-ahead-bytes", "Read ahead bytes",
      "Maximum size of the row groups that are read in advance, unless there "
      "is only one",
      0, G_MAXUINT64, 268435456),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, remote.user_agent, READY,
      "user-agent", "User agent", "User-Agent header of requests for shards",
      SPDL_REMOTE_USER_AGENT),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, remote.tls_ca_file, READY,
      "tls-ca-file", "TLS CA file",
      "PEM file of the certificate authorities to trust for shards on servers "
      "(unset = the system's)",
      NULL),
  SPDL_PROPERTY_STRUCTURE (SpdlSourceSettings, remote.extra_headers, READY,
      "extra-headers", "Extra headers",
      "HTTP headers of each request for shards and their indexes: a field per "
      "header (an array or a list repeats the header)"),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, remote.trusted_origins, READY,
      "trusted-origins", "Trusted origins",
      "Servers that get extra-headers and credentials when another server "
      "redirects to them (\"https://cdn.example.com\")",
      NULL),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, remote.timeout, READY, "timeout",
      "Timeout",
      "Seconds without data after which a request for a shard fails (0 = no "
      "limit)",
      0, SPDL_REMOTE_MAX_TIMEOUT, SPDL_REMOTE_TIMEOUT),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, remote.list_timeout, READY,
      "list-timeout", "List timeout",
      "Seconds after which the listing of a folder or of shards in an object "
      "store fails (0 = no limit)",
      0, SPDL_REMOTE_MAX_LIST_TIMEOUT, SPDL_REMOTE_LIST_TIMEOUT),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, remote.retries, READY, "retries",
      "Retries",
      "Number of times to retry a request for a shard or its index after a "
      "temporary failure",
      0, SPDL_REMOTE_MAX_RETRIES, SPDL_REMOTE_RETRIES),
  SPDL_STORE_PROPERTIES (SpdlSourceSettings, remote.store),
  SPDL_PROPERTY_NAMES (SpdlSourceSettings, classes, READY, "classes", "Classes",
      "Names of the classes in the order of their numbers; text labels and "
      "top-level folders must be among them (unset = the sorted names of the "
      "list or the folder). From PAUSED on, reads as the classes in use"),
  SPDL_PROPERTY_END
};

enum {
  PROP_0,
  PROP_SETTINGS, /* first property of the table */
  PROP_CLASSES = PROP_SETTINGS + G_N_ELEMENTS (properties) - 2, /* its last */
  PROP_EPOCHS,
  PROP_NUM_ITEMS,
  PROP_START,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

static void
clear_settings (SpdlSourceSettings *settings)
{
  gst_spdl_property_table_clear (properties, settings);
}

static GParamSpec *num_items_property;

G_DEFINE_FINAL_TYPE (GstSpdlSrc, gst_spdl_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    spdlsrc, "spdlsrc", GST_RANK_NONE, GST_TYPE_SPDL_SRC)

static void
post_warning (const gchar *text, gpointer user_data)
{
  gst_spdl_post_warning (
      user_data, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, text);
}

/* Begins a start with a copy of the settings. Returns TRUE if the dataset may
 * have to be waited for: for a server, for the producer of a table, or for a
 * large file of annotations. That such a file is missing is known at once, as
 * for other files: gst-launch-1.0 may miss an error that comes before it runs
 * its main loop. */
static gboolean
begin_start (GstSpdlSrc *self)
{
  self->number = spdl_source_number_take (GST_ELEMENT (self));
  self->announced = FALSE;
  clear_settings (&self->run);
  GST_OBJECT_LOCK (self);
  self->started = TRUE;
  self->flushing = FALSE;
  self->run = self->settings;
  gst_spdl_property_table_own (properties, &self->run);
  self->run.table = self->table;
  GST_OBJECT_UNLOCK (self);
  if (self->run.table && !self->run.location)
    self->run.location = g_strdup (spdl_arrow_table_get_name (self->run.table));
  return self->run.table ||
         (self->run.location &&
             (spdl_store_is_remote (self->run.location) ||
                 (spdl_coco_is_coco (self->run.location) &&
                     g_file_test (self->run.location, G_FILE_TEST_EXISTS))));
}

static gint64
get_epochs (GstSpdlSrc *self)
{
  gint64 epochs;

  GST_OBJECT_LOCK (self);
  epochs = self->epochs;
  GST_OBJECT_UNLOCK (self);
  return epochs;
}

static SpdlSampler *
make_sampler (GstSpdlSrc *self, GError **error)
{
  SpdlSampler *sampler;

  if (!spdl_source_number_check_state (
          GST_ELEMENT (self), self->run.resume_state, error) ||
      !spdl_source_shapes_take (
          &self->shapes, &self->run.shapes, self->run.location, error))
    return NULL;
  sampler =
      spdl_sampler_open (&self->run, self->number, post_warning, self, error);
  if (!sampler || get_epochs (self) >= 0 || spdl_sampler_get_size (sampler) > 0)
    return sampler;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "shard-mode=uneven leaves no item of \"%s\" for this rank, so epochs=-1 "
      "would never end: set shard-mode to pad, or epochs",
      self->run.location);
  spdl_sampler_free (sampler);
  return NULL;
}

static GStrv
dup_names (const SpdlClasses *classes)
{
  return classes ? g_strdupv ((GStrv) spdl_classes_get_names (classes)) : NULL;
}

static void
take_sampler (GstSpdlSrc *self, SpdlSampler *sampler)
{
  GST_OBJECT_LOCK (self);
  self->sampler = sampler;
  self->n_items = spdl_sampler_get_size (sampler);
  g_strfreev (self->classes);
  self->classes = dup_names (spdl_sampler_get_classes (sampler));
  self->start = spdl_sampler_get_start (sampler);
  GST_OBJECT_UNLOCK (self);
  gst_spdl_plain_stats_start (self->stats);
  g_object_notify_by_pspec (G_OBJECT (self), num_items_property);
}

/* Returns GST_FLOW_ERROR after posting an error, and GST_FLOW_FLUSHING if it
 * was interrupted. */
static GstFlowReturn
open_dataset (GstSpdlSrc *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  SpdlSampler *sampler = NULL;
  gboolean interrupted;

  GST_OBJECT_LOCK (self);
  interrupted = self->flushing;
  self->opening = cancellable;
  GST_OBJECT_UNLOCK (self);
  self->run.remote.cancellable = cancellable;
  if (!interrupted)
    sampler = make_sampler (self, &error);
  self->run.remote.cancellable = NULL;
  GST_OBJECT_LOCK (self);
  interrupted = self->flushing;
  self->opening = NULL;
  GST_OBJECT_UNLOCK (self);
  if (sampler) {
    take_sampler (self, sampler);
    return GST_FLOW_OK;
  }
  if (interrupted)
    return GST_FLOW_FLUSHING;
  gst_spdl_post_error (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

/* Frees the sampler, after removing it under the object lock, so that
 * set_flushing() cannot use it. */
static void
close_dataset (GstSpdlSrc *self)
{
  SpdlSampler *sampler;

  spdl_source_number_release (GST_ELEMENT (self));
  spdl_async_start_clear (GST_ELEMENT (self));
  GST_OBJECT_LOCK (self);
  self->started = FALSE;
  sampler = g_steal_pointer (&self->sampler);
  g_clear_pointer (&self->start, g_free);
  GST_OBJECT_UNLOCK (self);
  if (!sampler)
    return;
  gst_spdl_plain_stats_stop (self->stats);
  spdl_sampler_free (sampler);
}

/* Opens the dataset here rather than in GstBaseSrc's start(), after which the
 * base class would post a second error. If this may have to wait, the streaming
 * thread opens it. */
static GstStateChangeReturn
start_source (GstSpdlSrc *self)
{
  GstElement *element = GST_ELEMENT (self);
  GstElementClass *parent_class = GST_ELEMENT_CLASS (gst_spdl_src_parent_class);
  GstStateChangeReturn ret = GST_STATE_CHANGE_FAILURE;

  if (begin_start (self))
    ret = spdl_async_start_begin (element);
  else if (open_dataset (self) == GST_FLOW_OK)
    ret = GST_STATE_CHANGE_SUCCESS;
  if (ret != GST_STATE_CHANGE_FAILURE &&
      spdl_task_thread_check_start (parent_class, element,
          GST_BASE_SRC_PAD (self), GST_STATE_CHANGE_READY_TO_PAUSED,
          parent_class->change_state (element,
              GST_STATE_CHANGE_READY_TO_PAUSED)) == GST_STATE_CHANGE_FAILURE)
    ret = GST_STATE_CHANGE_FAILURE;
  if (ret == GST_STATE_CHANGE_FAILURE)
    close_dataset (self);
  return ret;
}

static GstStateChangeReturn
gst_spdl_src_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlSrc *self = GST_SPDL_SRC (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    return start_source (self);
  ret = GST_ELEMENT_CLASS (gst_spdl_src_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    close_dataset (self);
  return ret;
}

static gboolean
gst_spdl_src_is_seekable (GstBaseSrc *src)
{
  return FALSE;
}

/* Creates the buffer of an item. Takes ownership of the fields of @item. */
static GstBuffer *
make_item (GstSpdlSrc *self, const SpdlDatasetItem *item)
{
  const gsize size = strlen (item->uri);
  /* Userinfo needs the first character, a parameter the second, and both may be
   * escaped. */
  g_autofree gchar *shown =
      strpbrk (item->uri, "@=%") ? spdl_redact_uri (item->uri) : NULL;
  GstBuffer *buffer = gst_buffer_new_wrapped (item->uri, size);
  GstSpdlItemMeta *meta = gst_spdl_buffer_add_item_meta (buffer);

  meta->source = self->number;
  meta->epoch = spdl_sampler_get_epoch (self->sampler);
  meta->index = item->index;
  meta->sequence = item->sequence;
  meta->label = item->label;
  /* The buffer has the complete URI; the meta has it without credentials. */
  meta->uri =
      shown ? g_ref_string_new (shown) : g_ref_string_new_len (item->uri, size);
  meta->extra = item->extra;
  if (self->shapes)
    spdl_source_shapes_add (self->shapes, &meta->extra);
  meta->created = gst_util_get_timestamp ();
  if (item->carried)
    gst_spdl_buffer_set_carried (buffer, item->carried);
  gst_spdl_plain_stats_pass (self->stats, 1, 0, size);
  return buffer;
}

static GstFlowReturn
post_failure (GstSpdlSrc *self, GError *error)
{
  gst_spdl_post_error (GST_ELEMENT (self), error);
  /* After GST_FLOW_ERROR, GstBaseSrc would post a second error. */
  gst_spdl_plain_stats_finish (self->stats);
  return GST_FLOW_EOS;
}

/* Sends the source event before anything else, because a sink needs it to track
 * items. */
static void
announce_source (GstSpdlSrc *self)
{
  g_autofree gchar *start = spdl_sampler_get_start (self->sampler);
  const gchar *root = spdl_sampler_get_root (self->sampler);
  g_autofree gchar *base = root ? g_filename_to_uri (root, NULL, NULL) : NULL;
  GstEvent *event =
      gst_spdl_event_new_source (self->number, self->n_items, start);

  self->announced = TRUE;
  GST_OBJECT_LOCK (self);
  if (self->settings.targets && *self->settings.targets)
    gst_structure_set (gst_event_writable_structure (event), "target-columns",
        G_TYPE_STRING, self->settings.targets, NULL);
  GST_OBJECT_UNLOCK (self);
  if (base)
    gst_spdl_event_set_base (event, base);
  else /* shards and tables; only the columns of a list name anything */
    gst_structure_set (gst_event_writable_structure (event), "foreign",
        G_TYPE_BOOLEAN, TRUE, NULL);
  gst_pad_push_event (GST_BASE_SRC_PAD (self), event);
}

/* Returns TRUE if an epoch is not finished. */
static gboolean
has_epoch (GstSpdlSrc *self)
{
  const gint64 epochs = get_epochs (self);

  return epochs < 0 ||
         spdl_sampler_get_epoch (self->sampler) < (guint64) epochs;
}

static void
end_epoch (GstSpdlSrc *self)
{
  const guint64 epoch = spdl_sampler_get_epoch (self->sampler);

  gst_pad_push_event (
      GST_BASE_SRC_PAD (self), gst_spdl_event_new_epoch (self->number, epoch,
                                   spdl_sampler_end_epoch (self->sampler)));
}

/* Called by the loader. See SpdlArrowSetter. */
static gboolean
gst_spdl_src_set_arrow_table (GstElement *source, gpointer rows, gpointer order,
    SpdlArrowOpener *opener, const gchar *name)
{
  GstSpdlSrc *self = GST_SPDL_SRC (source);
  SpdlArrowTable *before = NULL;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = !self->started;
  if (ok) {
    before = self->table;
    self->table = opener ? spdl_arrow_table_new_lazy (opener, name)
                  : rows ? spdl_arrow_table_new (rows, order, name)
                         : NULL;
  }
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&before, spdl_arrow_table_free);
  return ok;
}

/* Interrupts waiting for the dataset, or for items of it. */
static gboolean
set_flushing (GstBaseSrc *src, gboolean flushing)
{
  GstSpdlSrc *self = GST_SPDL_SRC (src);
  g_autoptr (GCancellable) opening = NULL;

  GST_OBJECT_LOCK (self);
  self->flushing = flushing;
  if (self->sampler)
    spdl_sampler_set_flushing (self->sampler, flushing);
  if (flushing && self->opening)
    opening = g_object_ref (self->opening);
  GST_OBJECT_UNLOCK (self);
  if (opening)
    g_cancellable_cancel (opening);
  return TRUE;
}

static gboolean
gst_spdl_src_unlock (GstBaseSrc *src)
{
  return set_flushing (src, TRUE);
}

static gboolean
gst_spdl_src_unlock_stop (GstBaseSrc *src)
{
  return set_flushing (src, FALSE);
}

/* Opens the dataset in the streaming thread, which ends the change to PAUSED.
 */
static GstFlowReturn
finish_start (GstSpdlSrc *self)
{
  GstFlowReturn ret;

  spdl_async_start_open (GST_ELEMENT (self));
  ret = open_dataset (self);
  spdl_async_start_end (GST_ELEMENT (self), ret != GST_FLOW_ERROR);
  /* After GST_FLOW_ERROR, GstBaseSrc would post a second error. */
  return ret == GST_FLOW_ERROR ? GST_FLOW_EOS : ret;
}

static GstFlowReturn
gst_spdl_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstSpdlSrc *self = GST_SPDL_SRC (src);
  g_autoptr (GError) error = NULL;
  SpdlDatasetItem item;
  GstFlowReturn ret;

  if (!self->sampler && (ret = finish_start (self)) != GST_FLOW_OK)
    return ret;
  if (!self->announced)
    announce_source (self);
  while (has_epoch (self)) {
    switch (spdl_sampler_next (self->sampler, &item, &error)) {
      case SPDL_DATASET_ITEM:
        *buffer = make_item (self, &item);
        return GST_FLOW_OK;
      case SPDL_DATASET_FAILED:
        return post_failure (self, error);
      case SPDL_DATASET_FLUSHING:
        return GST_FLOW_FLUSHING;
      default:
        break;
    }
    /* A rank without items also sends the ends of epochs, so that all ranks
     * have the same number of epochs. */
    if (GST_PAD_IS_FLUSHING (GST_BASE_SRC_PAD (self)))
      return GST_FLOW_FLUSHING;
    end_epoch (self);
  }
  gst_spdl_plain_stats_finish (self->stats);
  return GST_FLOW_EOS;
}

static void
gst_spdl_src_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlSrc *self = GST_SPDL_SRC (object);

  switch (id) {
    case PROP_EPOCHS:
      GST_OBJECT_LOCK (self);
      self->epochs = g_value_get_int64 (value);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_STATS_INTERVAL:
      gst_spdl_plain_stats_set_interval (self->stats, value);
      break;
    default:
      gst_spdl_property_table_set (properties, &self->settings,
          id - PROP_SETTINGS, value, object, pspec);
      break;
  }
  if (id == PROP_CLASSES) {
    GST_OBJECT_LOCK (self);
    g_clear_pointer (&self->classes, g_strfreev);
    GST_OBJECT_UNLOCK (self);
  }
}

static void
gst_spdl_src_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlSrc *self = GST_SPDL_SRC (object);

  switch (id) {
    case PROP_EPOCHS:
      GST_OBJECT_LOCK (self);
      g_value_set_int64 (value, self->epochs);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_NUM_ITEMS:
      GST_OBJECT_LOCK (self);
      g_value_set_uint64 (value, self->n_items);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_STATS_INTERVAL:
      gst_spdl_plain_stats_get_interval (self->stats, value);
      break;
    case PROP_STAGE_STATS:
      gst_spdl_plain_stats_get_stats (self->stats, value);
      break;
    case PROP_START:
      GST_OBJECT_LOCK (self);
      g_value_set_string (value, self->start);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      if (id != PROP_CLASSES ||
          !gst_spdl_names_set_locked (value, &self->classes, object))
        gst_spdl_property_table_get (properties, &self->settings,
            id - PROP_SETTINGS, value, object, pspec);
      break;
  }
}

static void
gst_spdl_src_finalize (GObject *object)
{
  GstSpdlSrc *self = GST_SPDL_SRC (object);

  clear_settings (&self->settings);
  clear_settings (&self->run);
  g_strfreev (self->classes);
  g_clear_pointer (&self->shapes, spdl_shapes_unref);
  g_clear_pointer (&self->table, spdl_arrow_table_free);
  gst_spdl_plain_stats_free (self->stats);
  G_OBJECT_CLASS (gst_spdl_src_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  gst_spdl_property_table_install (properties, object_class, PROP_SETTINGS);
  g_object_class_install_property (object_class, PROP_EPOCHS,
      g_param_spec_int64 ("epochs", "Epochs",
          "Number of passes over the dataset (-1 = endless)", -1, G_MAXINT64,
          DEFAULT_EPOCHS,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  num_items_property = g_param_spec_uint64 ("num-items", "Number of items",
      "Number of items of an epoch on this rank, available from PAUSED on "
      "(18446744073709551615 = unknown, because shards or rows are streamed)",
      0, G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property (
      object_class, PROP_NUM_ITEMS, num_items_property);
  g_object_class_install_property (object_class, PROP_START,
      g_param_spec_string ("start-state", "Start state",
          "Resume state at which this rank started, available from PAUSED on",
          NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
}

static gboolean
gst_spdl_src_post_message (GstElement *element, GstMessage *message)
{
  return spdl_task_thread_post_message (
      GST_ELEMENT_CLASS (gst_spdl_src_parent_class), element, message);
}

static void
gst_spdl_src_class_init (GstSpdlSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_src_debug, "spdlsrc", 0, "Dataset source");
  object_class->set_property = gst_spdl_src_set_property;
  object_class->get_property = gst_spdl_src_get_property;
  object_class->finalize = gst_spdl_src_finalize;
  install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Dataset source",
      "Source", "Sends the URIs of a dataset's items, epoch by epoch",
      "the gst-spdl developers");

  /* Not a signal, because a program must not pass raw pointers. */
  g_type_set_qdata (G_TYPE_FROM_CLASS (klass), SPDL_ARROW_SETTER,
      (gpointer) gst_spdl_src_set_arrow_table);

  element_class->change_state = gst_spdl_src_change_state;
  element_class->post_message = gst_spdl_src_post_message;
  base_class->is_seekable = gst_spdl_src_is_seekable;
  base_class->unlock = gst_spdl_src_unlock;
  base_class->unlock_stop = gst_spdl_src_unlock_stop;
  GST_PUSH_SRC_CLASS (klass)->create = gst_spdl_src_create;
}

static void
gst_spdl_src_init (GstSpdlSrc *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  self->epochs = DEFAULT_EPOCHS;
  self->stats = gst_spdl_plain_stats_new (GST_ELEMENT (self), 0);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
