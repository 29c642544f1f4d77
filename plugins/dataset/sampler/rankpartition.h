/* gst-spdl: rank and world size of this process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/partition.h"

G_BEGIN_DECLS

/* Sets the rank and the world size of @self.
 *
 * @rank, @world_size: the properties. A negative value is taken from the
 *     environment: RANK and WORLD_SIZE, else Slurm's SLURM_PROCID and
 *     SLURM_NTASKS, else Open MPI's OMPI_COMM_WORLD_RANK and
 *     OMPI_COMM_WORLD_SIZE, else Kubernetes's JOB_COMPLETION_INDEX with
 *     WORLD_SIZE. The first of these that is complete is used. If nothing is
 *     set, the result is rank 0 of 1.
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * values are inconsistent; @self is undefined then. */
gboolean spdl_rank_partition_init (
    SpdlPartition *self, gint rank, gint world_size, GError **error);

G_END_DECLS
