# SPDX-License-Identifier: Apache-2.0
# Writes the files of src/page into C:  cmake -DOUT=FILE.c -P cmake/embed.cmake
#
# The page's policy lets a style sheet or script in by its SHA-256 in base 64,
# which CMake has in hexadecimal: three bytes are four characters.
set(folder ${CMAKE_CURRENT_LIST_DIR}/../src/page)
set(style page.css)
set(script inflate.js start.js memory.js tips.js narrow.js narrow_plot.js zoom.js graph.js
  operations.js what_if.js method.js)
set(site_script runs.js live.js changes.js) # of pages that are served
set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

function(hash_of out text)
  string(SHA256 hex "${text}")
  set(base64 "")
  foreach(at RANGE 0 60 6) # 64 digits are 10 triples of bytes and 2 bytes
    string(SUBSTRING "${hex}0000" ${at} 6 triple)
    math(EXPR bits "0x${triple}")
    foreach(shift 18 12 6 0)
      math(EXPR digit "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 character)
      string(APPEND base64 ${character})
    endforeach()
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${out} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

set(c "/* Made of src/page by cmake/embed.cmake. */\n#include \"report/page_assets.h\"\n")
foreach(kind style script site_script)
  set(text "")
  set(bytes "")
  foreach(name ${${kind}})
    file(READ ${folder}/${name} part)
    string(APPEND text "${part}")
    file(READ ${folder}/${name} part HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," part "${part}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" part "${part}")
    string(APPEND bytes "${part}\n")
  endforeach()
  hash_of(hash "${text}")
  string(APPEND c "const unsigned char sl__page_${kind}[] = {\n${bytes}0};\n"
    "const size_t sl__page_${kind}_bytes = sizeof(sl__page_${kind}) - 1;\n"
    "const char sl__page_${kind}_hash[] = \"${hash}\";\n")
endforeach()
file(WRITE ${OUT} "${c}")
