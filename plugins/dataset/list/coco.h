/* gst-spdl: COCO annotations as a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/list/datasetoptions.h"
#include "plugins/dataset/list/textfile.h"

G_BEGIN_DECLS

/* COCO's JSON has all images in one array and the annotations of all of them in
 * another, in any order. It is read once, in parts, and written as a list with
 * an image and its annotations on each line, which then serves like a `.jsonl`.
 * The list is a file next to the JSON or in the user's cache:
 *
 *     {"version": 1, "size": 45, "samples": "8a…", "items": 1, "classes":
 * ["person", …]}
 *     {"file_name": "1.jpg", "id": 1, …, "boxes": [[x, y, w, h], …], …}
 *
 * Its modification time is that of the JSON, so the same bytes of a JSON always
 * make the same list. */

#define SPDL_COCO_LIST_SUFFIX ".spdl-list"

/* Maximum size of the first line in bytes. */
#define SPDL_COCO_MAX_HEADER (1 << 24)

/* Member of an image's object with its path, unless uri-column names another */
#define SPDL_COCO_URI "file_name"

/* Returns TRUE for the name of a `.json` file. */
gboolean spdl_coco_is_coco (const gchar *location);

/* Returns the path of the list (transfer full), after writing it if it does not
 * exist. Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
gchar *spdl_coco_make_list (const SpdlDatasetOptions *options, GError **error);

/* Reads the header of such a list.
 *
 * @classes: (out) (nullable): names of the categories in the order of their ids
 *
 * Returns the offset of the first line after it; 0 if it is not valid. */
gsize spdl_coco_read_header (
    const gchar *text, gsize size, guint64 *n_items, SpdlClasses **classes);

/* Member of a list with the offset and size of each segmentation in the JSON,
 * or null for an annotation without one */
#define SPDL_COCO_MASKS "boxes_masks"

/* Segmentations of the annotations. Not thread-safe. */
typedef struct _SpdlCocoMasks SpdlCocoMasks;

SpdlCocoMasks *spdl_coco_masks_open (const gchar *location, GError **error);
void spdl_coco_masks_free (SpdlCocoMasks *self);

/* Replaces the places of segmentations in @extra, if it has them, by a list of
 * the segmentations as JSON. Returns FALSE with @error set if they cannot be
 * read. */
gboolean
spdl_coco_masks_load (SpdlCocoMasks *self, GstStructure *extra, GError **error);

G_END_DECLS
