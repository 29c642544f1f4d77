/* gst-spdl: tests that treat all elements alike
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>

G_BEGIN_DECLS

/* Calls @test for each element of this project's plugins, with the settings
 * that it needs to start (@starts) and without, then frees the element. Nothing
 * of it may be left. Fails if a known element is missing. */
void elements_for_each (void (*test) (GstElement *element, gboolean starts));

/* Starts to look for leaks, if GST_TRACERS=leaks is set. */
void elements_begin_tracking (void);
/* Waits until no thread runs, and fails if objects that were created since then
 * are left. */
void elements_assert_no_leak (const gchar *name);

/* Returns the pad of @templ, which is requested if necessary. (transfer full)
 * (nullable) */
GstPad *elements_get_pad (GstElement *element, GstPadTemplate *templ);
/* Releases a requested pad. @pad: (transfer full) */
void elements_release_pad (GstElement *element, GstPad *pad);

/* Calls @test for a pad of each template, then releases it. */
void elements_for_each_pad (
    GstElement *element, void (*test) (GstElement *element, GstPad *pad));

/* Returns the folder of images of the elements that read files. */
const gchar *elements_get_folder (void);

/* Removes that folder. Fixture of tests. */
void elements_tear_down (void);

G_END_DECLS
