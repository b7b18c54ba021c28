/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - sockets, cores, caches and memory nodes. */
#ifndef SL_TOPOLOGY_H
#define SL_TOPOLOGY_H

#include "base/arena.h"
#include "sleuth/machines.h"

/*
 * Fills m->n_sockets, n_cores, n_hardware_threads, n_numa_nodes and caches.
 * 'root' "" is this machine; any other holds a recorded one, described in
 * root/hwloc.txt as hwloc's synthetic topologies are, and SL_E_IO or
 * SL_E_DATA says that the file is missing or malformed.
 */
enum sl_status sl__topology_read(struct sl_machine *m, const char *root,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

#endif
