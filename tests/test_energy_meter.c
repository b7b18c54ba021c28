/* SPDX-License-Identifier: Apache-2.0 */
/* test_energy_meter.c - a meter of files, and none. */
#include "harness.h"

#include "machine/energy_meter.h"

#include <sys/stat.h>

#define FOLDER "/sys/class/powercap/intel-rapl:0"

static void
write_number(const char *root, const char *name, const char *number)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s" FOLDER "/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", number);
	assert_int_equal(fclose(file), 0);
}

static void
make_folders(const char *root)
{
	char path[512];

	for (const char *end = FOLDER; *end; end++) {
		if (end[1] && end[1] != '/')
			continue;
		snprintf(path, sizeof(path), "%s%.*s", root,
			 (int)(end - FOLDER) + 1, FOLDER);
		assert_int_equal(mkdir(path, 0700), 0);
	}
}

static void
remove_all(const char *root)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

/* 3 J, then 2 J over the end of the counter, then it shows nothing. */
static void
test_meter(void **state)
{
	char root[] = "/tmp/sleuth-energy-XXXXXX";
	struct sl__energy_meter meter;
	struct sl__arena arena;

	(void)state;
	assert_non_null(mkdtemp(root));
	make_folders(root);
	write_number(root, "max_energy_range_uj", "10000000");
	write_number(root, "energy_uj", "5000000");
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__energy_open(&meter, root, &arena, NULL), SL_OK);
	assert_null(meter.absent);
	write_number(root, "energy_uj", "8000000");
	assert_near(sl__energy_joules(&meter), 3, 1e-12);
	write_number(root, "energy_uj", "0");
	assert_near(sl__energy_joules(&meter), 5, 1e-12);
	write_number(root, "energy_uj", "");
	assert_true(isnan(sl__energy_joules(&meter)));
	write_number(root, "energy_uj", "9000000");
	assert_true(isnan(sl__energy_joules(&meter)));
	sl__energy_close(&meter);
	sl__energy_close(&meter);
	assert_true(isnan(sl__energy_joules(&meter)));
	sl__arena_release(&arena);
	remove_all(root);
}

/* Its file is looked up once, not at every reading. */
static void
test_file_stays_open(void **state)
{
	char root[] = "/tmp/sleuth-energy-XXXXXX", path[512];
	struct sl__energy_meter meter;
	struct sl__arena arena;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(root));
	make_folders(root);
	write_number(root, "max_energy_range_uj", "10000000");
	write_number(root, "energy_uj", "5000000");
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__energy_open(&meter, root, &arena, NULL), SL_OK);
	snprintf(path, sizeof(path), "%s" FOLDER "/energy_uj", root);
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(remove(path), 0);
	assert_true(fprintf(file, "8000000\n") > 0);
	assert_int_equal(fclose(file), 0);
	assert_near(sl__energy_joules(&meter), 3, 1e-12);
	sl__energy_close(&meter);
	sl__arena_release(&arena);
	remove_all(root);
}

static void
test_no_meter(void **state)
{
	char root[] = "/tmp/sleuth-energy-XXXXXX";
	struct sl__energy_meter meter;
	struct sl__arena arena;

	(void)state;
	assert_non_null(mkdtemp(root));
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__energy_open(&meter, root, &arena, NULL), SL_OK);
	assert_non_null(meter.absent);
	assert_true(isnan(sl__energy_joules(&meter)));
	sl__energy_close(&meter);
	sl__arena_release(&arena);
	remove_all(root);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meter),
		cmocka_unit_test(test_file_stays_open),
		cmocka_unit_test(test_no_meter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
