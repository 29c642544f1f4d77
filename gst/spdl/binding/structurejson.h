/* gst-spdl: conversion of structures to JSON
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Appends an object with the fields of @structure. Numbers and strings keep
 * their types; other values are strings, as GStreamer writes them. */
void spdl_json_append_structure (GString *json, const GstStructure *structure);

G_END_DECLS
