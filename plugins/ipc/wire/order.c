/* gst-spdl: what a worker process is told to run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/order.h"

#include <string.h>

void
spdl_order_clear (SpdlOrder *self)
{
  g_clear_pointer (&self->description, g_free);
  g_clear_pointer (&self->resume_state, g_free);
  g_clear_pointer (&self->affinity, g_free);
  g_clear_pointer (&self->classes, g_strfreev);
}

void
spdl_put_cpu_budget (GByteArray *bytes, gdouble cpu_budget)
{
  spdl_put (bytes, &cpu_budget, sizeof cpu_budget);
}

gboolean
spdl_get_cpu_budget (SpdlParcel *parcel, gdouble *cpu_budget)
{
  const guint8 *at = spdl_get (parcel, sizeof *cpu_budget);

  if (at)
    memcpy (cpu_budget, at, sizeof *cpu_budget);
  /* Not a number is not within. */
  if (at && *cpu_budget >= 0 && *cpu_budget <= 1)
    return TRUE;
  parcel->broken = TRUE;
  return FALSE;
}

void
spdl_put_order (GByteArray *bytes, const SpdlOrder *self)
{
  spdl_put_string (bytes, self->description);
  spdl_put_string (bytes, self->resume_state);
  spdl_put_u64 (bytes, self->epochs);
  spdl_put_u32 (bytes, self->nice);
  spdl_put_string (bytes, self->affinity);
  spdl_put_u32 (bytes, self->n_slabs);
  spdl_put_cpu_budget (bytes, self->cpu_budget);
  spdl_put_strings (bytes, (const gchar *const *) self->classes);
}

gboolean
spdl_get_order (SpdlParcel *parcel, SpdlOrder *self)
{
  *self = (SpdlOrder){ .description = spdl_get_string (parcel) };
  self->resume_state = spdl_get_string (parcel);
  self->epochs = spdl_get_u64 (parcel);
  self->nice = spdl_get_u32 (parcel);
  self->affinity = spdl_get_string (parcel);
  self->n_slabs = spdl_get_u32 (parcel);
  spdl_get_cpu_budget (parcel, &self->cpu_budget);
  self->classes = spdl_get_strings (parcel);
  if (spdl_parcel_is_read (parcel) && self->description && self->n_slabs > 1 &&
      self->n_slabs <= SPDL_ORDER_MAX_SLABS)
    return TRUE;
  parcel->broken = TRUE;
  spdl_order_clear (self);
  return FALSE;
}
