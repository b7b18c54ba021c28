/* SPDX-License-Identifier: Apache-2.0 */
/* served.h - a store that is served while a test runs. */
#ifndef SL_TEST_SERVED_H
#define SL_TEST_SERVED_H

#include "http_client.h"
#include "store_case.h"

#include <pthread.h>

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned port; /* 0: it does not listen yet */
	volatile sig_atomic_t interrupt;
	enum sl_status status;
	struct sl_error err;
	struct sl_serve_options how;
} served = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .changed = PTHREAD_COND_INITIALIZER};

static inline void
note_port(unsigned port)
{
	pthread_mutex_lock(&served.lock);
	served.port = port;
	pthread_cond_broadcast(&served.changed);
	pthread_mutex_unlock(&served.lock);
}

static inline void
take_url(const char *url, void *ctx)
{
	(void)ctx;
	note_port((unsigned)atoi(strrchr(url, ':') + 1));
}

static inline void *
serve_thread(void *ctx)
{
	(void)ctx;
	served.status = sl_serve(&served.how, &served.err);
	if (served.status)
		note_port(1); /* nobody waits for ever */
	return NULL;
}

/* Serves store_path from here to stop_serving(); sets served.port. */
static inline void
start_serving(const struct sl_serve_options *more)
{
	served.how = more ? *more : (struct sl_serve_options){0};
	served.how.struct_size = sizeof(served.how);
	served.how.where = store_path;
	served.how.ready = take_url;
	served.how.interrupt = &served.interrupt;
	served.interrupt = 0;
	served.port = 0;
	assert_int_equal(
		pthread_create(&served.thread, NULL, serve_thread, NULL), 0);
	pthread_mutex_lock(&served.lock);
	while (!served.port)
		pthread_cond_wait(&served.changed, &served.lock);
	pthread_mutex_unlock(&served.lock);
	if (served.status)
		fail_msg("%s", served.err.text);
}

static inline void
stop_serving(void)
{
	served.interrupt = 1;
	pthread_join(served.thread, NULL);
	assert_int_equal(served.status, SL_OK);
}

#endif
