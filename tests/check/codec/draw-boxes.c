/* gst-spdl: command-line access to the drawn crop boxes and to the fit of
 * images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*     draw-boxes draw KIND SEED EPOCH FIRST N WIDTH HEIGHT OUT-WIDTH OUT-HEIGHT
 *         SCALE-LEAST SCALE-MOST RATIO-LEAST RATIO-MOST FLIP
 *     draw-boxes frame MODE WIDTH HEIGHT OUT-WIDTH OUT-HEIGHT
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/codec/resize/fit.h"

static void
draw (char **argv)
{
  const SpdlAugment augment = { atoi (argv[0]),
    { atof (argv[9]), atof (argv[10]) }, { atof (argv[11]), atof (argv[12]) },
    atof (argv[13]), strtoull (argv[1], NULL, 10) };
  const guint64 epoch = strtoull (argv[2], NULL, 10);
  const guint64 first = strtoull (argv[3], NULL, 10);

  for (guint64 i = first; i < first + strtoull (argv[4], NULL, 10); i++) {
    gboolean flip;
    SpdlRectangle box;

    spdl_augment_draw (&augment, epoch, i, atoi (argv[5]), atoi (argv[6]),
        atoi (argv[7]), atoi (argv[8]), &box, &flip);
    printf ("%u %u %u %u %d\n", box.x, box.y, box.width, box.height, flip);
  }
}

static void
frame (char **argv)
{
  const SpdlRectangle box = { 0, 0, atoi (argv[1]), atoi (argv[2]) };
  SpdlFit f;

  spdl_fit_init (&f, atoi (argv[0]), &box, atoi (argv[3]), atoi (argv[4]));
  printf ("%u %u %u %u %u %u %u %u %u %u\n", f.width, f.height, f.full_width,
      f.full_height, f.skip_x, f.skip_y, f.place.x, f.place.y, f.place.width,
      f.place.height);
}

int
main (int argc, char **argv)
{
  if (argc == 16 && strcmp (argv[1], "draw") == 0)
    draw (argv + 2);
  else if (argc == 7 && strcmp (argv[1], "frame") == 0)
    frame (argv + 2);
  else
    return 2;
  return 0;
}
