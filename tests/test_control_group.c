/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_control_group.c - proves that limits of version 1 and 2 of the
 * interface are found where the process is and above, in a container too, and
 * that what does not limit does not count.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "base/control_group.h"
#include "base/thread.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A folder with files, "PATH=TEXT" each, that becomes the root. */
struct tree {
	char root[64];
};

static void
write_one(const struct tree *t, const char *word)
{
	const char *text = strchr(word, '=') + 1;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s%.*s", t->root, (int)(text - 1 - word),
		 word);
	for (char *at = path + strlen(t->root) + 1; (at = strchr(at, '/'));
	     at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static struct sl__group_limits
limits_of(const char *const *words, size_t *n_threads)
{
	struct tree t = {"/tmp/sleuth-groups-XXXXXX"};
	struct sl__group_limits limits;

	assert_non_null(mkdtemp(t.root));
	for (; *words; words++)
		write_one(&t, *words);
	sl__control_group_limits(&limits, t.root);
	if (n_threads)
		*n_threads = sl__thread_limit(t.root, NULL);
	assert_int_equal(nftw(t.root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	return limits;
}

#define LIMITS(n, ...) limits_of((const char *const[]){__VA_ARGS__, NULL}, n)

#define V2_MOUNT                                                            \
	"/proc/self/mountinfo=21 1 8:1 / / rw - ext4 /dev/root rw\n"        \
	"30 21 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 " \
	"rw,nsdelegate\n"

static void
version_2_below_the_root(void **state)
{
	size_t n_threads;
	struct sl__group_limits limits =
		LIMITS(&n_threads, V2_MOUNT, "/proc/self/cgroup=0::/user/app\n",
		       "/sys/fs/cgroup/user/app/memory.max=max\n",
		       "/sys/fs/cgroup/user/app/cpu.max=150000 100000\n",
		       "/sys/fs/cgroup/user/memory.max=1000000\n",
		       "/sys/fs/cgroup/user/memory.current=700000\n",
		       "/sys/fs/cgroup/user/memory.stat=anon 5\ninactive_file "
		       "200000\n",
		       "/sys/fs/cgroup/user/cpu.max=max 100000\n",
		       "/sys/fs/cgroup/other/memory.max=1\n");

	(void)state;
	assert_near(limits.memory_bytes, 1000000, 0);
	assert_near(limits.free_bytes, 500000, 0);
	assert_near(limits.cpus, 1.5, 0);
	assert_int_equal(n_threads, 2);
}

static void
the_least_of_all_above_counts(void **state)
{
	struct sl__group_limits limits =
		LIMITS(NULL, V2_MOUNT, "/proc/self/cgroup=0::/a/b/c\n",
		       "/sys/fs/cgroup/a/b/c/cpu.max=400000 100000\n",
		       "/sys/fs/cgroup/a/b/cpu.max=50000 100000\n",
		       "/sys/fs/cgroup/a/cpu.max=200000 100000\n",
		       "/sys/fs/cgroup/memory.max=8192\n");

	(void)state;
	assert_near(limits.cpus, 0.5, 0);
	assert_near(limits.memory_bytes, 8192, 0);
}

#define V1_MOUNTS                                                           \
	"/proc/self/mountinfo="                                             \
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "       \
	"rw,cpu,cpuacct\n"                                                  \
	"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" \
	"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static void
version_1_has_a_hierarchy_for_each(void **state)
{
	size_t n_threads;
	struct sl__group_limits limits = LIMITS(
		&n_threads, V1_MOUNTS,
		"/proc/self/cgroup=4:memory:/m/n\n1:cpu,cpuacct:/c\n0::/\n",
		"/sys/fs/cgroup/memory/m/n/memory.limit_in_bytes="
		"9223372036854771712\n",
		"/sys/fs/cgroup/memory/m/memory.limit_in_bytes=4000000\n",
		"/sys/fs/cgroup/memory/m/memory.usage_in_bytes=1000000\n",
		"/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us=100000\n",
		"/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us=100000\n",
		"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us=-1\n",
		"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us=100000\n");

	(void)state;
	assert_near(limits.memory_bytes, 4000000, 0);
	assert_near(limits.free_bytes, 3000000, 0);
	assert_near(limits.cpus, 1, 0);
	assert_int_equal(n_threads, 1);
}

/* Docker without a namespace: the path is the host's, the mount a part. */
static void
a_container_sees_a_part(void **state)
{
	struct sl__group_limits limits = LIMITS(
		NULL,
		"/proc/self/mountinfo=35 31 0:32 /docker/abc "
		"/sys/fs/cgroup/memory ro master:11 - cgroup cgroup "
		"rw,memory\n",
		"/proc/self/cgroup=4:memory:/docker/abc/inner\n",
		"/sys/fs/cgroup/memory/inner/memory.limit_in_bytes=3000\n",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes=2000\n");

	(void)state;
	assert_near(limits.memory_bytes, 2000, 0);
}

static void
nothing_limits_without_groups(void **state)
{
	size_t n_threads;
	struct sl__group_limits none =
		LIMITS(&n_threads, "/proc/self/status=Name: x\n");
	struct sl__group_limits no_mount =
		LIMITS(NULL, "/proc/self/cgroup=0::/a\n",
		       "/sys/fs/cgroup/a/memory.max=5\n");

	(void)state;
	assert_true(isinf(none.cpus) && isinf(none.memory_bytes) &&
		    isinf(none.free_bytes));
	assert_true(isinf(no_mount.memory_bytes));
	assert_true(n_threads >= 1024);
}

static void
the_limit_of_openmp_counts(void **state)
{
	(void)state;
	assert_int_equal(sl__thread_limit("/nowhere", "1"), 1);
	assert_int_equal(sl__thread_limit("/nowhere", "3"), 3);
	assert_true(sl__thread_limit("/nowhere", "0") >= 1024);
	assert_true(sl__thread_limit("/nowhere", "many") >= 1024);
	assert_true(sl__thread_limit("/nowhere", "") >= 1024);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_2_below_the_root),
		cmocka_unit_test(the_least_of_all_above_counts),
		cmocka_unit_test(version_1_has_a_hierarchy_for_each),
		cmocka_unit_test(a_container_sees_a_part),
		cmocka_unit_test(nothing_limits_without_groups),
		cmocka_unit_test(the_limit_of_openmp_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
