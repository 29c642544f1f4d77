# gst-spdl: methods of Pipeline, one for each element
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Made by bindings/python/generate.py from the elements' properties: run that
instead of editing this file."""

import os
from typing import (TYPE_CHECKING, Any, Callable, Dict, Literal, Mapping,
                    Optional, Sequence, Tuple, Union)

if TYPE_CHECKING:
    from datetime import timedelta

    from ._pipeline import Pipeline
    from ._sample import Sample

Function = Callable[["Sample"], Any]
Path = Union[str, "os.PathLike[str]"]
Seconds = Union[float, "timedelta"]
Numbers = Union[float, Sequence[float]]
Headers = Mapping[str, Union[str, Sequence[str]]]
BatchLayout = Literal["as-is", "nhwc", "nchw"]
BatchType = Literal["as-is", "uint8", "float16", "float32"]
CudaNormalizeType = Literal["float32", "float16"]
DecodeAugment = Literal["none", "random-resized-crop", "random-crop"]
DecodeClipSampling = Literal["head", "center", "random", "uniform", "times"]
DecodeInterpolation = Literal["nearest", "bilinear", "bicubic", "lanczos"]
DecodeOnCorrupt = Literal["fail", "keep"]
DecodeResize = Literal["stretch", "cover", "contain", "none"]
DecodeShortClip = Literal["repeat", "fail"]
FetchCacheValidate = Literal["etag", "date", "none"]
IndexUse = Literal["none", "auto", "always"]
Label = Literal["none", "folder", "manifest"]
MixOrder = Literal["weighted", "arrival"]
MixStoppingStrategy = Literal["first-exhausted",
    "all-exhausted-without-replacement", "all-exhausted"]
OnShapeMismatch = Literal["auto", "error", "skip"]
OutputOrder = Literal["completion", "input"]
ShardMode = Literal["pad", "drop", "uneven"]


class Elements:
    def _add(self, factory: str, values: Dict[str, Any]) -> "Pipeline":
        raise NotImplementedError

    def _map(self, function: Function, values: Dict[str, Any]
             ) -> "Pipeline":
        raise NotImplementedError

    def _mix(self, others: "Tuple[Pipeline, ...]",
             weights: Optional[Sequence[float]], values: Dict[str, Any]
             ) -> "Pipeline":
        raise NotImplementedError

    def _route(self, branches: "Mapping[Optional[str], Pipeline]",
               values: Dict[str, Any]) -> "Pipeline":
        raise NotImplementedError

    def files(
        self,
        location: Path,
        *,
        name: Optional[str] = None,
        pattern: Optional[str] = None,
        label: Optional[Label] = None,
        shuffle: Optional[bool] = None,
        seed: Optional[int] = None,
        rank: Optional[int] = None,
        world_size: Optional[int] = None,
        shard_mode: Optional[ShardMode] = None,
        resume_state: Optional[str] = None,
        weight_column: Optional[str] = None,
        items_per_epoch: Optional[int] = None,
        index_cache: Optional[IndexUse] = None,
        extensions: Optional[str] = None,
        shuffle_buffer: Optional[int] = None,
        user_agent: Optional[str] = None,
        tls_ca_file: Optional[Path] = None,
        extra_headers: Optional[Headers] = None,
        trusted_origins: Optional[str] = None,
        timeout: Optional[Seconds] = None,
        retries: Optional[int] = None,
        s3_endpoint: Optional[str] = None,
        s3_region: Optional[str] = None,
        s3_profile: Optional[str] = None,
        s3_addressing: Optional[str] = None,
        anonymous: Optional[bool] = None,
        classes: Optional[Sequence[str]] = None,
        epochs: Optional[int] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Sends the URIs of a dataset's items, epoch by epoch.

        The element is spdlsrc.

        `location`: Dataset: a folder, local or in an object store; a .txt list
        with a path or URI on each line and, after a tab, a label; a .csv list
        with the columns uri, label and others; or .tar or .zip shards, local
        or on servers: train-{0000..0127}.tar.
        `name`: Name of the element.
        `pattern`: Glob for the names of a folder's files, case-insensitive,
        such as *.@(jpg|jpeg). Default: '*'.
        `label`: Source of an item's label. One of "none", "folder",
        "manifest". Default: "manifest".
        `shuffle`: Send the items of each epoch in a different random order.
        Default: False.
        `seed`: Seed of the random orders; the same on all ranks. Default: 0.
        `rank`: Index of this process among world-size processes, from 0 (-1 =
        from the environment's RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or
        JOB_COMPLETION_INDEX, else 0). Default: -1.
        `world_size`: Number of processes that share each epoch (-1 = from the
        environment's WORLD_SIZE, SLURM_NTASKS or OMPI_COMM_WORLD_SIZE, else
        1). Default: -1.
        `shard_mode`: Items of each rank if world-size does not divide their
        number. One of "pad", "drop", "uneven". Default: "pad".
        `resume_state`: Resume state of the last batch that was used; the
        source continues after it (unset = start at the beginning).
        `weight_column`: Column of a .csv list with the weights by which items
        are drawn with replacement (unset = send each item once).
        `items_per_epoch`: Number of items to draw in an epoch, over all ranks,
        with weight-column (0 = number of items). Default: 0.
        `index_cache`: Keep the index of a list or a shard in a file next to
        it, to open it faster the next time. One of "none", "auto", "always".
        Default: "auto".
        `extensions`: Extensions in order of preference, such as jpg,png, that
        select the file of a sample in a shard (unset = its first media file).
        `shuffle_buffer`: Size in samples of the shuffle buffer for shards that
        are streamed because the server supports no byte ranges (0 = keep their
        order). Default: 0.
        `user_agent`: User-Agent header of requests for shards.
        `tls_ca_file`: PEM file of the certificate authorities to trust for
        shards on servers (unset = the system's).
        `extra_headers`: HTTP headers of each request for shards and their
        indexes: a field per header (an array or a list repeats the header).
        `trusted_origins`: Servers that get extra-headers and credentials when
        another server redirects to them ("https://cdn.example.com").
        `timeout`: Seconds without data after which a request for a shard fails
        (0 = no limit). Default: 30.
        `retries`: Number of times to retry a request for a shard or its index
        after a temporary failure. Default: 3.
        `s3_endpoint`: Address of an S3-compatible store, such as
        http://minio:9000 (unset = AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the
        AWS config file, or AWS).
        `s3_region`: Region of S3 (unset = AWS_REGION, AWS_DEFAULT_REGION, the
        AWS config file, or us-east-1). The region of a bucket is detected if
        it differs.
        `s3_profile`: Profile of the AWS config and credentials files (unset =
        AWS_PROFILE, or default).
        `s3_addressing`: Where the bucket is in a request: virtual (in the
        host's name), path, or auto (path if an endpoint is set; unset = the
        AWS config file, or auto).
        `anonymous`: Send requests to object stores without credentials (for
        public buckets). Default: False.
        `classes`: Names of the classes in the order of their numbers; text
        labels and top-level folders must be among them (unset = the sorted
        names of the list or the folder). From PAUSED on, reads as the classes
        in use.
        `epochs`: Number of passes over the dataset (-1 = endless). Default: as
        many as there are `for` loops over the Loader.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlsrc", locals())

    def fetch(
        self,
        *,
        name: Optional[str] = None,
        caps: Optional[str] = None,
        timeout: Optional[Seconds] = None,
        task_timeout: Optional[Seconds] = None,
        retries: Optional[int] = None,
        max_size: Optional[int] = None,
        user_agent: Optional[str] = None,
        extra_headers: Optional[Headers] = None,
        tls_ca_file: Optional[Path] = None,
        trusted_origins: Optional[str] = None,
        parts: Optional[str] = None,
        coalesce: Optional[int] = None,
        cache_dir: Optional[Path] = None,
        cache_size: Optional[int] = None,
        cache_validate: Optional[FetchCacheValidate] = None,
        s3_endpoint: Optional[str] = None,
        s3_region: Optional[str] = None,
        s3_profile: Optional[str] = None,
        s3_addressing: Optional[str] = None,
        anonymous: Optional[bool] = None,
        concurrency: Optional[int] = None,
        queue_size: Optional[int] = None,
        output_order: Optional[OutputOrder] = None,
        thread_pool: Optional[str] = None,
        max_bytes: Optional[int] = None,
        max_failures: Optional[int] = None,
        max_failure_rate: Optional[float] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Reads files and URLs in parallel.

        The element is spdlfetch.

        `name`: Name of the element.
        `caps`: Caps of the items (unset = bytes, or what downstream requests).
        `timeout`: Seconds without data after which a request fails (0 = no
        limit). Default: 30.
        `task_timeout`: Timeout in seconds for an item, including all retries
        (0 = no limit). Default: 0.
        `retries`: Number of times to retry a request after a temporary
        failure. Default: 3.
        `max_size`: Maximum bytes of an item; a larger one fails, if possible
        before it is read (0 = a quarter of the memory that the process may
        use, -1 = no limit). Default: 0.
        `user_agent`: User-Agent header of requests.
        `extra_headers`: HTTP headers of each request: a field per header (an
        array or a list repeats the header).
        `tls_ca_file`: PEM file of the certificate authorities to trust (unset
        = the system's).
        `trusted_origins`: Servers that get extra-headers and credentials when
        another server redirects to them, and schemes that a server may
        redirect to ("https://cdn.example.com,file:").
        `parts`: Fields of an item's extra, such as columns of a list, that
        hold the URIs of the sample's other media, which are fetched as well
        ("mask,depth").
        `coalesce`: In a group, read byte ranges of one file together if at
        most this many bytes lie between them (0 = separately). Default: 0.
        `cache_dir`: Folder in which to cache items and byte ranges from
        servers and object stores; processes may share it (unset = no cache).
        `cache_size`: Maximum bytes in cache-dir; the least recently used files
        are removed (0 = no limit). Default: 68719476736.
        `cache_validate`: How to check that an entry of cache-dir is current.
        One of "etag", "date", "none". Default: "etag".
        `s3_endpoint`: Address of an S3-compatible store, such as
        http://minio:9000 (unset = AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the
        AWS config file, or AWS).
        `s3_region`: Region of S3 (unset = AWS_REGION, AWS_DEFAULT_REGION, the
        AWS config file, or us-east-1). The region of a bucket is detected if
        it differs.
        `s3_profile`: Profile of the AWS config and credentials files (unset =
        AWS_PROFILE, or default).
        `s3_addressing`: Where the bucket is in a request: virtual (in the
        host's name), path, or auto (path if an endpoint is set; unset = the
        AWS config file, or auto).
        `anonymous`: Send requests to object stores without credentials (for
        public buckets). Default: False.
        `concurrency`: Number of tasks that run at the same time (0 =
        automatic, adjusted while playing). Default: 0 in a Loader, else 1.
        `queue_size`: Number of tasks that may wait in addition to those that
        run. Default: 2.
        `output_order`: Order of the results. One of "completion", "input".
        Default: "completion".
        `thread_pool`: Thread pool as NAME:THREADS, shared by all stages of the
        process with that name; stages nearest the sink run first (unset = as
        many threads as concurrency, not shared).
        `max_bytes`: Maximum bytes of input that wait, are processed or await
        output; a larger task runs alone (0 = no limit). Default: 0.
        `max_failures`: Number of failed items to tolerate; one more ends the
        stream with an error (-1 = no limit). Default: -1.
        `max_failure_rate`: Share of an epoch's items that may fail, checked
        from the 100th item on; a larger share ends the stream with an error (1
        = no limit; the default of spdlfetch and spdldecode is 0.5). Default:
        0.5.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlfetch", locals())

    def decode(
        self,
        *,
        name: Optional[str] = None,
        width: Optional[int] = None,
        height: Optional[int] = None,
        format: Optional[str] = None,
        resize: Optional[DecodeResize] = None,
        crop_fraction: Optional[float] = None,
        interpolation: Optional[DecodeInterpolation] = None,
        augment: Optional[DecodeAugment] = None,
        crop_scale: Optional[Tuple[float, float]] = None,
        crop_ratio: Optional[Tuple[float, float]] = None,
        flip: Optional[float] = None,
        seed: Optional[int] = None,
        fast_scale: Optional[bool] = None,
        on_corrupt: Optional[DecodeOnCorrupt] = None,
        max_pixels: Optional[int] = None,
        background: Optional[int] = None,
        part: Optional[str] = None,
        max_decompressed_bytes: Optional[int] = None,
        num_frames: Optional[int] = None,
        frame_step: Optional[int] = None,
        clip_sampling: Optional[DecodeClipSampling] = None,
        short_clip: Optional[DecodeShortClip] = None,
        decoder_threads: Optional[int] = None,
        rate: Optional[int] = None,
        channels: Optional[int] = None,
        audio_format: Optional[str] = None,
        offset: Optional[Seconds] = None,
        duration: Optional[Seconds] = None,
        concurrency: Optional[int] = None,
        queue_size: Optional[int] = None,
        output_order: Optional[OutputOrder] = None,
        thread_pool: Optional[str] = None,
        max_bytes: Optional[int] = None,
        max_failures: Optional[int] = None,
        max_failure_rate: Optional[float] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Decodes images, video and audio, and reads arrays, in parallel.

        The element is spdldecode.

        `name`: Name of the element.
        `width`: Width of the result in pixels (0 = what downstream requests,
        else the decoded width). Default: 0.
        `height`: Height of the result in pixels (0 = what downstream requests,
        else the decoded height). Default: 0.
        `format`: Pixel format of the result: RGB, BGR or GRAY8 (unset = what
        downstream requests, RGB if it accepts several). Default: 'RGB'.
        `resize`: How to resize an image to width and height. One of "stretch",
        "cover", "contain", "none". Default: "stretch".
        `crop_fraction`: Share of the resized sides that resize=cover keeps, in
        the center: with 0.875, 224 of 256 pixels. Default: 1.0.
        `interpolation`: Filter for resizing; all but nearest are antialiased.
        One of "nearest", "bilinear", "bicubic", "lanczos". Default:
        "bilinear".
        `augment`: Part of an image to use. One of "none",
        "random-resized-crop", "random-crop". Default: "none".
        `crop_scale`: Range of the share of an image's area that
        random-resized-crop selects (unset = <0.08,1.0>).
        `crop_ratio`: Range of the aspect ratio (width divided by height) of a
        random-resized-crop (unset = <0.75,1.3333>).
        `flip`: Probability of mirroring an image horizontally. Default: 0.0.
        `seed`: Seed of random crops, flips and clips, combined with an item's
        epoch and index. Default: 0.
        `fast_scale`: Decode a JPEG at 1/2, 1/4 or 1/8 of its size if that is
        at least the size of the result. Default: True.
        `on_corrupt`: Action for an image with missing or invalid data. One of
        "fail", "keep". Default: "fail".
        `max_pixels`: Maximum pixels of an image or a result; a larger one
        fails before memory is allocated. Default: 178956970.
        `background`: Background color of transparent pixels, of missing rows
        and of the borders that resize=contain adds: 0xRRGGBB. Default: 0.
        `part`: Part of samples of several media to decode; other parts pass
        unchanged (unset = an item is one medium).
        `max_decompressed_bytes`: Maximum bytes of an item's arrays after
        decompression; a larger item fails before memory is allocated. Default:
        536870912.
        `num_frames`: Number of frames in a clip, which is a tensor (0 = one
        frame, as an image). Default: 0.
        `frame_step`: Distance between the frames of a clip, in frames; ignored
        by uniform and times. Default: 1.
        `clip_sampling`: How to choose the frames of a clip. One of "head",
        "center", "random", "uniform", "times". Default: "head".
        `short_clip`: Action for a video with fewer frames than num-frames
        requires. One of "repeat", "fail". Default: "repeat".
        `decoder_threads`: Number of threads of a video decoder, in each
        worker. Default: 1.
        `rate`: Sample rate of audio in Hz (0 = what downstream requests, else
        the file's). Default: 0.
        `channels`: Number of audio channels (0 = what downstream requests,
        else the file's). Default: 0.
        `audio_format`: Sample format of audio: F32LE, S16LE, S32LE, F64LE or
        U8 (unset = what downstream requests, F32LE if it accepts several).
        Default: 'F32LE'.
        `offset`: Start of the audio to decode, in seconds. Default: 0.
        `duration`: Maximum duration of the audio to decode, in seconds (-1 =
        to the end).
        `concurrency`: Number of tasks that run at the same time (0 =
        automatic, adjusted while playing). Default: 0 in a Loader, else 1.
        `queue_size`: Number of tasks that may wait in addition to those that
        run. Default: 2.
        `output_order`: Order of the results. One of "completion", "input".
        Default: "completion".
        `thread_pool`: Thread pool as NAME:THREADS, shared by all stages of the
        process with that name; stages nearest the sink run first (unset = as
        many threads as concurrency, not shared).
        `max_bytes`: Maximum bytes of input that wait, are processed or await
        output; a larger task runs alone (0 = no limit). Default: 0.
        `max_failures`: Number of failed items to tolerate; one more ends the
        stream with an error (-1 = no limit). Default: -1.
        `max_failure_rate`: Share of an epoch's items that may fail, checked
        from the 100th item on; a larger share ends the stream with an error (1
        = no limit; the default of spdlfetch and spdldecode is 0.5). Default:
        0.5.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdldecode", locals())

    def pipe(
        self,
        chain: "Union[str, Pipeline]",
        *,
        name: Optional[str] = None,
        drain: Optional[bool] = None,
        task_timeout: Optional[Seconds] = None,
        part: Optional[str] = None,
        concurrency: Optional[int] = None,
        queue_size: Optional[int] = None,
        output_order: Optional[OutputOrder] = None,
        thread_pool: Optional[str] = None,
        max_bytes: Optional[int] = None,
        max_failures: Optional[int] = None,
        max_failure_rate: Optional[float] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Processes items in parallel with a chain of elements or a function
        of the application.

        The element is spdlpipe.

        `chain`: Elements that process each item, in gst-launch syntax (unset =
        the signal process).
        `name`: Name of the element.
        `drain`: Send EOS through the chain after each item, so that elements
        that queue data output all of it (false = only after an item without
        output). Default: False.
        `task_timeout`: Timeout in seconds for the chain to process an item,
        which then fails (0 = no limit). Default: 0.
        `part`: Part of samples of several media that the chain processes;
        other parts pass unchanged (unset = whole items).
        `concurrency`: Number of tasks that run at the same time (0 =
        automatic, adjusted while playing). Default: 0 in a Loader, else 1.
        `queue_size`: Number of tasks that may wait in addition to those that
        run. Default: 2.
        `output_order`: Order of the results. One of "completion", "input".
        Default: "completion".
        `thread_pool`: Thread pool as NAME:THREADS, shared by all stages of the
        process with that name; stages nearest the sink run first (unset = as
        many threads as concurrency, not shared).
        `max_bytes`: Maximum bytes of input that wait, are processed or await
        output; a larger task runs alone (0 = no limit). Default: 0.
        `max_failures`: Number of failed items to tolerate; one more ends the
        stream with an error (-1 = no limit). Default: -1.
        `max_failure_rate`: Share of an epoch's items that may fail, checked
        from the 100th item on; a larger share ends the stream with an error (1
        = no limit; the default of spdlfetch and spdldecode is 0.5). Default:
        1.0.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlpipe", locals())

    def map(
        self,
        function: Function,
        *,
        name: Optional[str] = None,
        concurrency: Optional[int] = None,
        queue_size: Optional[int] = None,
        output_order: Optional[OutputOrder] = None,
        thread_pool: Optional[str] = None,
        max_bytes: Optional[int] = None,
        max_failures: Optional[int] = None,
        max_failure_rate: Optional[float] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Calls a Python function with each item, in several threads.

        `function`: called with a Sample, and returns the result, as
        Loader.map() describes. The default of `name` is the name of the
        function.

        The element is spdlpipe.

        `name`: Name of the element.
        `concurrency`: Number of tasks that run at the same time (0 =
        automatic, adjusted while playing). Default: 0 in a Loader, else 1.
        `queue_size`: Number of tasks that may wait in addition to those that
        run. Default: 2.
        `output_order`: Order of the results. One of "completion", "input".
        Default: "completion".
        `thread_pool`: Thread pool as NAME:THREADS, shared by all stages of the
        process with that name; stages nearest the sink run first (unset = as
        many threads as concurrency, not shared).
        `max_bytes`: Maximum bytes of input that wait, are processed or await
        output; a larger task runs alone (0 = no limit). Default: 0.
        `max_failures`: Number of failed items to tolerate; one more ends the
        stream with an error (-1 = no limit). Default: -1.
        `max_failure_rate`: Share of an epoch's items that may fail, checked
        from the 100th item on; a larger share ends the stream with an error (1
        = no limit; the default of spdlfetch and spdldecode is 0.5). Default:
        1.0.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._map(function, locals())

    def aggregate(
        self,
        size: int,
        *,
        name: Optional[str] = None,
        drop_last: Optional[bool] = None,
        max_bytes: Optional[int] = None,
        key: Optional[str] = None,
        max_keys: Optional[int] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Collects items into groups that a stage processes as one task.

        The element is spdlaggregate.

        `size`: Maximum number of items in a group (0 = no limit). Default: 1.
        `name`: Name of the element.
        `drop_last`: Drop an incomplete group at the end of an epoch or of the
        stream. Default: False.
        `max_bytes`: Maximum bytes of a group's items; a larger item forms a
        group alone (0 = no limit). Default: 0.
        `key`: Group items with the same value of label, bytes, caps,
        caps.FIELD or extra.FIELD; /N divides numbers (unset = group all
        items).
        `max_keys`: Maximum number of pending groups with different keys; the
        oldest group is sent before another begins. Default: 1024.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlaggregate", locals())

    def disaggregate(
        self,
        *,
        name: Optional[str] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Splits groups into their items.

        The element is spdldisaggregate.

        `name`: Name of the element.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdldisaggregate", locals())

    def mix(
        self,
        *others: "Pipeline", weights: Optional[Sequence[float]] = None,
        name: Optional[str] = None,
        seed: Optional[int] = None,
        order: Optional[MixOrder] = None,
        stopping_strategy: Optional[MixStoppingStrategy] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Mixes the items of this pipeline with those of others.

        `others`: pipelines, each of which begins with a source. To mix
        only these, begin with an empty pipeline: Pipeline().mix(a, b).

        `weights`: One number per pipeline, its share of the items. The
        first is that of this pipeline, unless it is empty. Default: equal
        shares.

        The element is spdlmix.

        `name`: Name of the element.
        `seed`: Seed of the order in which pads are read, within their
        proportions. Default: 0.
        `order`: Order of the items: by the weights of the pads, or by arrival.
        One of "weighted", "arrival". Default: "weighted".
        `stopping_strategy`: Condition that ends an epoch and the stream. One
        of "first-exhausted", "all-exhausted-without-replacement",
        "all-exhausted". Default: "all-exhausted-without-replacement".
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._mix(others, weights, locals())

    def route(
        self,
        branches: "Mapping[Optional[str], Pipeline]",
        *,
        name: Optional[str] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Sends items to different branches and joins the branches.

        `branches`: A pipeline without a source for each condition, such
        as {"uri=*.png": Pipeline().decode(), None: Pipeline()}. An item
        takes the first branch whose condition matches: label=3,
        uri=*.png, caps=image/png or extra.FIELD=VALUE. None matches all
        remaining items. A branch that ends in a sink is not joined.

        The element is spdlroute.

        `name`: Name of the element.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._route(branches, locals())

    def batch(
        self,
        batch_size: int,
        *,
        name: Optional[str] = None,
        drop_last: Optional[bool] = None,
        labels: Optional[bool] = None,
        indices: Optional[bool] = None,
        dtype: Optional[BatchType] = None,
        layout: Optional[BatchLayout] = None,
        mean: Optional[Numbers] = None,
        std: Optional[Numbers] = None,
        part: Optional[str] = None,
        pad_to_longest: Optional[bool] = None,
        on_shape_mismatch: Optional[OnShapeMismatch] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Stacks items into batches of tensors.

        The element is spdlbatch.

        `batch_size`: Number of items in a batch. Default: 32.
        `name`: Name of the element.
        `drop_last`: Drop an incomplete batch at the end of an epoch or of the
        stream. Default: False.
        `labels`: Add an int64 tensor of the items' labels. Default: False.
        `indices`: Add an int64 tensor of the items' indices in the dataset.
        Default: False.
        `dtype`: Data type of the batch; for floating point, uint8 samples are
        divided by 255. One of "as-is", "uint8", "float16", "float32". Default:
        "as-is".
        `layout`: Order of the dimensions; items must be nhwc. One of "as-is",
        "nhwc", "nchw". Default: "as-is".
        `mean`: Value to subtract from each sample after the division by 255:
        one per channel, or one for all channels.
        `std`: Value to divide each sample by after mean is subtracted: one per
        channel, or one for all channels.
        `part`: Part of samples of several media that dtype, layout, mean and
        std apply to (unset = the first).
        `pad_to_longest`: Pad items of unequal length with zeros to the longest
        of the batch, and add a tensor of their lengths; in samples of several
        media, for parts that are bytes or audio. Default: False.
        `on_shape_mismatch`: Action for an item whose shape, type, or number or
        names of tensors differ from those of the first item of its batch. One
        of "auto", "error", "skip". Default: "auto".
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlbatch", locals())

    def cuda_upload(
        self,
        *,
        name: Optional[str] = None,
        device_id: Optional[int] = None,
        prefetch: Optional[int] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Copies batches to a CUDA device.

        The element is spdlcudaupload.

        `name`: Name of the element.
        `device_id`: Number of the CUDA device to copy batches to. Default: 0.
        `prefetch`: Number of batches that may be copied to the device at the
        same time. Default: 2.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlcudaupload", locals())

    def cuda_normalize(
        self,
        *,
        name: Optional[str] = None,
        dtype: Optional[CudaNormalizeType] = None,
        mean: Optional[Numbers] = None,
        std: Optional[Numbers] = None,
        flip: Optional[float] = None,
        seed: Optional[int] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Converts uint8 images to normalized float NCHW on a CUDA device.

        The element is spdlcudanormalize.

        `name`: Name of the element.
        `dtype`: Data type of the result. One of "float32", "float16". Default:
        "float32".
        `mean`: Value to subtract from each sample after the division by 255:
        one per channel, or one for all channels.
        `std`: Value to divide each sample by after mean is subtracted: one per
        channel, or one for all channels.
        `flip`: Probability of mirroring an image horizontally. Default: 0.0.
        `seed`: Seed of the flips, combined with an item's epoch and index.
        Default: 0.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlcudanormalize", locals())

    def cache(
        self,
        *,
        name: Optional[str] = None,
        num_caches: Optional[int] = None,
        return_caches_after: Optional[int] = None,
        stop_after: Optional[int] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Sends the same cached batches repeatedly, to measure training
        without loading.

        The element is spdlcache.

        `name`: Name of the element.
        `num_caches`: Maximum number of batches to keep. Default: 10.
        `return_caches_after`: Number of batches to take from upstream; the
        last num-caches of them are kept and then sent repeatedly. Default:
        100.
        `stop_after`: Number of batches, from upstream and from the cache,
        after which the stream ends (0 = never). Default: 0.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlcache", locals())

    def worker(
        self,
        pipeline: "Union[str, Pipeline]",
        *,
        name: Optional[str] = None,
        nice: Optional[int] = None,
        cpu_affinity: Optional[str] = None,
        restarts: Optional[int] = None,
        slabs: Optional[int] = None,
        epochs: Optional[int] = None,
        rank: Optional[int] = None,
        world_size: Optional[int] = None,
        resume_state: Optional[str] = None,
        classes: Optional[Sequence[str]] = None,
        cpu_budget: Optional[float] = None,
        stats_interval: Optional[Seconds] = None,
    ) -> "Pipeline":
        """Runs a pipeline in a worker process.

        The element is spdlworkersrc.

        `pipeline`: Pipeline of the worker process, in gst-launch syntax; must
        end in one open source pad.
        `name`: Name of the element.
        `nice`: Value to add to the nice value of this process; 19 is the
        lowest priority. Default: 0.
        `cpu_affinity`: CPUs that the worker process may use, such as 0,2-5
        (unset = those of this process).
        `restarts`: Number of times to replace a worker process that died in a
        run; the new process continues after the last batch. Default: 0.
        `slabs`: Number of shared memory blocks, for batches that are written,
        queued and in use. When all but two are in use, batches are copied.
        Default: 8.
        `epochs`: Number of epochs of the pipeline's sources (0 = as set in the
        pipeline). Default: as many as there are `for` loops over the Loader.
        `rank`: Rank of this process, for the pipeline's sources (-1 = from the
        environment). Default: -1.
        `world_size`: Number of ranks, for the pipeline's sources (-1 = from
        the environment). Default: -1.
        `resume_state`: Resume state at which the pipeline's sources start
        (unset = at the beginning).
        `classes`: Names of the classes in the order of their numbers, for all
        of the pipeline's sources (unset = as set in the pipeline). From PAUSED
        on, reads as the classes in use.
        `cpu_budget`: Share of all its cores that the worker process may use (0
        = no limit); a change from 0 takes effect at the next start, others at
        once. Default: 0.0.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        """
        return self._add("spdlworkersrc", locals())

    def sink(
        self,
        *,
        name: Optional[str] = None,
        max_gaps: Optional[int] = None,
        stats_interval: Optional[Seconds] = None,
        max_buffers: Optional[int] = None,
    ) -> "Pipeline":
        """Provides batches to a trainer, as an appsink.

        The element is spdlsink.

        `name`: Name of the element.
        `max_gaps`: Maximum number of gaps between the finished items of a
        source; batches after more gaps have no resume state. Default: 16384.
        `stats_interval`: Interval of spdl-stage-stats messages, in seconds (0
        = one message, at the end). Default: 0.
        `max_buffers`: The maximum number of buffers to queue internally (0 =
        unlimited). Default: 2.
        """
        return self._add("spdlsink", locals())


#: the element of each method
METHODS: Dict[str, str] = {
    "files": "spdlsrc",
    "fetch": "spdlfetch",
    "decode": "spdldecode",
    "pipe": "spdlpipe",
    "map": "spdlpipe",
    "aggregate": "spdlaggregate",
    "disaggregate": "spdldisaggregate",
    "mix": "spdlmix",
    "route": "spdlroute",
    "batch": "spdlbatch",
    "cuda_upload": "spdlcudaupload",
    "cuda_normalize": "spdlcudanormalize",
    "cache": "spdlcache",
    "worker": "spdlworkersrc",
    "sink": "spdlsink",
}
#: the kind of each property's values, and their limits
PROPERTIES: Dict[str, Dict[str, Tuple[Any, ...]]] = {
    "spdlsrc": {
        "name": ("text",),
        "location": ("path",),
        "pattern": ("text",),
        "label": ("enum", ("none", "folder", "manifest")),
        "shuffle": ("bool",),
        "seed": ("int", 0, 18446744073709551615),
        "rank": ("int", -1, 2147483647),
        "world-size": ("int", -1, 2147483647),
        "shard-mode": ("enum", ("pad", "drop", "uneven")),
        "resume-state": ("text",),
        "weight-column": ("text",),
        "items-per-epoch": ("int", 0, 9223372036854775807),
        "index-cache": ("enum", ("none", "auto", "always")),
        "extensions": ("text",),
        "shuffle-buffer": ("int", 0, 2147483647),
        "user-agent": ("text",),
        "tls-ca-file": ("path",),
        "extra-headers": ("headers",),
        "trusted-origins": ("text",),
        "timeout": ("seconds", 1, 0, 3600),
        "retries": ("int", 0, 1000),
        "s3-endpoint": ("text",),
        "s3-region": ("text",),
        "s3-profile": ("text",),
        "s3-addressing": ("text",),
        "anonymous": ("bool",),
        "classes": ("names",),
        "epochs": ("int", -1, 9223372036854775807),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlfetch": {
        "name": ("text",),
        "caps": ("text",),
        "timeout": ("seconds", 1, 0, 3600),
        "task-timeout": ("seconds", 1000000000, 0, 9223372036854775807),
        "retries": ("int", 0, 1000),
        "max-size": ("int", -1, 18446744073709551615),
        "user-agent": ("text",),
        "extra-headers": ("headers",),
        "tls-ca-file": ("path",),
        "trusted-origins": ("text",),
        "parts": ("text",),
        "coalesce": ("int", 0, 9223372036854775807),
        "cache-dir": ("path",),
        "cache-size": ("int", 0, 9223372036854775807),
        "cache-validate": ("enum", ("etag", "date", "none")),
        "s3-endpoint": ("text",),
        "s3-region": ("text",),
        "s3-profile": ("text",),
        "s3-addressing": ("text",),
        "anonymous": ("bool",),
        "concurrency": ("int", 0, 4096),
        "queue-size": ("int", 0, 1048576),
        "output-order": ("enum", ("completion", "input")),
        "thread-pool": ("text",),
        "max-bytes": ("int", 0, 18446744073709551615),
        "max-failures": ("int", -1, 2147483647),
        "max-failure-rate": ("float", 0.0, 1.0),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdldecode": {
        "name": ("text",),
        "width": ("int", 0, 2147483647),
        "height": ("int", 0, 2147483647),
        "format": ("text",),
        "resize": ("enum", ("stretch", "cover", "contain", "none")),
        "crop-fraction": ("float", 0.1, 1.0),
        "interpolation":
            ("enum", ("nearest", "bilinear", "bicubic", "lanczos")),
        "augment": ("enum", ("none", "random-resized-crop", "random-crop")),
        "crop-scale": ("pair",),
        "crop-ratio": ("pair",),
        "flip": ("float", 0.0, 1.0),
        "seed": ("int", 0, 18446744073709551615),
        "fast-scale": ("bool",),
        "on-corrupt": ("enum", ("fail", "keep")),
        "max-pixels": ("int", 1, 18446744073709551615),
        "background": ("int", 0, 16777215),
        "part": ("text",),
        "max-decompressed-bytes": ("int", 0, 18446744073709551615),
        "num-frames": ("int", 0, 65535),
        "frame-step": ("int", 1, 65535),
        "clip-sampling":
            ("enum", ("head", "center", "random", "uniform", "times")),
        "short-clip": ("enum", ("repeat", "fail")),
        "decoder-threads": ("int", 1, 64),
        "rate": ("int", 0, 2147483647),
        "channels": ("int", 0, 64),
        "audio-format": ("text",),
        "offset": ("seconds", 1000000000, 0, 18446744073709551614),
        "duration": ("seconds", 1000000000, 0, 18446744073709551615),
        "concurrency": ("int", 0, 4096),
        "queue-size": ("int", 0, 1048576),
        "output-order": ("enum", ("completion", "input")),
        "thread-pool": ("text",),
        "max-bytes": ("int", 0, 18446744073709551615),
        "max-failures": ("int", -1, 2147483647),
        "max-failure-rate": ("float", 0.0, 1.0),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlpipe": {
        "name": ("text",),
        "chain": ("line",),
        "drain": ("bool",),
        "task-timeout": ("seconds", 1000000000, 0, 18446744073709551615),
        "part": ("text",),
        "concurrency": ("int", 0, 4096),
        "queue-size": ("int", 0, 1048576),
        "output-order": ("enum", ("completion", "input")),
        "thread-pool": ("text",),
        "max-bytes": ("int", 0, 18446744073709551615),
        "max-failures": ("int", -1, 2147483647),
        "max-failure-rate": ("float", 0.0, 1.0),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlaggregate": {
        "name": ("text",),
        "size": ("int", 0, 1048576),
        "drop-last": ("bool",),
        "max-bytes": ("int", 0, 18446744073709551615),
        "key": ("text",),
        "max-keys": ("int", 1, 4294967295),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdldisaggregate": {
        "name": ("text",),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlmix": {
        "name": ("text",),
        "seed": ("int", 0, 18446744073709551615),
        "order": ("enum", ("weighted", "arrival")),
        "stopping-strategy":
            ("enum", ("first-exhausted", "all-exhausted-without-replacement",
            "all-exhausted")),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlroute": {
        "name": ("text",),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlbatch": {
        "name": ("text",),
        "batch-size": ("int", 1, 1048576),
        "drop-last": ("bool",),
        "labels": ("bool",),
        "indices": ("bool",),
        "dtype": ("enum", ("as-is", "uint8", "float16", "float32")),
        "layout": ("enum", ("as-is", "nhwc", "nchw")),
        "mean": ("numbers",),
        "std": ("numbers",),
        "part": ("text",),
        "pad-to-longest": ("bool",),
        "on-shape-mismatch": ("enum", ("auto", "error", "skip")),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlcudaupload": {
        "name": ("text",),
        "device-id": ("int", 0, 2147483647),
        "prefetch": ("int", 1, 64),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlcudanormalize": {
        "name": ("text",),
        "dtype": ("enum", ("float32", "float16")),
        "mean": ("numbers",),
        "std": ("numbers",),
        "flip": ("float", 0.0, 1.0),
        "seed": ("int", 0, 18446744073709551615),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlcache": {
        "name": ("text",),
        "num-caches": ("int", 1, 4294967295),
        "return-caches-after": ("int", 1, 4294967295),
        "stop-after": ("int", 0, 4294967295),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlworkersrc": {
        "name": ("text",),
        "pipeline": ("line",),
        "nice": ("int", -20, 19),
        "cpu-affinity": ("text",),
        "restarts": ("int", 0, 4294967295),
        "slabs": ("int", 3, 4096),
        "epochs": ("int", -1, 9223372036854775807),
        "rank": ("int", -1, 2147483647),
        "world-size": ("int", -1, 2147483647),
        "resume-state": ("text",),
        "classes": ("names",),
        "cpu-budget": ("float", 0.0, 1.0),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
    },
    "spdlsink": {
        "name": ("text",),
        "max-gaps": ("int", 0, 4294967295),
        "stats-interval": ("seconds", 1000000000, 0, 18446744073709551615),
        "max-buffers": ("int", 0, 4294967295),
    },
}
