/* Real TCP of the running kernel over an emulated bottleneck, in real time.
 *
 * Reads runs from standard input, one a line, does all of them at once, and prints a JSON object a run.  Each
 * has two network namespaces, A (senders) and B (receivers), with a TUN device each; this process is the link
 * between them: outage, queue, rate, random loss, delay, in this order, as docs/models/path.md has them.  What a
 * host puts out in direct answer to a packet is taken as put out when that packet was due, so that being late
 * delays nothing else.  Needs root.  tests/verification/kernel/__main__.py writes what it reads.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <linux/inet_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int64_t ns;
#define SECOND 1000000000LL
#define SAMPLE (SECOND / 50)
#define FLOWS 2
#define RUNS 64
#define MOST 16384 /* packets of a flow in a direction that are on their way, or in the queue; a power of two */
#define MESSAGES 4096

struct traffic {
    char control[16];
    ns start, extra; /* extra: more one-way delay */
    int64_t clamp, segments, message; /* 0: none */
    ns pause, every;
    int tuned;
};

/* What older headers do not know of yet (Linux 6.7). */
struct tcp_info_now {
    struct tcp_info known;
    uint32_t rcv_wnd, rehash;
    uint16_t total_rto, total_rto_recoveries;
    uint32_t total_rto_time;
};

/* What children tell, in memory that all share. */
struct told {
    volatile int complete, open, messages;
    ns handshake, message_ns[MESSAGES];
    int64_t bytes, first_5s, second_half, settled; /* settled: from 10 s on */
    int64_t samples, cwnd_sum, rtt_us_sum, window_sum;
    struct tcp_info_now info;
    int64_t probes, recoveries, timeouts, lost_retransmits, undos, hystart_exits, hystart_cwnd;
};

struct packet {
    ns due;
    int size;
    unsigned char *bytes;
};

struct lane { /* packets of a flow in a direction, in order */
    struct packet packets[MOST];
    unsigned head, tail;
};

struct direction {
    ns free, leaves[MOST]; /* when those in the queue have been sent */
    unsigned head, tail, limit;
    double loss;
    int down;
    struct lane lanes[FLOWS];
    int64_t sent, queue_drops, random_drops, outage_drops, most;
    double held; /* packet ns */
};

struct run {
    int64_t rate;
    ns delay, duration, down, up;
    int queue, flows, idle_restart;
    double loss, ack_loss;
    uint64_t random;
    struct traffic traffic[FLOWS];
    int tun[2];
    struct direction way[2]; /* 0: A to B */
    ns first_tx, resume_tx, latest_rx, complete[FLOWS];
    struct told *told;
    int64_t late_packets, packets;
    ns late_sum, late_most;
};

static struct run *runs;
static int count;
static volatile ns *epoch;

static ns clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void until(ns t) {
    struct timespec at = {t / SECOND, t % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static void need(int ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        kill(0, SIGKILL); /* parents and children: no run is good */
    }
}

static double uniform(struct run *r) { /* splitmix64 */
    uint64_t z = r->random += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static void real_time(int priority) {
    struct sched_param p = {priority};
    sched_setscheduler(0, SCHED_FIFO, &p);
}

/* Hosts */

static void set(const char *name, const char *value) {
    char path[128];
    snprintf(path, sizeof path, "/proc/sys/net/ipv4/%s", name);
    int f = open(path, O_WRONLY);
    need(f >= 0 && write(f, value, strlen(value)) > 0, path);
    close(f);
}

static int host(const char *address, const struct run *r) {
    need(unshare(CLONE_NEWNET) == 0, "a network namespace");
    struct ifreq q = {0};
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), s = socket(AF_INET, SOCK_DGRAM, 0);
    strcpy(q.ifr_name, "link");
    q.ifr_flags = IFF_TUN | IFF_NO_PI;
    need(tun >= 0 && ioctl(tun, TUNSETIFF, &q) == 0, "a TUN device");
    q.ifr_qlen = MOST;
    need(ioctl(s, SIOCSIFTXQLEN, &q) == 0, "the length of its queue");
    struct sockaddr_in *a = (struct sockaddr_in *)&q.ifr_addr;
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET;
    a->sin_addr.s_addr = inet_addr(address);
    need(ioctl(s, SIOCSIFADDR, &q) == 0, "its address");
    a->sin_addr.s_addr = inet_addr("255.255.255.0");
    need(ioctl(s, SIOCSIFNETMASK, &q) == 0, "its mask");
    q.ifr_flags = IFF_UP | IFF_RUNNING;
    need(ioctl(s, SIOCSIFFLAGS, &q) == 0, "bringing it up");
    close(s);
    set("tcp_ecn", "0");
    set("tcp_no_metrics_save", "1");
    set("tcp_fastopen", "0");
    set("tcp_rmem", "4096 131072 33554432");
    set("tcp_slow_start_after_idle", r->idle_restart ? "1" : "0");
    return tun;
}

static void option(int s, int level, int name, int64_t value) {
    int v = (int)value;
    need(setsockopt(s, level, name, &v, sizeof v) == 0, "a socket option");
}

static void receive(const struct run *r, int flow, struct told *told) {
    const struct traffic *of = &r->traffic[flow];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(5000 + flow)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    int64_t clamp = of->clamp ? of->clamp : 8 << 20;
    if (!of->tuned) {
        option(s, SOL_SOCKET, SO_RCVBUFFORCE, 24 << 20);
        option(s, IPPROTO_TCP, TCP_WINDOW_CLAMP, clamp);
    }
    need(bind(s, (void *)&a, sizeof a) == 0 && listen(s, 1) == 0, "listening");
    told->open = 1;
    int c = accept(s, NULL, NULL);
    static char buffer[1 << 20];
    ns end = *epoch + r->duration;
    for (;;) {
        struct pollfd p = {c, POLLIN, 0};
        ns left = end - clock_ns();
        if (left <= 0 || poll(&p, 1, (int)(left / 1000000 + 1)) < 0)
            break;
        if (p.revents == 0)
            continue;
        ssize_t n = recv(c, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n == 0) /* the sender has closed */
            break;
        if (!of->tuned) /* again: the kernel forgets it when it has seen how much memory packets take */
            option(c, IPPROTO_TCP, TCP_WINDOW_CLAMP, clamp);
        ns t = clock_ns() - *epoch;
        if (n < 0)
            continue;
        if (t > r->duration)
            break;
        told->bytes += n;
        told->first_5s += t < 5 * SECOND ? n : 0;
        told->second_half += t >= r->duration / 2 ? n : 0;
        told->settled += t >= 10 * SECOND ? n : 0;
        while (of->message && told->messages < MESSAGES && told->bytes >= (told->messages + 1) * of->message) {
            told->message_ns[told->messages] += t;
            told->messages++;
        }
        if (of->segments && told->bytes >= of->segments * 1448)
            told->complete = 1;
    }
    _exit(0);
}

static int64_t of_netstat(const char *name) {
    static char names[16384], values[16384];
    FILE *f = fopen("/proc/thread-self/net/netstat", "r");
    int64_t found = 0;
    while (fgets(names, sizeof names, f) && fgets(values, sizeof values, f)) {
        char *a, *b, *n = strtok_r(names, " \n", &a), *v = strtok_r(values, " \n", &b);
        for (; n && v; n = strtok_r(NULL, " \n", &a), v = strtok_r(NULL, " \n", &b))
            if (strcmp(n, name) == 0)
                found = atoll(v);
    }
    fclose(f);
    return found;
}

static void look(int s, const struct run *r, struct told *told, FILE *samples) {
    socklen_t n = sizeof told->info;
    getsockopt(s, IPPROTO_TCP, TCP_INFO, &told->info, &n);
    ns t = clock_ns() - *epoch;
    union tcp_cc_info c = {0};
    n = sizeof c;
    getsockopt(s, IPPROTO_TCP, TCP_CC_INFO, &c, &n);
    if (samples)
        fprintf(samples, "%.6f %u %u %u %u %u %u %u %u\n", (double)t / SECOND, told->info.known.tcpi_snd_cwnd,
                told->info.known.tcpi_rtt, told->info.known.tcpi_unacked, told->info.known.tcpi_total_retrans, c.bbr.bbr_bw_lo,
                c.bbr.bbr_min_rtt, c.bbr.bbr_pacing_gain, c.bbr.bbr_cwnd_gain);
    if (told->complete || (r->flows > 1 && t < 10 * SECOND))
        return;
    told->samples++;
    told->cwnd_sum += told->info.known.tcpi_snd_cwnd;
    told->rtt_us_sum += told->info.known.tcpi_rtt;
    told->window_sum += told->info.known.tcpi_snd_wnd;
}

static void wait_looking(int s, const struct run *r, struct told *told, FILE *samples, ns *next, ns t) {
    while (*next <= t) {
        until(*epoch + *next);
        look(s, r, told, samples);
        *next += SAMPLE;
    }
    until(*epoch + t);
}

static void transmit(const struct run *r, int flow, struct told *told, FILE *samples) {
    const struct traffic *of = &r->traffic[flow];
    static char zeros[1 << 20];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(5000 + flow)};
    a.sin_addr.s_addr = inet_addr("10.0.0.2");
    int s = socket(AF_INET, SOCK_STREAM, 0);
    option(s, SOL_SOCKET, SO_SNDBUFFORCE, 8 << 20);
    option(s, IPPROTO_TCP, TCP_NOTSENT_LOWAT, of->segments || of->message ? 1 << 30 : 1 << 20);
    need(setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, of->control, strlen(of->control)) == 0, of->control);
    while (*epoch == 0)
        usleep(1000);
    until(*epoch + of->start);
    ns begun = clock_ns();
    need(connect(s, (void *)&a, sizeof a) == 0, "connecting");
    told->handshake = clock_ns() - begun;
    ns next = (clock_ns() - *epoch) / SAMPLE * SAMPLE + SAMPLE;
    if (of->message) {
        for (int k = 0; k < MESSAGES; k++) {
            ns t = clock_ns() - *epoch;
            if (t >= r->duration)
                break;
            told->message_ns[k] -= t;
            for (int64_t left = of->message; left > 0;) {
                ssize_t n = send(s, zeros, left < (1 << 20) ? left : 1 << 20, MSG_NOSIGNAL);
                need(n > 0, "writing");
                left -= n;
            }
            int unacked = 1;
            while (unacked > 0 && clock_ns() - *epoch < r->duration) {
                wait_looking(s, r, told, samples, &next, clock_ns() - *epoch + 100000);
                ioctl(s, SIOCOUTQ, &unacked);
            }
            ns now = clock_ns() - *epoch, begin = of->every ? t + of->every : now + of->pause;
            wait_looking(s, r, told, samples, &next, begin < r->duration ? begin : r->duration);
        }
    } else {
        int64_t left = of->segments ? of->segments * 1448 : INT64_MAX;
        while (clock_ns() - *epoch < r->duration) {
            struct pollfd p = {s, POLLOUT, 0};
            ns wait = *epoch + next - clock_ns();
            struct timespec w = {0, wait > 0 ? wait : 0};
            if (left > 0 && ppoll(&p, 1, &w, NULL) > 0) {
                ssize_t n = send(s, zeros, left < (1 << 20) ? left : 1 << 20, MSG_DONTWAIT | MSG_NOSIGNAL);
                left -= n > 0 ? n : 0;
            }
            if (left == 0 || clock_ns() - *epoch >= next) {
                until(*epoch + next);
                look(s, r, told, samples);
                next += SAMPLE;
                if (told->complete)
                    break;
            }
        }
    }
    socklen_t n = sizeof told->info;
    getsockopt(s, IPPROTO_TCP, TCP_INFO, &told->info, &n);
    told->timeouts = of_netstat("TCPTimeouts");
    told->probes = of_netstat("TCPLossProbes");
    told->recoveries = of_netstat("TCPSackRecovery");
    told->lost_retransmits = of_netstat("TCPLostRetransmit");
    told->undos = of_netstat("TCPFullUndo") + of_netstat("TCPPartialUndo") + of_netstat("TCPDSACKUndo") +
                  of_netstat("TCPLossUndo");
    told->hystart_exits = of_netstat("TCPHystartTrainDetect") + of_netstat("TCPHystartDelayDetect");
    told->hystart_cwnd = of_netstat("TCPHystartTrainCwnd") + of_netstat("TCPHystartDelayCwnd");
    if (samples)
        fclose(samples);
    _exit(0);
}

/* The link */

static void enter(struct run *r, int d, ns t, unsigned char *bytes, int size) {
    struct direction *w = &r->way[d];
    int header = (bytes[0] & 15) * 4;
    const unsigned char *tcp = bytes + header;
    int port = ntohs(*(const uint16_t *)(tcp + (d == 0 ? 2 : 0))), flow = port - 5000;
    int syn = tcp[13] & 2, data = d == 0 && size - header - (tcp[12] >> 4) * 4 > 0;
    if (bytes[0] >> 4 != 4 || bytes[9] != IPPROTO_TCP || flow < 0 || flow >= FLOWS) {
        free(bytes);
        return;
    }
    ns at = t - *epoch;
    int counts = data || d == 1;
    w->sent += counts;
    if (data && r->first_tx < 0)
        r->first_tx = at;
    if (r->up > 0 && at >= r->down && !w->down) { /* idle and empty from now on */
        w->down = 1;
        w->head = w->tail;
        w->free = 0;
    }
    int dropped = r->up > 0 && at >= r->down && at < r->up;
    if (dropped)
        w->outage_drops += counts;
    while (w->head != w->tail && w->leaves[w->head % MOST] <= t)
        w->head++;
    if (!dropped && w->tail - w->head >= w->limit) {
        w->queue_drops += counts;
        dropped = 1;
    }
    if (!dropped) {
        ns leaves = (t > w->free ? t : w->free) + (ns)(8e9 * size / r->rate + 0.5);
        ns due = leaves + r->delay + r->traffic[flow].extra;
        w->free = w->leaves[w->tail++ % MOST] = leaves;
        ns until = leaves - *epoch, from = r->flows > 1 ? 10 * SECOND : 0, begin = at > from ? at : from;
        until = until < r->duration ? until : r->duration;
        w->held += until > begin ? (double)(until - begin) : 0;
        w->most = w->tail - w->head > w->most ? w->tail - w->head : w->most;
        double loss = uniform(r);
        if (!syn && loss < w->loss) {
            w->random_drops += counts;
            dropped = 1;
        } else if (r->up > 0 && at < r->down && due - *epoch >= r->down) {
            w->outage_drops += counts;
            dropped = 1;
        } else {
            struct lane *l = &w->lanes[flow];
            need(l->tail - l->head < MOST, "too many packets on their way");
            l->packets[l->tail++ % MOST] = (struct packet){due, size, bytes};
            if (data && r->up > 0 && at >= r->up && r->resume_tx < 0)
                r->resume_tx = at;
        }
    }
    if (dropped)
        free(bytes);
}

static void drain(struct run *r, int d, ns t) { /* what host d has put out, at time t */
    static unsigned char buffer[65536];
    for (;;) {
        ssize_t n = read(r->tun[d], buffer, sizeof buffer);
        if (n <= 0)
            return;
        unsigned char *bytes = malloc(n);
        memcpy(bytes, buffer, n);
        enter(r, d, t, bytes, (int)n);
    }
}

static struct lane *earliest(struct run *r, int *d) {
    struct lane *found = NULL;
    for (int k = 0; k < 2; k++)
        for (int f = 0; f < r->flows; f++) {
            struct lane *l = &r->way[k].lanes[f];
            if (l->head != l->tail &&
                (!found || l->packets[l->head % MOST].due < found->packets[found->head % MOST].due))
                found = l, *d = k;
        }
    return found;
}

static ns advance(struct run *r) { /* hands over what is due; returns when the next is */
    int d;
    for (struct lane *l; (l = earliest(r, &d));) {
        struct packet p = l->packets[l->head % MOST];
        ns now = clock_ns();
        if (p.due > now)
            return p.due;
        l->head++;
        drain(r, !d, now);
        ssize_t n = write(r->tun[!d], p.bytes, p.size);
        (void)n;
        drain(r, !d, p.due);
        free(p.bytes);
        r->packets++;
        r->late_packets += now - p.due > 1000000;
        r->late_sum += now - p.due;
        r->late_most = now - p.due > r->late_most ? now - p.due : r->late_most;
        if (d == 0)
            r->latest_rx = p.due - *epoch;
        for (int f = 0; f < r->flows; f++)
            if (r->told[f].complete && r->complete[f] < 0)
                r->complete[f] = r->latest_rx;
    }
    return INT64_MAX;
}

static void serve(void) {
    int e = epoll_create1(EPOLL_CLOEXEC);
    ns last = 0;
    for (int i = 0; i < count; i++) {
        last = runs[i].duration > last ? runs[i].duration : last;
        for (int d = 0; d < 2; d++) {
            struct epoll_event v = {EPOLLIN, {.u32 = (uint32_t)(2 * i + d)}};
            epoll_ctl(e, EPOLL_CTL_ADD, runs[i].tun[d], &v);
        }
    }
    real_time(40);
    int going = count;
    for (ns end = *epoch + last; clock_ns() < end && going > 0;) {
        ns next = end;
        going = 0;
        for (int i = 0; i < count; i++) {
            ns t = advance(&runs[i]);
            next = t < next ? t : next;
            going += t < INT64_MAX || runs[i].complete[0] < 0;
        }
        ns wait = next - clock_ns();
        struct timespec w = {wait > 0 ? wait / SECOND : 0, wait > 0 ? wait % SECOND : 0};
        struct epoll_event found[2 * RUNS];
        int n = epoll_pwait2(e, found, 2 * RUNS, &w, NULL);
        ns now = clock_ns();
        for (int k = 0; k < n; k++)
            drain(&runs[found[k].data.u32 / 2], found[k].data.u32 % 2, now);
    }
}

static void print(struct run *r) {
    struct direction *w = &r->way[0];
    ns from = r->flows > 1 ? 10 * SECOND : 0;
    double seconds = (double)r->duration / SECOND, second = SECOND;
    ns last = r->complete[0] >= 0 ? r->complete[0] : r->duration;
    printf("{\"sent_packets\": %" PRId64 ", \"queue_drops\": %" PRId64 ", \"random_drops\": %" PRId64
           ", \"drops_linkdown\": %" PRId64 ", \"acks_sent\": %" PRId64 ", \"max_queue_packets\": %" PRId64
           ", \"mean_queue_packets\": %.5f, \"late_share\": %.6f, \"late_most_s\": %.6f, \"late_mean_s\": %.6f",
           w->sent, w->queue_drops, w->random_drops, w->outage_drops, r->way[1].sent, w->most,
           w->held / (double)(last - from), (double)r->late_packets / (double)r->packets,
           (double)r->late_most / second, (double)r->late_sum / second / (double)r->packets);
    printf(", \"tail_loss_probes\": %" PRId64 ", \"fast_recoveries\": %" PRId64 ", \"lost_retransmits\": %" PRId64
           ", \"undos\": %" PRId64 ", \"all_timeouts\": %" PRId64,
           r->told->probes, r->told->recoveries, r->told->lost_retransmits, r->told->undos, r->told->timeouts);
    if (r->up > 0 && r->resume_tx >= 0)
        printf(", \"restart_after_up_s\": %.6f", (double)(r->resume_tx - r->up) / second);
    if (r->complete[0] >= 0)
        printf(", \"completion_s\": %.6f", (double)(r->complete[0] - r->first_tx) / second);
    printf(", \"flows\": [");
    for (int f = 0; f < r->flows; f++) {
        struct told *t = &r->told[f];
        double n = t->samples > 0 ? (double)t->samples : 1;
        printf("%s{\"goodput_Bps\": %.2f, \"settled_Bps\": %.2f, \"goodput_first_5s_Bps\": %.2f"
               ", \"goodput_second_half_Bps\": %.2f, \"rexmit_packets\": %u, \"timeouts\": %u, \"handshake_s\": %.6f"
               ", \"mean_cwnd_packets\": %.5f, \"mean_srtt_s\": %.7f, \"mean_window_bytes\": %.1f"
               ", \"hystart_exits\": %" PRId64 ", \"hystart_exit_cwnd\": %" PRId64 ", \"messages\": [",
               f ? ", " : "", (double)t->bytes / seconds, seconds > 10 ? (double)t->settled / (seconds - 10) : 0,
               (double)t->first_5s / 5, (double)t->second_half / seconds * 2, t->info.known.tcpi_total_retrans,
               (unsigned)t->info.total_rto, (double)t->handshake / second, (double)t->cwnd_sum / n,
               (double)t->rtt_us_sum / n * 1e-6, (double)t->window_sum / n, t->hystart_exits, t->hystart_cwnd);
        for (int k = 0; k < t->messages; k++)
            printf("%s%.6f", k ? ", " : "", (double)t->message_ns[k] / second);
        printf("]}");
    }
    printf("]}\n");
}

static int read_run(struct run *r) {
    double delay, duration, down, length;
    if (scanf("%" SCNd64 " %lf %d %lf %lf %lf %lf %lf %" SCNu64 " %d %d", &r->rate, &delay, &r->queue, &r->loss,
              &r->ack_loss, &down, &length, &duration, &r->random, &r->idle_restart, &r->flows) != 11)
        return 0;
    r->delay = (ns)(delay * SECOND), r->duration = (ns)(duration * SECOND);
    r->down = (ns)(down * SECOND), r->up = length > 0 ? r->down + (ns)(length * SECOND) : 0;
    need(r->flows >= 1 && r->flows <= FLOWS, "one flow or two");
    for (int f = 0; f < r->flows; f++) {
        struct traffic *t = &r->traffic[f];
        double start, extra, pause, every;
        need(scanf("%15s %lf %lf %" SCNd64 " %" SCNd64 " %" SCNd64 " %lf %lf %d", t->control, &start, &extra,
                   &t->clamp, &t->segments, &t->message, &pause, &every, &t->tuned) == 9, "a flow");
        t->start = (ns)(start * SECOND), t->extra = (ns)(extra * SECOND);
        t->pause = (ns)(pause * SECOND), t->every = (ns)(every * SECOND);
        r->complete[f] = -1;
    }
    r->first_tx = r->resume_tx = -1;
    r->way[0].limit = r->queue, r->way[0].loss = r->loss;
    r->way[1].limit = 4000, r->way[1].loss = r->ack_loss;
    return 1;
}

int main(int argc, char **argv) {
    runs = calloc(RUNS, sizeof *runs);
    while (count < RUNS && read_run(&runs[count]))
        count++;
    size_t words = sizeof(struct told) * FLOWS;
    char *shared = mmap(NULL, words * count + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    epoch = (volatile ns *)shared;
    for (int i = 0; i < count; i++) {
        struct run *r = &runs[i];
        r->told = (struct told *)(shared + 4096 + words * i);
        for (int d = 0; d < 2; d++) {
            r->tun[d] = host(d == 0 ? "10.0.0.1" : "10.0.0.2", r);
            for (int f = 0; f < r->flows; f++) {
                char path[256];
                snprintf(path, sizeof path, "%s.%d.%d", argc > 1 ? argv[1] : "", i, f);
                if (fork() == 0) {
                    real_time(d == 0 ? 10 : 20);
                    if (d == 0)
                        transmit(r, f, &r->told[f], argc > 1 ? fopen(path, "w") : NULL);
                    receive(r, f, &r->told[f]);
                }
            }
        }
        for (int f = 0; f < r->flows; f++)
            while (!r->told[f].open)
                usleep(1000);
    }
    ns start = clock_ns() + SECOND / 5;
    *epoch = start;
    serve();
    usleep(300000);
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < count; i++)
        print(&runs[i]);
    fflush(stdout);
    kill(0, SIGTERM);
    return 0;
}
