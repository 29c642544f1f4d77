#!/bin/sh
# gst-spdl: example pipelines for gst-launch-1.0
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#     meson devenv -C build ../examples/launch-lines.sh FOLDER
#
# FOLDER contains a folder of JPEGs for each class. The tests run this script.
set -eux
folder=$1

# Main use: one decoder per core, batches of 32.
gst-launch-1.0 -q spdlsrc location="$folder" label=folder \
  ! spdlfetch concurrency=4 \
  ! spdldecode concurrency="$(nproc)" width=224 height=224 \
  ! spdlbatch batch-size=32 labels=true ! fakesink

# Same in input order, with statistics of each stage twice per second.
gst-launch-1.0 -m spdlsrc location="$folder" pattern="*.@(jpg|jpeg)" epochs=2 \
  ! spdlfetch concurrency=4 output-order=input stats-interval=500000000 \
  ! spdldecode concurrency=2 output-order=input width=224 height=224 \
    stats-interval=500000000 \
  ! spdlbatch batch-size=32 indices=true ! fakesink | grep spdl-stage-stats

# Groups: each task fetches 16 files.
gst-launch-1.0 -q spdlsrc location="$folder" \
  ! spdlaggregate size=16 ! spdlfetch concurrency=2 \
  ! spdldisaggregate ! spdldecode concurrency=2 width=64 height=64 \
  ! spdlbatch batch-size=64 drop-last=true ! fakesink

# Thread pool with two threads.
gst-launch-1.0 -q spdlsrc location="$folder" ! spdlfetch \
  ! spdldecode concurrency=2 thread-pool=cpu:2 width=64 height=64 \
  ! spdlbatch ! fakesink

# Failure limits: more than 10 % failed items end the pipeline with an error.
gst-launch-1.0 -q spdlsrc location="$folder" ! spdlfetch max-failures=0 \
  ! spdldecode max-failure-rate=0.1 width=64 height=64 ! spdlbatch ! fakesink

# Batches of images from other elements.
gst-launch-1.0 -q videotestsrc num-buffers=100 \
  ! video/x-raw,format=RGB,width=64,height=64 ! spdlbatch batch-size=32 ! fakesink

# Mix of two sources; the first one provides three of four images.
gst-launch-1.0 -q spdlmix name=m sink_0::weight=3 ! spdlfetch concurrency=4 \
  ! spdldecode concurrency=2 width=64 height=64 ! spdlbatch ! fakesink \
  spdlsrc location="$folder" shuffle=true ! m.sink_0 \
  spdlsrc location="$folder" shuffle=true seed=1 ! m.sink_1

# Separate path for one class; both paths are merged again.
gst-launch-1.0 -q spdlsrc location="$folder" label=folder ! spdlfetch \
  ! spdlroute name=r src_0::condition=label=0 \
  r.src_0 ! spdldecode width=64 height=64 flip=0.5 ! m. \
  r.src_1 ! spdldecode width=64 height=64 ! m. \
  spdlmix name=m order=arrival ! spdlbatch labels=true ! fakesink
