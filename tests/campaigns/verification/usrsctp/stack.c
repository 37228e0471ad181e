/* Two endpoints of usrsctp over two emulated paths, in virtual time.
 *
 * The library runs unchanged.  What it asks of the system is answered here: the time of day, the addresses of
 * the hosts, raw sockets, and threads, which are not started.  Its timers are checked every 10 ms, as its own
 * thread does.  Every line of the input is a run (see `main`), every line of the output its result as JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <usrsctp.h>

enum { PATHS = 2, ENDS = 2, PAYLOAD = 1452, MTU = 1500, HELD = 8192, FIRST_FD = 1000, TICK_MS = 10 };
#define NS 1000000000LL
#define NEVER (1LL << 62)

struct packet {
    int64_t arrives, leaves;
    int size;
    unsigned char bytes[MTU];
};

struct line { /* one direction of a path */
    double ns_per_byte, loss;
    int64_t delay, free;
    unsigned queue, first, next;
    struct packet *ring;
};

static struct line lines[PATHS][ENDS]; /* by path and receiving endpoint */
static int64_t now, outage_start, outage_end;
static unsigned long long seed;
static struct socket *sender, *receiver;
static uint32_t first_tsn, highest_tsn;
static long sent, again, of_path[PATHS], delivered, drops;
static int64_t moved = -NS, returned = -NS, last_arrival = -NS, silence, completed = -NS; /* not yet */
static void *(*receive_raw)(void *);
static struct packet *in_hand;
static int opened;

/* Replacements of system calls. */

int gettimeofday(struct timeval *t, void *zone) {
    (void)zone;
    int64_t us = 1000000000000000LL + now / 1000;
    t->tv_sec = us / 1000000;
    t->tv_usec = us % 1000000;
    return 0;
}

int getifaddrs(struct ifaddrs **all) {
    static struct ifaddrs found[PATHS * ENDS];
    static struct sockaddr_in address[PATHS * ENDS];
    static char name[PATHS * ENDS][8];
    for (int k = 0; k < PATHS * ENDS; k++) {
        char text[16];
        snprintf(text, sizeof text, "10.0.%d.%d", k % PATHS + 1, k / PATHS + 1);
        snprintf(name[k], sizeof name[k], "if%d", k + 1);
        address[k] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(text)};
        found[k] = (struct ifaddrs){.ifa_name = name[k], .ifa_addr = (struct sockaddr *)&address[k]};
        if (k) found[k - 1].ifa_next = &found[k];
    }
    *all = found;
    return 0;
}

void freeifaddrs(struct ifaddrs *all) { (void)all; }

unsigned if_nametoindex(const char *name) { return (unsigned)atoi(name + 2); }

int socket(int domain, int type, int protocol) {
    (void)type, (void)protocol;
    if (domain == AF_INET) {
        opened = 1;
        return FIRST_FD;
    }
    errno = EAFNOSUPPORT;
    return -1;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    (void)fd, (void)level, (void)name, (void)value, (void)size;
    return 0;
}

int bind(int fd, const struct sockaddr *address, socklen_t size) {
    (void)fd, (void)address, (void)size;
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static int threads;
    (void)attributes, (void)argument;
    *thread = (pthread_t)(uintptr_t)++threads;
    if (opened && !receive_raw) receive_raw = start; /* the first thread after the raw socket receives from it */
    return 0;
}

static double random_number(void) { /* splitmix64 */
    unsigned long long z = seed += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* The paths. */

static int down(int path) { return path == 0 && outage_start <= now && now < outage_end; }

static void note(const unsigned char *p, int size, int path) { /* record the DATA chunks that the sender sends */
    for (int at = 32; at + 4 <= size;) {
        int length = p[at + 2] << 8 | p[at + 3];
        if (length < 4) return;
        if (p[at] == 0) {
            uint32_t tsn;
            memcpy(&tsn, p + at + 4, 4);
            tsn = ntohl(tsn);
            if (!sent) first_tsn = tsn, highest_tsn = tsn - 1;
            sent++;
            of_path[path]++;
            if ((int32_t)(tsn - highest_tsn) > 0) {
                highest_tsn = tsn;
                if (moved < 0 && path == 1 && now > outage_start) moved = now;
                if (returned < 0 && path == 0 && now >= outage_end) returned = now;
            } else {
                again++;
            }
        }
        at += (length + 3) & ~3;
    }
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags) {
    unsigned char p[MTU + 100] = {0};
    int size = 0;
    (void)fd, (void)flags;
    for (size_t k = 0; k < m->msg_iovlen; k++) {
        memcpy(p + size, m->msg_iov[k].iov_base, m->msg_iov[k].iov_len);
        size += (int)m->msg_iov[k].iov_len;
    }
    if (size > MTU) fprintf(stderr, "a packet of %d bytes\n", size), exit(2);
    int path = p[18] - 1, end = p[19] - 1; /* of the destination 10.0.path.end */
    p[14] = p[18], p[15] = (unsigned char)(2 - end);
    if (end == 1) note(p, size, path);
    struct line *l = &lines[path][end];
    while (l->first < l->next && l->ring[l->first % HELD].leaves == 0) l->first++;
    unsigned held = 0;
    for (unsigned k = l->next; k-- > l->first && l->ring[k % HELD].leaves > now;) held++;
    if (down(path)) return size;
    if (held >= l->queue || l->next - l->first == HELD) {
        drops++;
        return size;
    }
    struct packet *q = &l->ring[l->next % HELD];
    l->free = (l->free > now ? l->free : now) + (int64_t)(size * l->ns_per_byte);
    q->leaves = l->free;
    q->arrives = random_number() < l->loss ? NEVER : l->free + l->delay;
    q->size = size;
    memcpy(q->bytes, p, (size_t)size);
    l->next++;
    return size;
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags) {
    (void)fd, (void)flags;
    if (!in_hand) {
        errno = EBADF; /* ends the loop of the thread */
        return -1;
    }
    memcpy(m->msg_iov[0].iov_base, in_hand->bytes, (size_t)in_hand->size);
    int size = in_hand->size;
    in_hand = NULL;
    return size;
}

static struct packet *oldest(struct line *l) { /* the oldest packet that will arrive */
    while (l->first < l->next && l->ring[l->first % HELD].arrives == NEVER && l->ring[l->first % HELD].leaves <= now)
        l->first++;
    for (unsigned k = l->first; k < l->next; k++)
        if (l->ring[k % HELD].arrives < NEVER) return &l->ring[k % HELD];
    return NULL;
}

static void cut(void) { /* The outage destroys the packets on the first path. */
    for (int end = 0; end < ENDS; end++) {
        lines[0][end].first = lines[0][end].next;
        lines[0][end].free = now;
    }
}

/* The application. */

static void work(long limit) {
    static char data[PAYLOAD];
    static long written;
    struct sctp_sendv_spa info = {.sendv_flags = SCTP_SEND_SNDINFO_VALID};
    while (written < limit && usrsctp_sendv(sender, data, PAYLOAD, NULL, 0, &info, sizeof info, SCTP_SENDV_SPA, 0) > 0)
        written++;
    static struct socket *accepted;
    if (!accepted) accepted = usrsctp_accept(receiver, NULL, NULL);
    if (!accepted) return;
    usrsctp_set_non_blocking(accepted, 1);
    char got[65536];
    struct sctp_rcvinfo rcv;
    for (;;) {
        socklen_t a = 0, n = sizeof rcv;
        unsigned type;
        int f = 0;
        ssize_t size = usrsctp_recvv(accepted, got, sizeof got, NULL, &a, &rcv, &n, &type, &f);
        if (size <= 0) break;
        if (!(f & MSG_NOTIFICATION)) delivered += size;
    }
    if (completed < 0 && delivered == limit * PAYLOAD) completed = now;
}

static void quiet(const char *format, ...) { (void)format; }

static struct sockaddr_in at(int path, int end) {
    char text[16];
    snprintf(text, sizeof text, "10.0.%d.%d", path, end);
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(5001), .sin_addr.s_addr = inet_addr(text)};
}

static struct socket *bound(int end) {
    struct socket *s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    struct sockaddr_in both[PATHS] = {at(1, end), at(2, end)};
    int on = 1;
    usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
    if (!s || usrsctp_bindx(s, (struct sockaddr *)both, PATHS, SCTP_BINDX_ADD_ADDR)) perror("bindx"), exit(2);
    usrsctp_set_non_blocking(s, 1);
    return s;
}

static void run(const char *text) {
    double rate[PATHS], delay[PATHS], loss, ack_loss, start, length, duration, rto_min, beat;
    unsigned queue[PATHS], retrans, pf, window, cmt;
    long limit;
    if (sscanf(text, "%lf %lf %lf %lf %u %u %lf %lf %lf %lf %lf %lf %lf %u %u %u %u %ld %llu", &rate[0], &rate[1], &delay[0],
               &delay[1], &queue[0], &queue[1], &loss, &ack_loss, &start, &length, &duration, &rto_min, &beat, &retrans,
               &pf, &window, &cmt, &limit, &seed) != 19)
        fprintf(stderr, "not a run: %s\n", text), exit(2);
    for (int k = 0; k < PATHS; k++)
        for (int end = 0; end < ENDS; end++)
            lines[k][end] = (struct line){
                .ns_per_byte = 8e9 / rate[k], .delay = (int64_t)(delay[k] * NS), .queue = end ? queue[k] : HELD,
                .loss = end ? loss : ack_loss, .ring = calloc(HELD, sizeof(struct packet))};
    outage_start = (int64_t)(start * NS);
    outage_end = length > 0 ? (int64_t)((start + length) * NS) : outage_start;
    if (limit == 0) limit = 1L << 40;
    usrsctp_init(0, NULL, quiet);
    usrsctp_sysctl_set_sctp_rto_min_default((uint32_t)(rto_min * 1e3));
    usrsctp_sysctl_set_sctp_rto_initial_default(1000);
    usrsctp_sysctl_set_sctp_heartbeat_interval_default((uint32_t)(beat * 1e3));
    usrsctp_sysctl_set_sctp_path_rtx_max_default(retrans);
    usrsctp_sysctl_set_sctp_path_pf_threshold(pf);
    usrsctp_sysctl_set_sctp_no_csum_on_loopback(0); /* both endpoints are on this host */
    usrsctp_sysctl_set_sctp_cmt_on_off(cmt);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_auto_asconf(0);
    usrsctp_sysctl_set_sctp_sendspace(1 << 20);
    usrsctp_sysctl_set_sctp_recvspace(window);
    receiver = bound(2);
    sender = bound(1);
    if (usrsctp_listen(receiver, 1)) perror("listen"), exit(2);
    struct sockaddr_in peer = at(1, 2);
    if (usrsctp_connect(sender, (struct sockaddr *)&peer, sizeof peer) && errno != EINPROGRESS) perror("connect"), exit(2);
    int64_t end = (int64_t)(duration * NS), tick = TICK_MS * 1000000LL, next_tick = (int64_t)(random_number() * tick);
    int is_cut = outage_end == outage_start;
    while (now <= end && completed < 0) {
        struct line *from = NULL;
        struct packet *packet = NULL;
        int64_t next = next_tick;
        int who = 0;
        for (int k = 0; k < PATHS; k++)
            for (int e = 0; e < ENDS; e++) {
                struct packet *first = oldest(&lines[k][e]);
                if (first && first->arrives < next) next = first->arrives, from = &lines[k][e], packet = first, who = e;
            }
        if (!is_cut && outage_start <= next) {
            now = outage_start;
            cut();
            is_cut = 1;
            continue;
        }
        now = next;
        if (packet) {
            struct packet copy = *packet;
            while (&from->ring[from->first % HELD] != packet) from->first++;
            from->first++;
            if (who == 1) {
                for (int k = 32; k < copy.size && copy.bytes[k] == 0; k = copy.size) {
                    if (last_arrival >= 0 && now - last_arrival > silence) silence = now - last_arrival;
                    last_arrival = now;
                }
            }
            in_hand = &copy;
            receive_raw(NULL);
        } else {
            usrsctp_handle_timers(TICK_MS);
            next_tick += tick;
        }
        work(limit);
    }
    printf("{\"delivered_bytes\": %ld, \"sent\": %ld, \"retransmitted\": %ld, \"sent_alternate\": %ld, \"drops_queue\": %ld, "
           "\"moved_s\": %.6f, \"returned_s\": %.6f, \"silence_s\": %.6f, \"completion_s\": %.6f}\n",
           delivered, sent, again, of_path[1], drops, moved / 1e9, returned / 1e9, silence / 1e9, completed / 1e9);
    fflush(stdout);
    _exit(0);
}

int main(void) {
    /* rates [bit/s], delays [s], queues [packets], loss, ACK loss, outage of path 1: start, length [s]; duration, RTO.Min,
     * HB.interval [s]; Path.Max.Retrans, PotentiallyFailed.Max.Retrans; window [bytes], concurrent
     * multipath transfer, messages (0: endless), seed */
    char text[1024];
    while (fgets(text, sizeof text, stdin)) {
        pid_t child = fork(); /* the library has one state per process */
        if (child == 0) run(text);
        int status;
        waitpid(child, &status, 0);
        if (status) return 1;
    }
    return 0;
}
