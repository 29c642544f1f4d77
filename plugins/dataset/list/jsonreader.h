/* gst-spdl: JSON reader (RFC 8259)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/line.h"

G_BEGIN_DECLS

/* Reads the members of a JSON object that is on one line, without copying or
 * allocation. All of the line is validated, except that numbers fit into 64
 * bits and that it is UTF-8. Strings may not contain U+0000 or half of a
 * surrogate pair, which C strings and UTF-8 cannot represent. Names may appear
 * twice. */

/* Maximum number of arrays and objects around a value, as in Jansson. */
#define SPDL_JSON_MAX_DEPTH 2048

typedef struct {
  const gchar *at;  /* next byte; after an error, the byte that is wrong */
  const gchar *end; /* end of the text, which may contain further lines */
  guint8 n_blanks;  /* 4: newlines are blanks, too */
  gboolean begun;
  /* TRUE if no string contains a character that is not ASCII, except perhaps a
   * guessed name. It may be FALSE for other strings, too. */
  gboolean is_ascii;
} SpdlJsonReader;

typedef enum {
  SPDL_JSON_NULL,
  SPDL_JSON_BOOLEAN,
  SPDL_JSON_NUMBER,
  SPDL_JSON_STRING,
  SPDL_JSON_NESTED, /* array or object */
} SpdlJsonKind;

typedef struct {
  SpdlField name;
  SpdlField value; /* a string without its quotes; others as in the text */
  SpdlJsonKind kind;
  gboolean is_guess; /* the name is the guess */
} SpdlJsonMember;

typedef enum {
  SPDL_JSON_MEMBER,
  SPDL_JSON_END, /* no more members, and nothing after the object; the position
                    is the end of the line */
  SPDL_JSON_INVALID,
  SPDL_JSON_TOO_DEEP,
} SpdlJsonResult;

/* Starts reading an object, which blanks may surround. */
void spdl_json_reader_init (
    SpdlJsonReader *self, const gchar *text, const gchar *end);

/* Starts reading an object or a value that may have several lines. */
void spdl_json_reader_init_part (
    SpdlJsonReader *self, const gchar *text, const gchar *end);

/* Reads a value, whatever follows it.
 *
 * @member: (out): without a name */
SpdlJsonResult
spdl_json_reader_value (SpdlJsonReader *self, SpdlJsonMember *member);

/* Reads the next member. Call it again only after SPDL_JSON_MEMBER.
 *
 * @guess: (nullable): probable name of the member, without escapes. A name
 *     whose length is known need not be searched for its end, which would delay
 *     everything after it. */
SpdlJsonResult spdl_json_reader_next (
    SpdlJsonReader *self, const SpdlField *guess, SpdlJsonMember *member);

/* Returns the JSON of a member of an object (transfer full), NULL if there is
 * none. The name "a.b" is that of a member, or of the member "b" of the object
 * "a". An array of objects becomes the array of their members; those without
 * become null.
 *
 * @text: object or array, without blanks around it */
gchar *spdl_json_dup_member (const gchar *text, const gchar *name);

G_END_DECLS
