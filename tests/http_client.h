/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.h - bytes sent to a server on this machine, and its reply. */
#ifndef SL_TEST_HTTP_CLIENT_H
#define SL_TEST_HTTP_CLIENT_H

#include "harness.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REPLY_BYTES = 1 << 20 };

static inline int
connect_to(unsigned port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int client = socket(AF_INET, SOCK_STREAM, 0);

	/* The server may close before all is written. */
	signal(SIGPIPE, SIG_IGN);
	if (client < 0 || connect(client, (struct sockaddr *)&at, sizeof(at)))
		fail_msg("no connection to port %u", port);
	return client;
}

/* All that comes until the server closes; "" where it says nothing. */
static inline const char *
read_reply(int client)
{
	static char reply[REPLY_BYTES];
	size_t n = 0;
	ssize_t more;

	while (n + 1 < sizeof(reply) &&
	       (more = read(client, reply + n, sizeof(reply) - 1 - n)) > 0)
		n += (size_t)more;
	reply[n] = '\0';
	close(client);
	return reply;
}

static inline const char *
send_bytes(unsigned port, const char *bytes, size_t n_bytes)
{
	int client = connect_to(port);

	while (n_bytes) {
		ssize_t n = write(client, bytes, n_bytes);

		if (n <= 0)
			break;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return read_reply(client);
}

/* A request of one line, with more header fields ("" or "Name: value\r\n"). */
static inline const char *
ask_with(unsigned port, const char *line, const char *fields)
{
	char text[4096];
	int n = snprintf(text, sizeof(text),
			 "%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
			 "Connection: close\r\n%s\r\n",
			 line, port, fields);

	return send_bytes(port, text, (size_t)n);
}

static inline const char *
ask(unsigned port, const char *line)
{
	return ask_with(port, line, "");
}

/* The number in "HTTP/1.1 200 OK"; 0: no reply. */
static inline int
status_of(const char *reply)
{
	return strncmp(reply, "HTTP/1.", 7) == 0 ? atoi(reply + 9) : 0;
}

static inline const char *
body_of(const char *reply)
{
	const char *blank = strstr(reply, "\r\n\r\n");

	return blank ? blank + 4 : "";
}

#endif
