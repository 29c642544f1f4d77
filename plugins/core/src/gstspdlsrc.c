/* gst-spdl: spdlsrc, which sends the URIs of a dataset's items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlsrc
 * @title: spdlsrc
 * @short_description: sends the URIs of a dataset's items
 *
 * Sends one buffer an item, which holds its URI, with a #GstSpdlItemMeta that
 * says which item it is. After the last item of each epoch comes an
 * `spdl-epoch` event.
 *
 * A folder is walked recursively, in the order of the names' bytes. Names that
 * begin with a dot are passed over. `pattern` says which files are items: a
 * glob on the file's name, whatever its case, which may hold alternatives:
 * `*.@(jpg|jpeg)`. A link that leads back to a folder that it lies in is left
 * out with a warning; so is a folder that cannot be read. An empty dataset is
 * an error.
 *
 * A `.txt` list has on each line a path or a URI, if you like with a tab and a
 * label after it. The last tab of a line separates the two; write a path that
 * holds a tab as a URI (`%09`). Empty lines, and lines that begin with `#`, are
 * no items.
 *
 * A `.csv` list is one of RFC 4180: fields in quotes may hold commas, newlines
 * and doubled quotes. Its first line names the columns. `uri` is a path or a
 * URI; `label`, which may be missing or empty, a label; all others go as
 * strings into the item's `extra`, if they are not empty, and so need names of
 * ASCII letters, digits and the characters `_-+/:.`. Empty lines are no items;
 * there are no comments. With `label=none` labels are not looked at.
 *
 * For both: paths are relative to the list, and a URI may name a byte range:
 * `file:///shard.tar#bytes=1536-90111`. Lists are UTF-8, with or without a byte
 * order mark, and lines end in LF or CRLF. A line of a `.txt` is at most 64 KiB
 * long, a record of a `.csv` 1 MiB. A malformed line is an error before
 * anything plays, which names the first one and says how many there are. A list
 * that is written to while it is in use ends the stream with an error that
 * names it; to replace it, rename another one to its name.
 *
 * Lists may be of any size. What is kept in memory is where every 32nd item
 * begins (128 MiB at most, for which it is every 64th, 128th and so on of the
 * very largest lists), and 64 MiB of the list itself. From 16 MiB on, a list's
 * index is kept in a file beside it, `.NAME.spdl-index`, or, where none can be
 * written there, in `gst-spdl` in the user's cache (`XDG_CACHE_HOME`); with it
 * the list is open in milliseconds, and without it is read through once. A list
 * that has changed gets a new one. `index-cache=none` does without, and
 * `index-cache=always` writes one for a small list, too.
 *
 * Shards are tar archives in WebDataset's form, or ZIPs whose files are stored
 * or deflated: `train-{0000..0127}.tar`, a glob on a disk, or one of them, also
 * on HTTP(S) servers. A sample is the files that follow each other and share
 * their path up to the first dot of the name, which is its key. Its item is the
 * byte range of one of them: of the first that it has of `extensions`
 * (`jpg,png`), or of its first media file, else its first that is no note.
 * `.cls` is the label (text only with `classes`); `extra` has the key as `key`,
 * each
 * `.txt` and `.json` as a string, of each other file its URI under its
 * extension, and each member of the JSON that is a string, a number or a
 * boolean as a field of its own. Notes of more than 64 KiB are left out with a
 * warning, as are samples without such a file. Shards that are compressed,
 * sparse, encrypted, cut off or damaged are refused by name.
 *
 * So samples are drawn from all shards in any order, and read at the same time;
 * `spdlfetch coalesce` joins neighbours. Where they lie, the shards' headers
 * say, which are read when the source starts, 16 shards at a time: of a shard
 * on a server by `Range`. Its index is kept in `SHARD.spdl-index` beside it or
 * in the user's cache, as that of a list, and mapped; `gst-spdl-index` writes
 * it in advance, to be put beside shards on a server, too. A shard that has
 * changed gets a new index; one that is changed on a disk while it is in use
 * ends the stream with an error.
 *
 * Where a server knows no byte ranges, shards are read from their beginnings,
 * one after the other: with `shuffle=true` in another order of the shards each
 * epoch, and with `shuffle-buffer` each sample is drawn from among so many.
 * Ranks then have shards of their own, how many items an epoch has is known at
 * its end, and a shard that fails is a warning that names it.
 * `extra-headers`, `user-agent`, `tls-ca-file`, `timeout` and `retries` say how
 * servers of shards are asked, and `trusted-origins` which other servers may
 * get the headers after a redirect.
 *
 * The URI in an item's meta, which messages show, has `***` in place of
 * credentials and signatures; the buffer has the URI that spdlfetch needs.
 *
 * ## Labels
 * The label of an item is a number, -1 where it has none. Labels of a list may
 * be text instead, such as `aqua`; then each text is a class, and the classes
 * are numbered in the order of their bytes, as all ranks do. The first label of
 * the list decides whether its labels are integers or text, and one of the
 * other kind is an error, as it is more often a slip than a class. There may be
 * 1,048,576 classes. With `label=folder` the top-level folders are the classes,
 * in the order of their bytes.
 *
 * `classes`, an array of names, gives the classes and their order itself. A
 * label must then be one of the names, or an integer from 0 to n - 1 if no name
 * is an integer; a top-level folder must be one of the names if it has items.
 * So another part of a dataset, where a class may be missing, is numbered as
 * the first one is. Shards need it for labels that are text: their indexes know
 * no classes. Without it such items have no label, of which a warning tells.
 *
 * From PAUSED on `classes` reads as the classes in use; it is empty where
 * labels are mere numbers. A resume state holds a hash of the names, and the
 * state of other names, or of another order of them, is an error.
 *
 * ## Order
 * With `shuffle=true` each epoch has an order of its own, which depends on
 * `seed`, the epoch's number and the number of items alone: it is the same on
 * every machine and in every version, whatever came before. It takes no memory,
 * and any place in it is reached at once.
 *
 * With `weight-column=COLUMN`, a column of a `.csv` list, items are drawn with
 * replacement, each as often as its number there says, in place of each item
 * once: decimal numbers from 0 on, of which a negative one, an empty field,
 * `inf` or `nan` is malformed. `items-per-epoch` says how many draws an epoch
 * has; 0 is as many as there are items. The draw at a place of the epoch
 * depends on `seed`, the epoch's number, the place and the weights alone, so
 * shards and states do with it what they do with an order; `shuffle` changes
 * nothing. An item's `index` is that of the item which was drawn, its
 * `sequence` counts draws, and so does `num-items`. It takes 8 bytes of memory
 * an item (12 at the start), up to 2^32 - 1 items, and the list is read through
 * at each start. Weights are accurate to 2^-32 of their mean.
 *
 * ## Shards
 * Each of `world-size` processes sends a part of each epoch: `rank` r of W
 * takes the places r, r + W, r + 2W ... of the epoch's order, so all ranks need
 * the same dataset and `seed`. What is unset is taken from the environment,
 * from the first of these that says all that is unset:
 *
 * 1. `RANK` and `WORLD_SIZE`, as torchrun sets them,
 * 2. Slurm's `SLURM_PROCID` and `SLURM_NTASKS`,
 * 3. Open MPI's `OMPI_COMM_WORLD_RANK` and `OMPI_COMM_WORLD_SIZE`,
 * 4. `JOB_COMPLETION_INDEX` of Kubernetes's indexed jobs, which do not say how
 *    many there are, and so `WORLD_SIZE`, which the job sets.
 *
 * If nothing is known, there is one process. One of the two alone is an error.
 * `shard-mode` says what becomes of n items that W does not divide:
 *
 * - `pad`: ceil(n / W) for each rank. The places go on at the beginning of the
 *   epoch's order, so its first items come again (more than once if there are
 *   fewer items than half of the ranks).
 * - `drop`: floor(n / W) for each rank. The last places of the order are left
 *   out: with `shuffle`, other items in each epoch. Fewer items than ranks are
 *   an error.
 * - `uneven`: each item once; the first n mod W ranks have one more. A rank
 *   without any sends its `spdl-epoch` events and the end of the stream; it is
 *   an error with `epochs=-1`, where it would do so without end.
 *
 * An item's `index` is its place in the dataset, its `sequence` the place among
 * what this rank sends of the epoch. `num-items`, the property and the events'
 * field, counts what this rank sends of an epoch; it is known before the first
 * item is sent.
 *
 * ## Going on
 * With `resume-state` set to the state of a batch, which `spdlsink` writes into
 * its meta, the source begins where that batch left off: it sends each item of
 * the epoch that was neither delivered by then nor known to be gone, and then
 * the epochs that follow, up to the last of `epochs`, which counts those before
 * the state too. The state of another dataset, order or part of it is an error
 * that says what differs. Rank, world size and `shard-mode` may be others if
 * the state stands between two epochs.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     shuffle=true seed=1 epochs=2 rank=0 world-size=2
 *     ! spdlfetch concurrency=4 ! fakesink
 * ]|
 * 1,000 draws an epoch from a list with the columns uri and often:
 * |[
 * gst-launch-1.0 spdlsrc location=list.csv weight-column=often
 *     items-per-epoch=1000 ! spdlfetch ! fakesink
 * ]|
 * Top-level folders in an order of one's own, some of which may be missing:
 * |[
 * gst-launch-1.0 spdlsrc location=photos label=folder
 *     classes="<none, yellowflower, wood, twowings, storm, raindrops,
 *         ladybird, greenmeadow, garden, freshflower, dune, blinds, aqua>"
 *     ! spdlfetch ! fakesink
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

#include "gst/spdl/common/redact.h"
#include "gst/spdl/stage/droppeditems.h"
#include "gst/spdl/stage/plainstats.h"
#include "plugins/common/sourcenumber.h"
#include "plugins/core/core.h"
#include "gst/spdl/common/propertytable.h"
#include "plugins/core/src/sampler.h"

GST_DEBUG_CATEGORY_STATIC (spdl_src_debug);
#define GST_CAT_DEFAULT spdl_src_debug

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("text/uri-list"));

#define GST_TYPE_SPDL_SRC (gst_spdl_src_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlSrc, gst_spdl_src, GST, SPDL_SRC, GstPushSrc)

struct _GstSpdlSrc {
  GstPushSrc parent;

  GstSpdlPlainStats *stats;

  /* Properties, under the object's lock. */
  SpdlSourceSettings settings;
  gint64 epochs;

  SpdlSampler *sampler; /* while started; under the object's lock */
  guint32 number;       /* among the pipeline's sources */
  guint64 n_items;
  GStrv classes;      /* (nullable): in use; under the object's lock */
  gboolean announced; /* the source, downstream */
};

#define DEFAULT_EPOCHS 1

SPDL_DEFINE_ENUM_TYPE (GstSpdlLabel, spdl_label,
    { SPDL_LABEL_NONE, "No labels", "none" },
    { SPDL_LABEL_FOLDER, "Number of the top-level folder, in sorted order",
        "folder" },
    { SPDL_LABEL_MANIFEST, "Label in the list or the shard", "manifest" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlShardMode, spdl_shard_mode,
    { SPDL_SHARD_PAD,
        "Equal numbers of items: the epoch's first items are repeated", "pad" },
    { SPDL_SHARD_DROP,
        "Equal numbers of items: the epoch's last items are dropped", "drop" },
    { SPDL_SHARD_UNEVEN, "Each item once: some ranks have one item more",
        "uneven" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlIndexUse, spdl_index_use,
    { SPDL_SIDECAR_NONE, "In memory only", "none" },
    { SPDL_SIDECAR_AUTO, "In a file, for lists and shards of 16 MiB or more",
        "auto" },
    { SPDL_SIDECAR_ALWAYS, "In a file", "always" })

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_STRING (SpdlSourceSettings, location, READY, "location",
      "Location",
      "Dataset: a folder; a .txt list with a path or URI on each line and, "
      "after a tab, a label; a .csv list with the columns uri, label and "
      "others; or .tar or .zip shards, also on servers: train-{0000..0127}.tar",
      NULL),
  SPDL_PROPERTY_CHOICE (SpdlSourceSettings, pattern, READY, "pattern",
      "Pattern",
      "Glob for the names of a folder's files, case-insensitive, such as "
      "*.@(jpg|jpeg)",
      SPDL_DEFAULT_PATTERN),
  SPDL_PROPERTY_ENUM (SpdlSourceSettings, label, READY, "label", "Label",
      "Source of an item's label", spdl_label_get_type, SPDL_LABEL_MANIFEST),
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
  SPDL_PROPERTY_STRING (SpdlSourceSettings, resume_state, READY, "resume-state",
      "Resume state",
      "Resume state of the last batch that was used; the source continues "
      "after it (unset = start at the beginning)",
      NULL),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, weights, READY, "weight-column",
      "Weight column",
      "Column of a .csv list with weights, by which items are drawn with "
      "replacement (unset = each item once)",
      NULL),
  SPDL_PROPERTY_UINT64 (SpdlSourceSettings, items_per_epoch, READY,
      "items-per-epoch", "Items per epoch",
      "Number of draws in an epoch, over all ranks, with weight-column (0 = "
      "number of items)",
      0, G_MAXINT64, 0),
  SPDL_PROPERTY_ENUM (SpdlSourceSettings, sidecar, READY, "index-cache",
      "Index cache",
      "Whether to keep the index of a list or a shard in a file beside it, to "
      "open it faster the next time",
      spdl_index_use_get_type, SPDL_SIDECAR_AUTO),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, extensions, READY, "extensions",
      "Extensions",
      "Extensions, such as jpg,png: the item of a shard's sample is the first "
      "of these files that it has (unset = its first media file)",
      NULL),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, shuffle_buffer, READY,
      "shuffle-buffer", "Shuffle buffer",
      "Number of samples to shuffle among in shards that are streamed because "
      "the server supports no byte ranges (0 = keep their order)",
      0, G_MAXINT, 0),
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
      "Headers of each request for shards and their indexes: a header for each "
      "field, several for an array or a list"),
  SPDL_PROPERTY_STRING (SpdlSourceSettings, remote.trusted_origins, READY,
      "trusted-origins", "Trusted origins",
      "Servers that get extra-headers and credentials when another server "
      "redirects to them (\"https://cdn.example.com\")",
      NULL),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, remote.timeout, READY, "timeout",
      "Timeout",
      "Seconds without data after which a request for a shard fails (0 = no "
      "limit)",
      0, 3600, SPDL_REMOTE_TIMEOUT),
  SPDL_PROPERTY_UINT (SpdlSourceSettings, remote.retries, READY, "retries",
      "Retries",
      "Number of times to repeat a failed request for a shard or its index, if "
      "the failure may be temporary",
      0, 1000, SPDL_REMOTE_RETRIES),
  SPDL_PROPERTY_NAMES (SpdlSourceSettings, classes, READY, "classes", "Classes",
      "Names of the classes in the order of their numbers, which text labels "
      "and top-level folders must be (unset = those of the list or the folder, "
      "sorted). From PAUSED on it reads as the classes in use"),
  SPDL_PROPERTY_END
};

enum {
  PROP_0,
  PROP_SETTINGS, /* the first of the table */
  PROP_CLASSES = PROP_SETTINGS + G_N_ELEMENTS (properties) - 2, /* its last */
  PROP_EPOCHS,
  PROP_NUM_ITEMS,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

static void
clear_settings (SpdlSourceSettings *settings)
{
  gst_spdl_property_table_clear (properties, settings);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlSourceSettings, clear_settings)

static GParamSpec *num_items_property;

G_DEFINE_FINAL_TYPE (GstSpdlSrc, gst_spdl_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    spdlsrc, "spdlsrc", GST_RANK_NONE, GST_TYPE_SPDL_SRC)

static void
post_warning (const gchar *text, gpointer user_data)
{
  g_autofree gchar *shown = spdl_redact_text (text);

  GST_ELEMENT_WARNING (user_data, RESOURCE, READ, ("%s", shown), (NULL));
}

static gint64
copy_settings (GstSpdlSrc *self, SpdlSourceSettings *settings)
{
  gint64 epochs;

  GST_OBJECT_LOCK (self);
  *settings = self->settings;
  gst_spdl_property_table_own (properties, settings);
  epochs = self->epochs;
  GST_OBJECT_UNLOCK (self);
  return epochs;
}

static SpdlSampler *
make_delivery (GstSpdlSrc *self, GError **error)
{
  g_auto (SpdlSourceSettings) settings = { NULL };
  const gint64 epochs = copy_settings (self, &settings);
  SpdlSampler *sampler;

  if (!settings.location || !*settings.location) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No location is set: set it to a folder, to a .txt or .csv list, or to "
        ".tar or .zip shards");
    return NULL;
  }
  sampler =
      spdl_sampler_open (&settings, self->number, post_warning, self, error);
  if (!sampler || epochs >= 0 || spdl_sampler_get_size (sampler) > 0)
    return sampler;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "shard-mode=uneven leaves this rank no item of \"%s\", and with "
      "epochs=-1 that would go on for ever: set shard-mode to pad, or epochs",
      settings.location);
  spdl_sampler_free (sampler);
  return NULL;
}

static GStrv
dup_names (const SpdlClasses *classes)
{
  return classes ? g_strdupv ((GStrv) spdl_classes_get_names (classes)) : NULL;
}

static gboolean
open_dataset (GstSpdlSrc *self)
{
  g_autoptr (GError) error = NULL;
  SpdlSampler *sampler;

  self->number = spdl_source_number_find (GST_ELEMENT (self));
  sampler = make_delivery (self, &error);
  if (!sampler) {
    spdl_redact_error (error);
    gst_spdl_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->sampler = sampler;
  self->n_items = spdl_sampler_get_size (sampler);
  g_strfreev (self->classes);
  self->classes = dup_names (spdl_sampler_get_classes (sampler));
  GST_OBJECT_UNLOCK (self);
  self->announced = FALSE;
  gst_spdl_plain_stats_start (self->stats);
  g_object_notify_by_pspec (G_OBJECT (self), num_items_property);
  return TRUE;
}

static void
close_dataset (GstSpdlSrc *self)
{
  SpdlSampler *sampler;

  gst_spdl_plain_stats_stop (self->stats);
  GST_OBJECT_LOCK (self);
  sampler = g_steal_pointer (&self->sampler);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&sampler, spdl_sampler_free);
}

/* Not in GstBaseSrc's start(), behind which a second error would be posted. */
static GstStateChangeReturn
gst_spdl_src_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlSrc *self = GST_SPDL_SRC (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !open_dataset (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (gst_spdl_src_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    close_dataset (self);
  return ret;
}

static gboolean
gst_spdl_src_is_seekable (GstBaseSrc *src)
{
  return FALSE;
}

/* Takes what @item has. */
static GstBuffer *
make_item (GstSpdlSrc *self, const SpdlSamplerItem *item)
{
  const gsize size = strlen (item->uri);
  g_autofree gchar *shown = spdl_redact_uri (item->uri);
  GstBuffer *buffer = gst_buffer_new_wrapped (item->uri, size);
  GstSpdlItemMeta *meta = gst_spdl_buffer_add_item_meta (buffer);

  meta->source = self->number;
  meta->epoch = spdl_sampler_get_epoch (self->sampler);
  meta->index = item->index;
  meta->sequence = item->sequence;
  meta->label = item->label;
  /* The buffer has the URI to fetch; the meta, the name that all see. */
  meta->uri =
      shown ? g_ref_string_new (shown) : g_ref_string_new_len (item->uri, size);
  meta->extra = item->extra;
  meta->created = gst_util_get_timestamp ();
  if (item->carried)
    gst_spdl_buffer_set_carried (buffer, item->carried);
  gst_spdl_plain_stats_pass (self->stats, 1, 0, size);
  return buffer;
}

static GstFlowReturn
post_failure (GstSpdlSrc *self, GError *error)
{
  spdl_redact_error (error);
  gst_spdl_post_error (GST_ELEMENT (self), error);
  /* GstBaseSrc would post a second error behind GST_FLOW_ERROR. */
  gst_spdl_plain_stats_finish (self->stats);
  return GST_FLOW_EOS;
}

/* Before anything else, so that a sink knows what it keeps count of. */
static void
announce_source (GstSpdlSrc *self)
{
  g_autofree gchar *start = spdl_sampler_get_start (self->sampler);
  const gchar *root = spdl_sampler_get_root (self->sampler);
  g_autofree gchar *base = root ? g_filename_to_uri (root, NULL, NULL) : NULL;
  GstEvent *event =
      gst_spdl_event_new_source (self->number, self->n_items, start);

  self->announced = TRUE;
  if (base)
    gst_spdl_event_set_base (event, base);
  gst_pad_push_event (GST_BASE_SRC_PAD (self), event);
}

/* Whether there is another epoch, or the rest of one. */
static gboolean
has_epoch (GstSpdlSrc *self)
{
  gint64 epochs;

  GST_OBJECT_LOCK (self);
  epochs = self->epochs;
  GST_OBJECT_UNLOCK (self);
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

/* Shards that are streamed are waited for. */
static gboolean
set_flushing (GstBaseSrc *src, gboolean flushing)
{
  GstSpdlSrc *self = GST_SPDL_SRC (src);

  GST_OBJECT_LOCK (self);
  if (self->sampler)
    spdl_sampler_set_flushing (self->sampler, flushing);
  GST_OBJECT_UNLOCK (self);
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

static GstFlowReturn
gst_spdl_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstSpdlSrc *self = GST_SPDL_SRC (src);
  g_autoptr (GError) error = NULL;
  SpdlSamplerItem item;

  if (!self->announced)
    announce_source (self);
  while (has_epoch (self)) {
    switch (spdl_sampler_next (self->sampler, &item, &error)) {
      case SPDL_SAMPLER_ITEM:
        *buffer = make_item (self, &item);
        return GST_FLOW_OK;
      case SPDL_SAMPLER_FAILED:
        return post_failure (self, error);
      case SPDL_SAMPLER_FLUSHING:
        return GST_FLOW_FLUSHING;
      default:
        break;
    }
    /* An empty shard has epochs too: all ranks see the same number of them. */
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
  g_strfreev (self->classes);
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
      "Number of items of an epoch on this rank, available from PAUSED on (the "
      "largest number = unknown, because shards are streamed)",
      0, G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property (
      object_class, PROP_NUM_ITEMS, num_items_property);
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
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

  element_class->change_state = gst_spdl_src_change_state;
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
