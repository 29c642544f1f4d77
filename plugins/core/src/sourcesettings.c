/* gst-spdl: the properties of spdlsrc that are read when it starts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/src/sourcesettings.h"

#include "gst/spdl/common/valuearrays.h"

#define DEFAULT_PATTERN "*"
#define DEFAULT_LABEL SPDL_LABEL_MANIFEST
#define DEFAULT_SHUFFLE FALSE
#define DEFAULT_SEED 0
#define DEFAULT_RANK -1
#define DEFAULT_WORLD_SIZE -1
#define DEFAULT_SHARD_MODE SPDL_SHARD_PAD
#define DEFAULT_NUM_DRAWS 0
#define DEFAULT_INDEX SPDL_SIDECAR_AUTO

#define GST_TYPE_SPDL_LABEL (spdl_label_get_type ())
static GType
spdl_label_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_LABEL_NONE, "No labels", "none" },
    { SPDL_LABEL_FOLDER, "The top-level folder, numbered by its name",
        "folder" },
    { SPDL_LABEL_MANIFEST, "What the list or the shard says", "manifest" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstSpdlLabel", values));
  return type;
}

#define GST_TYPE_SPDL_SHARD_MODE (spdl_shard_mode_get_type ())
static GType
spdl_shard_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_SHARD_PAD, "The same number of items: the epoch's first come again",
        "pad" },
    { SPDL_SHARD_DROP,
        "The same number of items: the epoch's last are left out", "drop" },
    { SPDL_SHARD_UNEVEN, "Each item once: some ranks have one more", "uneven" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlShardMode", values));
  return type;
}

#define GST_TYPE_SPDL_INDEX_USE (spdl_index_use_get_type ())
static GType
spdl_index_use_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_SIDECAR_NONE, "In memory only", "none" },
    { SPDL_SIDECAR_AUTO, "In a file, for lists and shards from 16 MiB on",
        "auto" },
    { SPDL_SIDECAR_ALWAYS, "In a file", "always" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlIndexUse", values));
  return type;
}

void
spdl_settings_init (SpdlSettings *self)
{
  *self = (SpdlSettings){
    .pattern = g_strdup (DEFAULT_PATTERN),
    .label = DEFAULT_LABEL,
    .shuffle = DEFAULT_SHUFFLE,
    .seed = DEFAULT_SEED,
    .rank = DEFAULT_RANK,
    .world_size = DEFAULT_WORLD_SIZE,
    .shard_mode = DEFAULT_SHARD_MODE,
    .items_per_epoch = DEFAULT_NUM_DRAWS,
    .sidecar = DEFAULT_INDEX,
  };
  spdl_remote_settings_init (&self->remote);
}

void
spdl_settings_copy (SpdlSettings *self, const SpdlSettings *other)
{
  *self = *other;
  self->location = g_strdup (other->location);
  self->pattern = g_strdup (other->pattern ? other->pattern : DEFAULT_PATTERN);
  self->resume_state = g_strdup (other->resume_state);
  self->weights = g_strdup (other->weights);
  self->extensions = g_strdup (other->extensions);
  self->classes = g_strdupv (other->classes);
  spdl_remote_settings_copy (&self->remote, &other->remote);
}

void
spdl_settings_clear (SpdlSettings *self)
{
  g_clear_pointer (&self->location, g_free);
  g_clear_pointer (&self->pattern, g_free);
  g_clear_pointer (&self->resume_state, g_free);
  g_clear_pointer (&self->weights, g_free);
  g_clear_pointer (&self->extensions, g_free);
  g_clear_pointer (&self->classes, g_strfreev);
  spdl_remote_settings_clear (&self->remote);
}

gboolean
spdl_settings_set (SpdlSettings *self, guint id, const GValue *value)
{
  switch (id) {
    case SPDL_SETTING_LOCATION:
      g_free (self->location);
      self->location = g_value_dup_string (value);
      break;
    case SPDL_SETTING_PATTERN:
      g_free (self->pattern);
      self->pattern = g_value_dup_string (value);
      break;
    case SPDL_SETTING_LABEL:
      self->label = g_value_get_enum (value);
      break;
    case SPDL_SETTING_SHUFFLE:
      self->shuffle = g_value_get_boolean (value);
      break;
    case SPDL_SETTING_SEED:
      self->seed = g_value_get_uint64 (value);
      break;
    case SPDL_SETTING_RANK:
      self->rank = g_value_get_int (value);
      break;
    case SPDL_SETTING_WORLD_SIZE:
      self->world_size = g_value_get_int (value);
      break;
    case SPDL_SETTING_SHARD_MODE:
      self->shard_mode = g_value_get_enum (value);
      break;
    case SPDL_SETTING_RESUME_STATE:
      g_free (self->resume_state);
      self->resume_state = g_value_dup_string (value);
      break;
    case SPDL_SETTING_WEIGHTS:
      g_free (self->weights);
      self->weights = g_value_dup_string (value);
      break;
    case SPDL_SETTING_NUM_DRAWS:
      self->items_per_epoch = g_value_get_uint64 (value);
      break;
    case SPDL_SETTING_INDEX:
      self->sidecar = g_value_get_enum (value);
      break;
    case SPDL_SETTING_EXTENSIONS:
      g_free (self->extensions);
      self->extensions = g_value_dup_string (value);
      break;
    case SPDL_SETTING_SHUFFLE_BUFFER:
      self->shuffle_buffer = g_value_get_uint (value);
      break;
    case SPDL_SETTING_CLASSES:
      g_strfreev (self->classes);
      self->classes = gst_spdl_names_dup (value);
      break;
    default:
      return spdl_remote_settings_set (
          &self->remote, id - SPDL_SETTING_REMOTE, value);
  }
  return TRUE;
}

gboolean
spdl_settings_get (const SpdlSettings *self, guint id, GValue *value)
{
  switch (id) {
    case SPDL_SETTING_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case SPDL_SETTING_PATTERN:
      g_value_set_string (value, self->pattern);
      break;
    case SPDL_SETTING_LABEL:
      g_value_set_enum (value, self->label);
      break;
    case SPDL_SETTING_SHUFFLE:
      g_value_set_boolean (value, self->shuffle);
      break;
    case SPDL_SETTING_SEED:
      g_value_set_uint64 (value, self->seed);
      break;
    case SPDL_SETTING_RANK:
      g_value_set_int (value, self->rank);
      break;
    case SPDL_SETTING_WORLD_SIZE:
      g_value_set_int (value, self->world_size);
      break;
    case SPDL_SETTING_SHARD_MODE:
      g_value_set_enum (value, self->shard_mode);
      break;
    case SPDL_SETTING_RESUME_STATE:
      g_value_set_string (value, self->resume_state);
      break;
    case SPDL_SETTING_WEIGHTS:
      g_value_set_string (value, self->weights);
      break;
    case SPDL_SETTING_NUM_DRAWS:
      g_value_set_uint64 (value, self->items_per_epoch);
      break;
    case SPDL_SETTING_INDEX:
      g_value_set_enum (value, self->sidecar);
      break;
    case SPDL_SETTING_EXTENSIONS:
      g_value_set_string (value, self->extensions);
      break;
    case SPDL_SETTING_SHUFFLE_BUFFER:
      g_value_set_uint (value, self->shuffle_buffer);
      break;
    case SPDL_SETTING_CLASSES:
      gst_spdl_names_set (value, (const gchar *const *) self->classes);
      break;
    default:
      return spdl_remote_settings_get (
          &self->remote, id - SPDL_SETTING_REMOTE, value);
  }
  return TRUE;
}

static void
install_draws (GObjectClass *klass, GParamFlags ready)
{
  g_object_class_install_property (klass, SPDL_SETTING_WEIGHTS,
      g_param_spec_string ("weight-column", "Weight column",
          "Column of a .csv list with weights, by which items are drawn with "
          "replacement (unset: each item once)",
          NULL, ready));
  g_object_class_install_property (klass, SPDL_SETTING_NUM_DRAWS,
      g_param_spec_uint64 ("items-per-epoch", "Items per epoch",
          "Number of draws in an epoch, on all ranks together, with "
          "weight-column (0: number of items)",
          0, G_MAXINT64, DEFAULT_NUM_DRAWS, ready));
}

void
spdl_settings_install (GObjectClass *klass)
{
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (klass, SPDL_SETTING_LOCATION,
      g_param_spec_string ("location", "Location",
          "A folder; a .txt list with a path or URI a line and, behind a tab, "
          "a label; a .csv list with the columns uri, label and others; or "
          ".tar or .zip shards, also on servers: train-{0000..0127}.tar",
          NULL, ready));
  g_object_class_install_property (klass, SPDL_SETTING_PATTERN,
      g_param_spec_string ("pattern", "Pattern",
          "Which files of a folder are items: a glob on the name, whatever its "
          "case, such as *.@(jpg|jpeg)",
          DEFAULT_PATTERN, ready));
  g_object_class_install_property (klass, SPDL_SETTING_LABEL,
      g_param_spec_enum ("label", "Label", "Where an item's label comes from",
          GST_TYPE_SPDL_LABEL, DEFAULT_LABEL, ready));
  g_object_class_install_property (klass, SPDL_SETTING_SHUFFLE,
      g_param_spec_boolean ("shuffle", "Shuffle",
          "Send each epoch's items in another order, which seed and epoch "
          "decide",
          DEFAULT_SHUFFLE, ready));
  g_object_class_install_property (klass, SPDL_SETTING_SEED,
      g_param_spec_uint64 ("seed", "Seed",
          "Decides the orders; the same on all ranks", 0, G_MAXUINT64,
          DEFAULT_SEED, ready));
  g_object_class_install_property (klass, SPDL_SETTING_RANK,
      g_param_spec_int ("rank", "Rank",
          "Which of the world-size processes this is, from 0 (-1 = the "
          "environment's RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or "
          "JOB_COMPLETION_INDEX, else 0)",
          -1, G_MAXINT, DEFAULT_RANK, ready));
  g_object_class_install_property (klass, SPDL_SETTING_WORLD_SIZE,
      g_param_spec_int ("world-size", "World size",
          "How many processes share each epoch (-1 = the environment's "
          "WORLD_SIZE, SLURM_NTASKS or OMPI_COMM_WORLD_SIZE, else 1)",
          -1, G_MAXINT, DEFAULT_WORLD_SIZE, ready));
  g_object_class_install_property (klass, SPDL_SETTING_SHARD_MODE,
      g_param_spec_enum ("shard-mode", "Shard mode",
          "What each rank has where world-size does not divide the items",
          GST_TYPE_SPDL_SHARD_MODE, DEFAULT_SHARD_MODE, ready));
  g_object_class_install_property (klass, SPDL_SETTING_RESUME_STATE,
      g_param_spec_string ("resume-state", "Resume state",
          "Where to begin: the resume state of the last batch that was used "
          "(unset: at the beginning)",
          NULL, ready));
  install_draws (klass, ready);
  g_object_class_install_property (klass, SPDL_SETTING_INDEX,
      g_param_spec_enum ("index-cache", "Index cache",
          "Whether the index of a list or a shard is kept in a file beside it, "
          "so that it opens faster the next time",
          GST_TYPE_SPDL_INDEX_USE, DEFAULT_INDEX, ready));
  g_object_class_install_property (klass, SPDL_SETTING_EXTENSIONS,
      g_param_spec_string ("extensions", "Extensions",
          "Which file of a shard's sample is its item: the first of these that "
          "it has, such as jpg,png (unset: its first media file)",
          NULL, ready));
  g_object_class_install_property (klass, SPDL_SETTING_SHUFFLE_BUFFER,
      g_param_spec_uint ("shuffle-buffer", "Shuffle buffer",
          "Where shards can only be read from their beginnings, since a server "
          "knows no byte ranges: from among how many samples the next one is "
          "drawn (0 = they stay in order)",
          0, G_MAXINT, 0, ready));
  g_object_class_install_property (klass, SPDL_SETTING_CLASSES,
      gst_spdl_names_param_spec ("classes", "Classes",
          "Names of the classes in the order of their numbers, which text "
          "labels and top-level folders must be (unset: those of the list or "
          "the folder, sorted). Read from PAUSED on, those in use",
          ready));
  spdl_remote_settings_install (klass, SPDL_SETTING_REMOTE);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_LABEL, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_INDEX_USE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_SHARD_MODE, 0);
}
