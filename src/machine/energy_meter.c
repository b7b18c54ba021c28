/* SPDX-License-Identifier: Apache-2.0 */
/* energy_meter.c - the energy that the CPU package has used. */
#include "machine/energy_meter.h"
#include "machine/energy.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

static const char folder[] = "/sys/class/powercap/intel-rapl:0";

enum { FILE_BYTES = 64, PATH_BYTES = 4096 };

/* The number at the start of a file; NaN where there is none.  Nothing is
 * allocated: it is read while a model is measured. */
static double
read_number(int fd)
{
	char text[FILE_BYTES], *end;
	ssize_t n;
	double number;

	do
		n = pread(fd, text, sizeof(text) - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return (double)NAN;
	text[n] = '\0';
	number = strtod(text, &end);
	return end == text ? (double)NAN : number;
}

static int
open_file(const char *root, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

enum sl_status
sl__energy_open(struct sl__energy_meter *meter, const char *root,
		struct sl__arena *arena, struct sl_error *err)
{
	struct sl_text_reading fact;
	enum sl_status rc = sl__energy_availability(&fact, root, arena, err);
	int range;

	memset(meter, 0, sizeof(*meter));
	meter->fd = -1;
	if (rc)
		return rc;
	meter->absent = fact.absent;
	if (meter->absent)
		return SL_OK;
	range = open_file(root, "max_energy_range_uj");
	meter->range_uj = read_number(range);
	if (range >= 0)
		close(range);
	meter->fd = open_file(root, "energy_uj");
	meter->last_uj = read_number(meter->fd);
	if (isnan(meter->last_uj))
		meter->absent = "not readable: the meter shows no number";
	return SL_OK;
}

void
sl__energy_close(struct sl__energy_meter *meter)
{
	if (meter->fd >= 0)
		close(meter->fd);
	meter->fd = -1;
}

double
sl__energy_joules(struct sl__energy_meter *meter)
{
	double now;

	if (meter->absent)
		return (double)NAN;
	now = read_number(meter->fd);
	/* Begun anew; without a range there is no telling how much it was. */
	if (now < meter->last_uj)
		meter->sum_uj += meter->range_uj;
	meter->sum_uj += now - meter->last_uj;
	meter->last_uj = now;
	return meter->sum_uj / 1e6;
}
