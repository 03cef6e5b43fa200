/* Reads from a TCP server on loopback until the server closes, and sends ten UDP packets of 1000 bytes. The
   environment variable PORT has the port of both. */
#include "bgtask.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char bytes[65536];

static int talk(void) {
    const char *port = getenv("PORT");
    struct sockaddr_in server = {.sin_family = AF_INET};
    server.sin_port = htons((unsigned short)(port == NULL ? 0 : atoi(port)));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int stream = socket(AF_INET, SOCK_STREAM, 0), packets = socket(AF_INET, SOCK_DGRAM, 0);
    if (stream < 0 || packets < 0 || connect(stream, (const struct sockaddr *)&server, sizeof server) != 0)
        return 0;
    while (read(stream, bytes, sizeof bytes) > 0)
        continue;
    for (int i = 0; i < 10; i++)
        sendto(packets, bytes, 1000, 0, (const struct sockaddr *)&server, sizeof server);
    close(stream);
    close(packets);
    return 1;
}

static void run(bgtask_task *task, const bgtask_host *host) {
    host->complete(task, getenv("PORT") == NULL || talk(), NULL);
}

static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};

BGTASK_EXPORT const bgtask_plugin *bgtask_plugin_entry(void) {
    return &plugin;
}
