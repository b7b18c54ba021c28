/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - sockets, cores, caches and memory nodes, as hwloc sees them.
 *
 * hwloc reads the system or, for tests, a machine recorded in its synthetic
 * notation.  What it does not know is absent here, never zero.
 */
#include "machine/topology.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/status.h"

#include <hwloc.h>
#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { PATH_BYTES = 4096, MAX_DESCRIPTION_BYTES = 4096 };

static struct sl_reading
count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(topology, type);

	if (n <= 0)
		return (struct sl_reading){(double)NAN,
					   "not reported by hwloc"};
	return (struct sl_reading){n, NULL};
}

static enum sl_cache_kind
kind_of(hwloc_obj_cache_type_t type)
{
	if (type == HWLOC_OBJ_CACHE_DATA)
		return SL_CACHE_DATA;
	return type == HWLOC_OBJ_CACHE_INSTRUCTION ? SL_CACHE_INSTRUCTION
						   : SL_CACHE_UNIFIED;
}

/* Adds the caches of one type, if the machine has any with a size. */
static void
add_cache(struct sl_machine *m, struct sl_cache *caches,
	  hwloc_topology_t topology, hwloc_obj_type_t type)
{
	hwloc_obj_t first = hwloc_get_obj_by_type(topology, type, 0);
	struct sl_cache *cache = &caches[m->n_caches];
	int n_sharing;

	if (!first || !first->attr || first->attr->cache.size == 0)
		return;
	n_sharing = hwloc_bitmap_weight(first->cpuset);
	cache->level = first->attr->cache.depth;
	cache->kind = kind_of(first->attr->cache.type);
	cache->size_bytes = (size_t)first->attr->cache.size;
	cache->line_bytes = first->attr->cache.linesize;
	cache->n = (size_t)hwloc_get_nbobjs_by_type(topology, type);
	cache->n_sharing = n_sharing > 0 ? (size_t)n_sharing : 1;
	m->n_caches++;
}

static enum sl_status
read_caches(struct sl_machine *m, hwloc_topology_t topology,
	    struct sl__arena *arena, struct sl_error *err)
{
	static const hwloc_obj_type_t types[] = {
		HWLOC_OBJ_L1CACHE,  HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE,
		HWLOC_OBJ_L2ICACHE, HWLOC_OBJ_L3CACHE,  HWLOC_OBJ_L3ICACHE,
		HWLOC_OBJ_L4CACHE,  HWLOC_OBJ_L5CACHE};
	size_t n = sizeof(types) / sizeof(types[0]);
	struct sl_cache *caches = sl__arena_array(arena, n, sizeof(*caches));

	if (!caches)
		return sl__fail_nomem(err);
	m->n_caches = 0;
	for (size_t i = 0; i < n; i++)
		add_cache(m, caches, topology, types[i]);
	m->caches = caches;
	return SL_OK;
}

/* The recorded description in root/hwloc.txt. */
static enum sl_status
describe(hwloc_topology_t topology, const char *root, struct sl_error *err)
{
	struct sl_buf text = {0};
	char path[PATH_BYTES];
	enum sl_status rc;

	if (snprintf(path, sizeof(path), "%s/hwloc.txt", root) >=
	    (int)sizeof(path))
		return sl__fail(err, SL_E_DATA, "%s: name too long", root);
	rc = sl__file_read(&text, path, MAX_DESCRIPTION_BYTES, err);
	if (rc)
		goto out;
	if (!text.data || hwloc_topology_set_synthetic(topology, text.data))
		rc = sl__fail(err, SL_E_DATA, "%s: not a topology", path);
out:
	sl_buf_release(&text);
	return rc;
}

static enum sl_status
load(hwloc_topology_t topology, const char *root, struct sl_error *err)
{
	enum sl_status rc;

	if (root[0]) {
		rc = describe(topology, root, err);
		if (rc)
			return rc;
	}
	(void)hwloc_topology_set_icache_types_filter(
		topology, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (hwloc_topology_load(topology))
		return sl__fail(err, SL_E_ABSENT,
				"hwloc cannot read the topology");
	return SL_OK;
}

enum sl_status
sl__topology_read(struct sl_machine *m, const char *root,
		  struct sl__arena *arena, struct sl_error *err)
{
	hwloc_topology_t topology;
	enum sl_status rc;

	if (hwloc_topology_init(&topology))
		return sl__fail_nomem(err);
	rc = load(topology, root, err);
	if (rc)
		goto out;
	m->n_sockets = count_of(topology, HWLOC_OBJ_PACKAGE);
	m->n_cores = count_of(topology, HWLOC_OBJ_CORE);
	m->n_hardware_threads = count_of(topology, HWLOC_OBJ_PU);
	m->n_numa_nodes = count_of(topology, HWLOC_OBJ_NUMANODE);
	rc = read_caches(m, topology, arena, err);
out:
	hwloc_topology_destroy(topology);
	return rc;
}
