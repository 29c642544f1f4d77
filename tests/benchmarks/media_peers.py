# gst-spdl: video clips and audio files decoded by other Python packages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""media_peers.py KIND WAY FILE SECONDS: decodes a file repeatedly in one thread, and
prints the CPU time per decode in us. KIND: video, 16 frames at equal distances as
RGB of 224x224; or sound, 16 kHz in mono as float32. Exits with 3 if the package
is missing."""

import subprocess
import sys
import time

N, SIDE, RATE = 16, 224, 16000


def av_video():
    import av
    import numpy as np

    def load(path):
        clip = np.empty((N, SIDE, SIDE, 3), np.uint8)
        with av.open(path) as file:
            stream = file.streams.video[0]
            stream.codec_context.thread_count = 1
            rate, base = stream.average_rate, stream.time_base
            frames, place = iter(()), -1
            for i in range(N):
                rank = (2 * i + 1) * stream.frames // (2 * N)
                wanted = (stream.start_time or 0) + int(rank / rate / base)
                # Seeks to the last key frame before the wanted time, if it is
                # ahead of the current position.
                keys = [e.timestamp for e in stream.index_entries
                        if e.is_keyframe and e.timestamp <= wanted]
                if place < 0 or keys and keys[-1] > place:
                    file.seek(wanted, stream=stream)
                    frames = file.decode(stream)
                for frame in frames:
                    place = frame.pts
                    if place >= wanted:
                        clip[i] = frame.to_ndarray(
                            format="rgb24", width=SIDE, height=SIDE)
                        break
        return clip
    return load


def spdl_video():
    import spdl.io

    filters = spdl.io.get_video_filter_desc(
        scale_width=SIDE, scale_height=SIDE, pix_fmt="rgb24")
    config = spdl.io.decode_config(decoder_options={"threads": "1"})

    def load(path):
        packets = spdl.io.demux_video(path)
        count = len(packets)
        ranks = [(2 * i + 1) * count // (2 * N) for i in range(N)]
        frames = spdl.io.sample_decode_video(
            packets, ranks, decode_config=config, filter_desc=filters)
        return spdl.io.to_numpy(spdl.io.convert_frames(frames))
    return load


def spdl_all_video():
    """Uses load_video(), which decodes all frames and drops those that a
    filter rejects."""
    import spdl.io

    filters = spdl.io.get_video_filter_desc(
        frame_rate=(N, 30), scale_width=SIDE, scale_height=SIDE,
        pix_fmt="rgb24")
    config = spdl.io.decode_config(decoder_options={"threads": "1"})

    def load(path):
        return spdl.io.to_numpy(spdl.io.load_video(
            path, decode_config=config, filter_desc=filters))
    return load


def torchcodec_video():
    from torchcodec.decoders import VideoDecoder
    from torchcodec.transforms import Resize

    def load(path):
        decoder = VideoDecoder(path, num_ffmpeg_threads=1,
                               dimension_order="NHWC",
                               transforms=[Resize((SIDE, SIDE))])
        count = len(decoder)
        return decoder.get_frames_at(
            [(2 * i + 1) * count // (2 * N) for i in range(N)]).data
    return load


def av_sound():
    import av
    import numpy as np

    def load(path):
        with av.open(path) as file:
            stream = file.streams.audio[0]
            stream.codec_context.thread_count = 1
            resampler = av.AudioResampler("fltp", "mono", RATE)
            parts = [part.to_ndarray() for frame in file.decode(stream)
                     for part in resampler.resample(frame)]
            parts += [part.to_ndarray() for part in resampler.resample(None)]
        return np.concatenate(parts, 1)
    return load


def spdl_sound():
    import spdl.io

    filters = spdl.io.get_audio_filter_desc(
        sample_rate=RATE, num_channels=1, sample_fmt="fltp")
    config = spdl.io.decode_config(decoder_options={"threads": "1"})

    def load(path):
        return spdl.io.to_numpy(spdl.io.load_audio(
            path, decode_config=config, filter_desc=filters))
    return load


def torchcodec_sound():
    from torchcodec.decoders import AudioDecoder

    def load(path):
        return AudioDecoder(path, sample_rate=RATE,
                            num_channels=1).get_all_samples().data
    return load


WAYS = {"video": {"PyAV": av_video, "SPDL, sample_decode_video": spdl_video,
                  "SPDL, load_video": spdl_all_video,
                  "torchcodec": torchcodec_video},
        "sound": {"PyAV": av_sound, "SPDL, load_audio": spdl_sound,
                  "torchcodec": torchcodec_sound}}


def measure(python, kind, way, path, seconds):
    """Returns the CPU time per file in us, measured in another Python, or None
    if the package is missing."""
    done = subprocess.run(
        [python, __file__, kind, way, str(path), str(seconds)], text=True,
        check=False, stdout=subprocess.PIPE)
    return float(done.stdout.split()[0]) if done.returncode == 0 else None


def main():
    kind, way, path, seconds = sys.argv[1:]
    try:
        load = WAYS[kind][way]()
        shape = tuple(load(path).shape)
    except Exception as error:  # any missing library
        print(type(error).__name__, str(error).splitlines()[0], file=sys.stderr)
        sys.exit(3)
    n, before = 0, time.process_time()
    while time.process_time() < before + float(seconds):
        load(path)
        n += 1
    print((time.process_time() - before) * 1e6 / n, *shape)


if __name__ == "__main__":
    main()
