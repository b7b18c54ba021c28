/* SPDX-License-Identifier: Apache-2.0 */
/* control_group.h - what the control groups of this process allow it. */
#ifndef SL_CONTROL_GROUP_H
#define SL_CONTROL_GROUP_H

/* The least of its group's and of all above; infinite where none limits it. */
struct sl__group_limits {
	double cpus; /* CPU seconds per second */
	double memory_bytes;
	double free_bytes; /* not used yet, or used for files that can go */
};

/*
 * Reads version 1 and version 2 of the interface, wherever they are mounted,
 * below the folder 'root' ("": this machine).  What cannot be read limits
 * nothing.
 */
void sl__control_group_limits(struct sl__group_limits *out, const char *root);

#endif
