# gst-spdl: completion of gst-spdl-launch-1.0 and gst-spdl-index for bash
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

# Options are those that the tool itself prints, elements and properties those that
# gst-inspect-1.0 finds.
_gst_spdl_list_options() {
  "$1" --help-all 2>/dev/null |
    sed -nE 'h; s/^  (-[a-z]), --.*/\1/p; g; s/^  (-[a-z], )?(--[a-z0-9-]+=?).*/\2/p'
}

_gst_spdl_list_elements() {
  gst-inspect-1.0 2>/dev/null | sed -nE 's/^[^: ]+:  ([^ :]+): .*/\1/p'
}

_gst_spdl_list_properties() {
  gst-inspect-1.0 "$1" 2>/dev/null |
    sed -nE '/^Element Properties:/,/^[A-Z]/s/^  ([a-z][a-z0-9-]*) +: .*/\1=/p'
}

# _gst_spdl_choose CURRENT LIST: completes the current word from a list.
_gst_spdl_choose() {
  mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

# Names of files are completed where this finds nothing, such as after "=".
_gst_spdl_index() {
  local current=${COMP_WORDS[COMP_CWORD]}

  COMPREPLY=()
  [[ $current != -* ]] ||
    _gst_spdl_choose "$current" "$(_gst_spdl_list_options "$1")"
}

_gst_spdl_launch() {
  local current=${COMP_WORDS[COMP_CWORD]} elements element='' word i

  COMPREPLY=()
  if [[ $current == -* ]]; then
    _gst_spdl_choose "$current" "$(_gst_spdl_list_options "$1")"
    return
  fi
  [[ $current != "=" && ${COMP_WORDS[COMP_CWORD - 1]} != "=" ]] || return
  elements=$(_gst_spdl_list_elements)
  # The last element before the cursor, unless a "!" follows.
  for ((i = COMP_CWORD - 1; i > 0; i--)); do
    word=${COMP_WORDS[i]}
    [[ $word != "!" ]] || break
    if [[ ${COMP_WORDS[i - 1]} != "=" && $'\n'$elements$'\n' == *$'\n'"$word"$'\n'* ]]; then
      element=$word
      break
    fi
  done
  if [[ $element ]]; then
    _gst_spdl_choose "$current" "$(_gst_spdl_list_properties "$element") !"
  else
    _gst_spdl_choose "$current" "$elements"
  fi
}

complete -o default -F _gst_spdl_launch gst-spdl-launch-1.0
complete -o default -F _gst_spdl_index gst-spdl-index
