/* SPDX-License-Identifier: Apache-2.0 */
/*
 * energy.c - whether the energy used can be read.
 *
 * The kernel offers RAPL as files; since 2020 only root may read them, for a
 * meter fine enough can be used to spy on others (CVE-2020-8694).
 */
#include "machine/energy.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

enum { PATH_BYTES = 4096, MAX_FILE_BYTES = 256 };

enum sl_status
sl__energy_availability(struct sl_text_reading *out, const char *root,
			struct sl__arena *arena, struct sl_error *err)
{
	static const char folder[] = "/sys/class/powercap/intel-rapl:0";
	struct sl_error why = {0};
	struct sl_buf joules = {0};
	char path[PATH_BYTES];

	*out = (struct sl_text_reading){NULL, NULL};
	snprintf(path, sizeof(path), "%s%s", root, folder);
	if (access(path, F_OK)) {
		out->absent = "not available: the kernel has no RAPL meter "
			      "(usual in a virtual machine)";
		return SL_OK;
	}
	snprintf(path, sizeof(path), "%s%s/energy_uj", root, folder);
	if (sl__file_read(&joules, path, MAX_FILE_BYTES, &why) == SL_OK &&
	    joules.n_bytes)
		out->value = "RAPL";
	else
		out->absent = sl__arena_format(
			arena, "not readable: %s",
			why.text[0] ? why.text : "the meter says nothing");
	sl_buf_release(&joules);
	if (!out->value && !out->absent)
		return sl__fail_nomem(err);
	return SL_OK;
}
