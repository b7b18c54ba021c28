/* SPDX-License-Identifier: Apache-2.0 */
/* page_assets.h - the style sheet and the script of src/page, as the build
 * embeds them (cmake/embed.cmake). */
#ifndef SL_PAGE_ASSETS_H
#define SL_PAGE_ASSETS_H

#include <stddef.h>

extern const unsigned char sl__page_style[], sl__page_script[],
	sl__page_site_script[];
extern const size_t sl__page_style_bytes, sl__page_script_bytes,
	sl__page_site_script_bytes;

/* As a content security policy names them: "sha256-..." */
extern const char sl__page_style_hash[], sl__page_script_hash[],
	sl__page_site_script_hash[];

#endif
