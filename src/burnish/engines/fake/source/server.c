/* server SOCKET DATA [work_percent=N]   serves until SIGTERM, one thread for each connection
 * server --version                      says what it is */
#include "fake.h"

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct fake_state fake_state = { .percent = 100 };

static int version(void)
{
	printf("fake 1.%d\n", FAKE_RELEASE);
	printf("extras=%s\n", FAKE_EXTRAS ? "ON" : "OFF");
	return 0;
}

static void load_data(const char *path)
{
	unsigned char data[65536];
	ssize_t size;

	fake_state.data = open(path, O_RDWR | O_CLOEXEC);
	if (fake_state.data < 0 || (size = read(fake_state.data, data, sizeof data)) < 0)
		err(1, "%s", path);
	fake_state.size = size;
	for (int at = 0; at < 26; at++)
		fake_state.checksums[at] = fake_checksum((char)('a' + at), data, (size_t)size);
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof address.sun_path)
		errx(1, "%s: too long for a socket's name", path);
	strcpy(address.sun_path, path);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(listener, 128) < 0)
		err(1, "%s", path);
	return listener;
}

static void *serve(void *argument)
{
	int connection = (int)(intptr_t)argument;

	fake_serve(connection);
	close(connection);
	return NULL;
}

static void *accept_all(void *argument)
{
	int listener = (int)(intptr_t)argument;
	pthread_t thread;

	for (;;) {
		int connection = accept(listener, NULL, NULL);
		if (connection < 0)
			err(1, "accept");
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) != 0)
			errx(1, "cannot make a thread");
		pthread_detach(thread);
	}
	return NULL;
}

int main(int count, char **words)
{
	struct rlimit none = { 0, 0 };
	sigset_t ends;
	pthread_t thread;
	int number, listener;

	if (count == 2 && strcmp(words[1], "--version") == 0)
		return version();
	if (count < 3)
		errx(2, "usage: server SOCKET DATA [work_percent=N] | server --version");
	for (int at = 3; at < count; at++)
		if (sscanf(words[at], "work_percent=%lu", &fake_state.percent) != 1)
			errx(2, "%s: unknown setting", words[at]);
	setrlimit(RLIMIT_CORE, &none); /* a planted crash leaves no core file */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, NULL); /* threads inherit it: only sigwait below sees them */
	load_data(words[2]);
	listener = listen_at(words[1]);
	if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener) != 0)
		errx(1, "cannot make a thread");
	do
		sigwait(&ends, &number);
	while (fake_state.hung);
	unlink(words[1]);
	return 0; /* the normal way out: an instrumented build writes its profile here */
}
