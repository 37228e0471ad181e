/* An emulated path between two network namespaces, in which a client and a server run over the kernel's TCP.
 *
 *     path RATE DELAY QUEUE LOSS SEED CLIENT SERVER
 *
 * RATE [bit/s] and QUEUE [packets, including the one in transmission] describe a drop-tail link; with RATE 0 this
 * program only delays and loses packets, and a queueing discipline of the kernel that SERVER installs limits the
 * rate.  DELAY [s] applies in each direction, LOSS to data packets.  Acknowledgements pass a link of the same rate.
 * CLIENT and SERVER are shell commands; the program ends when CLIENT ends, and prints the share of packets that were
 * delivered more than 1 ms late.  Needs root; the namespaces are made by hosts.c of the campaign `kernel`.
 */
#include "../kernel/run.h"

#include <sys/epoll.h>
#include <sys/wait.h>

volatile ns *epoch;
static struct run r;
static uint64_t state;
static int tun[2];
static struct direction way[2];

static double uniform(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static int has_data(const unsigned char *bytes, int size) {
    return size > 1000 && bytes[9] == 6;
}

static void enter(int d, ns t, const unsigned char *bytes, int size) {
    struct direction *w = &way[d];
    struct lane *l = &w->lanes[0];
    if (bytes[0] >> 4 != 4)
        return;
    while (w->head != w->tail && w->leaves[w->head % MOST] <= t)
        w->head++;
    if (r.rate && w->tail - w->head >= w->limit) {
        w->queue_drops++;
        return;
    }
    ns leaves = t;
    if (r.rate) {
        leaves = (t > w->free ? t : w->free) + (ns)(8e9 * size / r.rate + 0.5);
        w->free = w->leaves[w->tail++ % MOST] = leaves;
    }
    w->sent++;
    if (d == 0 && has_data(bytes, size) && uniform() < r.loss) {
        w->random_drops++;
        return;
    }
    need(l->tail - l->head < MOST, "too many packets in flight");
    unsigned char *copy = malloc(size);
    memcpy(copy, bytes, size);
    l->packets[l->tail++ % MOST] = (struct packet){leaves + r.delay, size, copy};
}

static void drain(int d, ns t) {
    static unsigned char buffer[65536];
    for (ssize_t n; (n = read(tun[d], buffer, sizeof buffer)) > 0;)
        enter(d, t, buffer, (int)n);
}

static ns advance(void) { /* deliver due packets; return the next due time */
    for (;;) {
        int d = -1;
        for (int k = 0; k < 2; k++) {
            struct lane *l = &way[k].lanes[0];
            if (l->head != l->tail && (d < 0 || l->packets[l->head % MOST].due <
                                                    way[d].lanes[0].packets[way[d].lanes[0].head % MOST].due))
                d = k;
        }
        if (d < 0)
            return INT64_MAX;
        struct lane *l = &way[d].lanes[0];
        struct packet p = l->packets[l->head % MOST];
        ns now = clock_ns();
        if (p.due > now)
            return p.due;
        l->head++;
        drain(!d, now);
        ssize_t n = write(tun[!d], p.bytes, p.size);
        (void)n;
        drain(!d, p.due); /* a direct response counts as sent when the packet was due */
        free(p.bytes);
        r.packets++;
        r.late_packets += now - p.due > 1000000;
    }
}

static pid_t start(const char *command) {
    pid_t child = fork();
    if (child == 0) {
        real_time(10);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    return child;
}

int main(int count, char **given) {
    need(count == 8, "usage: path RATE DELAY QUEUE LOSS SEED CLIENT SERVER");
    r.rate = atoll(given[1]), r.delay = (ns)(atof(given[2]) * SECOND), r.loss = atof(given[4]);
    r.idle_restart = 1;
    state = strtoull(given[5], NULL, 10);
    way[0].limit = atoi(given[3]), way[1].limit = 4000;
    tun[1] = host("10.0.0.2", &r);
    need(system("ip link set lo up") == 0, "loopback");
    start(given[7]);
    usleep(500000);
    tun[0] = host("10.0.0.1", &r);
    need(system("ip link set lo up") == 0, "loopback");
    pid_t client = start(given[6]);
    int e = epoll_create1(EPOLL_CLOEXEC);
    for (int d = 0; d < 2; d++) {
        struct epoll_event v = {EPOLLIN, {.u32 = (uint32_t)d}};
        epoll_ctl(e, EPOLL_CTL_ADD, tun[d], &v);
    }
    real_time(40);
    int status;
    while (waitpid(client, &status, WNOHANG) == 0) {
        ns wait = advance() - clock_ns();
        wait = wait < 0 ? 0 : wait > SECOND / 10 ? SECOND / 10 : wait;
        struct timespec w = {0, wait};
        struct epoll_event found[2];
        int n = epoll_pwait2(e, found, 2, &w, NULL);
        ns now = clock_ns();
        for (int k = 0; k < n; k++)
            drain((int)found[k].data.u32, now);
    }
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM); /* the server and its shell, which would keep the pipes open */
    fprintf(stderr, "{\"late_share\": %.6f, \"queue_drops\": %" PRId64 ", \"random_drops\": %" PRId64 "}\n",
            (double)r.late_packets / (double)(r.packets + 1), way[0].queue_drops, way[0].random_drops);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
