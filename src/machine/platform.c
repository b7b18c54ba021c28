/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform.c - what /proc and /sys say about a machine.
 *
 * Everything is read under a root folder, so that recorded machines are read
 * by the same code as this one.  A file that is missing is a fact about the
 * machine: virtual ones show neither governor nor turbo.  The one thing that
 * no file tells is the name of the hypervisor, which the CPU itself gives.
 */
#include "machine/platform.h"
#include "base/buf.h"
#include "base/control_group.h"
#include "base/file.h"
#include "base/status.h"
#include "machine/energy.h"
#include "machine/isa.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/banned.h"

enum {
	PATH_BYTES = 4096,
	/* The first CPU of cpuinfo takes 2 KiB; all CPUs say the same. */
	MAX_FILE_BYTES = 65536,
	MAX_ISA = 96
};

/* Where files are read, and a failure to store what they say. */
struct reader {
	const char *root;
	struct sl__arena *arena;
	int failed;
};

/* The contents of a file, its last newline cut off, in the arena; NULL, and
 * 'why' says the reason, when it cannot be read. */
static char *
read_text(struct reader *r, const char *path, struct sl_error *why)
{
	struct sl_buf buf = {0};
	char full[PATH_BYTES];
	char *text = NULL;

	snprintf(full, sizeof(full), "%s%s", r->root, path);
	if (sl__file_read(&buf, full, MAX_FILE_BYTES, why) == SL_OK) {
		if (buf.n_bytes && buf.data[buf.n_bytes - 1] == '\n')
			buf.data[buf.n_bytes - 1] = '\0';
		text = sl__arena_string(r->arena, buf.data ? buf.data : "");
		r->failed |= !text;
	}
	sl_buf_release(&buf);
	return text;
}

static struct sl_text_reading
value_of(struct reader *r, const char *text)
{
	struct sl_text_reading fact = {sl__arena_string(r->arena, text), NULL};

	r->failed |= !fact.value;
	return fact;
}

static struct sl_text_reading
absent_because(struct reader *r, const char *reason)
{
	struct sl_text_reading fact = {
		NULL, sl__arena_format(r->arena, "not available: %s", reason)};

	r->failed |= !fact.absent;
	return fact;
}

/* The whole of a small file as a fact. */
static struct sl_text_reading
fact_in(struct reader *r, const char *path)
{
	struct sl_error why = {0};
	const char *text = read_text(r, path, &why);

	if (!text)
		return absent_because(r, why.text);
	if (!text[0])
		return absent_because(r, "the file is empty");
	return (struct sl_text_reading){text, NULL};
}

/* The value of the first "key : value" line of cpuinfo, up to the end of the
 * line; NULL when there is none. */
static char *
cpuinfo_value(struct reader *r, const char *cpuinfo, const char *key)
{
	size_t n_key = strlen(key), n_value;
	const char *at = cpuinfo, *end;
	char *value;

	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, n_key) != 0)
			continue;
		end = at + n_key + strspn(at + n_key, " \t");
		if (*end != ':')
			continue;
		end += 1 + strspn(end + 1, " \t");
		n_value = strcspn(end, "\n");
		value = sl__arena_alloc(r->arena, n_value + 1);
		r->failed |= !value;
		if (value)
			memcpy(value, end, n_value);
		return value;
	}
	return NULL;
}

/* x86 names the model; ARM gives numbers for who made which part. */
static struct sl_text_reading
read_model(struct reader *r, const char *cpuinfo)
{
	struct sl_text_reading fact = {cpuinfo_value(r, cpuinfo, "model name"),
				       NULL};
	const char *maker, *part;

	if (!fact.value)
		fact.value = cpuinfo_value(r, cpuinfo, "Model");
	if (fact.value)
		return fact;
	maker = cpuinfo_value(r, cpuinfo, "CPU implementer");
	part = cpuinfo_value(r, cpuinfo, "CPU part");
	if (!maker || !part)
		return absent_because(r, "/proc/cpuinfo names no model");
	fact.value = sl__arena_format(r->arena, "implementer %s part %s", maker,
				      part);
	r->failed |= !fact.value;
	return fact;
}

/* Extensions that matter to arithmetic and memory, of all the flags. */
static int
is_relevant(const char *flag)
{
	static const char *const prefixes[] = {
		"sse",  "ssse",   "avx",   "fma",  "f16c",  "bmi",
		"amx",  "popcnt", "asimd", "neon", "sve",   "bf16",
		"i8mm", "fphp",   "clwb",  "erms", "movdir"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(flag, prefixes[i], strlen(prefixes[i])))
			return 1;
	}
	return 0;
}

/* Cuts 'flags' into words in place and keeps the relevant ones. */
static void
read_isa(struct reader *r, struct sl_machine *m, char *flags)
{
	const char **isa = sl__arena_array(r->arena, MAX_ISA, sizeof(*isa));
	char *at = flags;

	r->failed |= !isa;
	if (!isa || !flags)
		return;
	while (*at && m->n_isa < MAX_ISA) {
		char *end = at + strcspn(at, " ");
		int last = *end == '\0';

		*end = '\0';
		if (is_relevant(at))
			isa[m->n_isa++] = at;
		at = end + !last;
	}
	m->isa = isa;
}

static int
has_word(const char *words, const char *word)
{
	size_t n = strlen(word);
	const char *at = words;

	while (at && (at = strstr(at, word)) != NULL) {
		if ((at == words || at[-1] == ' ') &&
		    (at[n] == '\0' || at[n] == ' '))
			return 1;
		at += n;
	}
	return 0;
}

/* The hypervisor whose signature in CPUID this is, or the signature. */
static const char *
name_of_vendor(const char *vendor)
{
	static const char *const known[][2] = {
		{"KVMKVMKVM", "KVM"},       {"Microsoft Hv", "Hyper-V"},
		{"VMwareVMware", "VMware"}, {"XenVMMXenVMM", "Xen"},
		{"TCGTCGTCGTCG", "QEMU"},   {"bhyve bhyve ", "bhyve"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(vendor, known[i][0]))
			return known[i][1];
	}
	return vendor;
}

/* The vendor that the CPU of this machine gives a guest; "" when none. */
static void
ask_cpu_for_vendor(char vendor[13])
{
	vendor[0] = '\0';
#if defined(__x86_64__)
	unsigned a, b, c, d;

	/* Leaf 4000_0000h is reserved for hypervisors: EBX, ECX, EDX. */
	__cpuid(0x40000000, a, b, c, d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &c, 4);
	memcpy(vendor + 8, &d, 4);
	vendor[12] = '\0';
	for (size_t i = 0; vendor[i]; i++) {
		if (!isprint((unsigned char)vendor[i]))
			vendor[i] = '\0';
	}
#endif
}

static struct sl_text_reading
read_hypervisor(struct reader *r, const char *flags)
{
	struct sl_error why = {0};
	char vendor[13];
	const char *name;

	if (!flags)
		return absent_because(r, "this CPU lists no such flag");
	if (!has_word(flags, "hypervisor"))
		return value_of(r, "none");
	name = read_text(r, "/sys/hypervisor/type", &why);
	if (!name)
		name = read_text(r, "/sys/class/dmi/id/product_name", &why);
	if (name && name[0])
		return value_of(r, name);
	if (!r->root[0]) {
		ask_cpu_for_vendor(vendor);
		if (vendor[0])
			return value_of(r, name_of_vendor(vendor));
	}
	return value_of(r, "present, without a name");
}

/* Intel says whether turbo is forbidden, others whether it is allowed. */
static struct sl_text_reading
read_turbo(struct reader *r)
{
	struct sl_error why = {0};
	const char *text;

	text = read_text(r, "/sys/devices/system/cpu/intel_pstate/no_turbo",
			 &why);
	if (text)
		return value_of(r, text[0] == '0' ? "on" : "off");
	text = read_text(r, "/sys/devices/system/cpu/cpufreq/boost", &why);
	if (text)
		return value_of(r, text[0] == '1' ? "on" : "off");
	return absent_because(r, why.text);
}

static struct sl_text_reading
read_smt(struct reader *r)
{
	struct sl_text_reading fact =
		fact_in(r, "/sys/devices/system/cpu/smt/active");

	if (fact.value)
		fact.value = fact.value[0] == '1' ? "on" : "off";
	return fact;
}

/* The kernel marks its choice: "always [madvise] never". */
static struct sl_text_reading
read_huge_pages(struct reader *r)
{
	struct sl_text_reading fact =
		fact_in(r, "/sys/kernel/mm/transparent_hugepage/enabled");
	const char *open = fact.value ? strchr(fact.value, '[') : NULL;
	const char *close = open ? strchr(open, ']') : NULL;

	if (close) {
		fact.value = sl__arena_format(
			r->arena, "%.*s", (int)(close - open - 1), open + 1);
		r->failed |= !fact.value;
	}
	return fact;
}

/* A file since Linux 6.1; before it, what this process was told. */
static struct sl_text_reading
read_architecture(struct reader *r)
{
	struct sl_text_reading fact = fact_in(r, "/proc/sys/kernel/arch");
	struct utsname name;

	if (!fact.value && !r->root[0] && uname(&name) == 0)
		return value_of(r, name.machine);
	return fact;
}

/* A line of meminfo, "Key:  123 kB", in bytes; NaN when it is missing. */
static double
meminfo_bytes(const char *meminfo, const char *key)
{
	const char *at = meminfo ? strstr(meminfo, key) : NULL;

	return at ? strtod(at + strlen(key), NULL) * 1024 : (double)NAN;
}

static struct sl_reading
read_memory(struct reader *r)
{
	struct sl_error why = {0};
	const char *meminfo = read_text(r, "/proc/meminfo", &why);
	double bytes = meminfo_bytes(meminfo, "MemTotal:");

	if (isnan(bytes))
		return (struct sl_reading){
			bytes, "not available: no MemTotal in /proc/meminfo"};
	return (struct sl_reading){bytes, NULL};
}

enum sl_status
sl__platform_read(struct sl_machine *m, const char *root,
		  struct sl__arena *arena, struct sl_error *err)
{
	struct reader r = {root, arena, 0};
	struct sl_error why = {0};
	char *cpuinfo = read_text(&r, "/proc/cpuinfo", &why);
	char *flags = NULL;

	if (cpuinfo) {
		m->model = read_model(&r, cpuinfo);
		m->microcode.value = cpuinfo_value(&r, cpuinfo, "microcode");
		flags = cpuinfo_value(&r, cpuinfo, "flags");
	} else {
		m->model = absent_because(&r, why.text);
	}
	if (!m->microcode.value)
		m->microcode = absent_because(&r, "not in /proc/cpuinfo");
	m->hypervisor = read_hypervisor(&r, flags);
	if (cpuinfo && !flags)
		flags = cpuinfo_value(&r, cpuinfo, "Features");
	read_isa(&r, m, flags);
	m->architecture = read_architecture(&r);
	m->kernel = fact_in(&r, "/proc/sys/kernel/osrelease");
	m->memory_bytes = read_memory(&r);
	m->governor = fact_in(
		&r, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	m->turbo = read_turbo(&r);
	m->smt = read_smt(&r);
	m->huge_pages = read_huge_pages(&r);
	if (r.failed || sl__isa_read(m, root, arena, err))
		return sl__fail_nomem(err);
	return sl__energy_availability(&m->energy, root, arena, err);
}

/* Bytes of addresses that the process may still take, or take in all; of this
 * machine alone. */
static double
address_bytes(struct reader *r, int is_free)
{
	struct sl_error why = {0};
	struct rlimit most;
	const char *statm;
	double used = 0;

	if (r->root[0] || getrlimit(RLIMIT_AS, &most) ||
	    most.rlim_cur == RLIM_INFINITY)
		return (double)INFINITY;
	statm = is_free ? read_text(r, "/proc/self/statm", &why) : NULL;
	if (statm)
		used = strtod(statm, NULL) * (double)sysconf(_SC_PAGESIZE);
	return fmax((double)most.rlim_cur - used, 0);
}

static size_t
memory_bytes(const char *root, int is_free)
{
	struct sl__arena arena;
	struct reader r = {root, &arena, 0};
	struct sl_error why = {0};
	struct sl__group_limits group;
	double bytes;

	sl__arena_init(&arena, NULL);
	bytes = meminfo_bytes(read_text(&r, "/proc/meminfo", &why),
			      is_free ? "MemAvailable:" : "MemTotal:");
	sl__control_group_limits(&group, root);
	/* fmin() drops a NaN. */
	bytes = fmin(bytes, is_free ? group.free_bytes : group.memory_bytes);
	bytes = fmin(bytes, address_bytes(&r, is_free));
	sl__arena_release(&arena);
	return isfinite(bytes) ? (size_t)bytes : 0;
}

size_t
sl__platform_free_bytes(const char *root)
{
	return memory_bytes(root, 1);
}

size_t
sl__platform_total_bytes(const char *root)
{
	return memory_bytes(root, 0);
}
