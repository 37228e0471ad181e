/* Hosts of a run: a network namespace for each, and their applications. */
#include "run.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
/* payload of a full segment; MPTCP has a longer header */
#define PAYLOAD(r) ((r)->count > 1 ? 1424 : 1448)

static void set(const char *name, const char *value) {
    char path[128];
    snprintf(path, sizeof path, "/proc/sys/net/ipv4/%s", name);
    int f = open(path, O_WRONLY);
    need(f >= 0 && write(f, value, strlen(value)) > 0, path);
    close(f);
}

static int device(int d, int path) {
    struct ifreq q = {0};
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), s = socket(AF_INET, SOCK_DGRAM, 0);
    snprintf(q.ifr_name, sizeof q.ifr_name, "link%d", path);
    q.ifr_flags = IFF_TUN | IFF_NO_PI;
    need(tun >= 0 && ioctl(tun, TUNSETIFF, &q) == 0, "a TUN device");
    q.ifr_qlen = MOST;
    need(ioctl(s, SIOCSIFTXQLEN, &q) == 0, "the length of its queue");
    struct sockaddr_in *a = (struct sockaddr_in *)&q.ifr_addr;
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET;
    a->sin_addr.s_addr = htonl((10 << 24) + (path << 8) + d + 1);
    need(ioctl(s, SIOCSIFADDR, &q) == 0, "its address");
    a->sin_addr.s_addr = inet_addr("255.255.255.0");
    need(ioctl(s, SIOCSIFNETMASK, &q) == 0, "its mask");
    q.ifr_flags = IFF_UP | IFF_RUNNING;
    need(ioctl(s, SIOCSIFFLAGS, &q) == 0, "bringing it up");
    close(s);
    return tun;
}

static void second_path(int d, const struct run *r) {
    set("conf/all/rp_filter", "0");
    set("conf/link1/rp_filter", "0");
    need(system("ip mptcp limits set subflows 2 add_addr_accepted 0") == 0, "the limits of MPTCP");
    if (d == 1)
        return;
    need(system("ip route add 10.0.0.0/24 dev link1 metric 1000") == 0, "a route over the second path");
    const char *kind = r->paths[1].backup ? "backup" : "";
    char command[128];
    snprintf(command, sizeof command, "ip mptcp endpoint add 10.0.1.1 dev link1 subflow %s", kind);
    need(system(command) == 0, "the second subflow");
}

void host(int d, struct run *r) {
    need(unshare(CLONE_NEWNET) == 0, "a network namespace");
    for (int path = 0; path < r->count; path++)
        r->paths[path].tun[d] = device(d, path);
    set("tcp_ecn", "0");
    set("tcp_no_metrics_save", "1");
    set("tcp_fastopen", "0");
    set("tcp_rmem", "4096 131072 33554432");
    set("tcp_slow_start_after_idle", r->idle_restart ? "1" : "0");
    if (r->count > 1)
        second_path(d, r);
}

static void option(int s, int level, int name, int64_t value) {
    int v = (int)value;
    need(setsockopt(s, level, name, &v, sizeof v) == 0, "a socket option");
}

void receive(const struct run *r, int flow, struct told *told) {
    const struct traffic *of = &r->traffic[flow];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(5000 + flow)};
    int several = r->count > 1, s = socket(AF_INET, SOCK_STREAM, several ? IPPROTO_MPTCP : 0);
    int64_t clamp = of->clamp ? of->clamp : 8 << 20;
    if (!of->tuned)
        option(s, SOL_SOCKET, SO_RCVBUFFORCE, 24 << 20);
    if (!of->tuned && !several) /* MPTCP has no window clamp */
        option(s, IPPROTO_TCP, TCP_WINDOW_CLAMP, clamp);
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
        if (!of->tuned && !several) /* again: the kernel resets it after it has measured the memory of packets */
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
        if (of->segments && told->bytes >= of->segments * PAYLOAD(r))
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

static void look(int s, const struct run *r, struct told *told) {
    socklen_t n = sizeof told->info;
    getsockopt(s, IPPROTO_TCP, TCP_INFO, &told->info, &n);
    ns t = clock_ns() - *epoch;
    if (told->complete || (r->flows > 1 && t < 10 * SECOND))
        return;
    told->samples++;
    told->cwnd_sum += told->info.known.tcpi_snd_cwnd;
    told->rtt_us_sum += told->info.known.tcpi_rtt;
    told->window_sum += told->info.known.tcpi_snd_wnd;
}

static void wait_looking(int s, const struct run *r, struct told *told, ns *next, ns t) {
    while (*next <= t) {
        until(*epoch + *next);
        look(s, r, told);
        *next += SAMPLE;
    }
    until(*epoch + t);
}

void transmit(const struct run *r, int flow, struct told *told) {
    const struct traffic *of = &r->traffic[flow];
    static char zeros[1 << 20];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(5000 + flow)};
    a.sin_addr.s_addr = inet_addr("10.0.0.2");
    int s = socket(AF_INET, SOCK_STREAM, r->count > 1 ? IPPROTO_MPTCP : 0);
    if (r->count == 1) { /* MPTCP: the kernel tunes the send buffers */
        option(s, SOL_SOCKET, SO_SNDBUFFORCE, 8 << 20);
        option(s, IPPROTO_TCP, TCP_NOTSENT_LOWAT, of->segments || of->message ? 1 << 30 : 1 << 20);
    }
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
                wait_looking(s, r, told, &next, clock_ns() - *epoch + 100000);
                ioctl(s, SIOCOUTQ, &unacked);
            }
            ns begin = clock_ns() - *epoch + of->pause;
            wait_looking(s, r, told, &next, begin < r->duration ? begin : r->duration);
        }
    } else {
        int64_t left = of->segments ? of->segments * PAYLOAD(r) : INT64_MAX;
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
                look(s, r, told);
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
    told->joins = of_netstat("MPJoinSynAckRx");
    told->stale = of_netstat("SubflowStale");
    told->reinjections = of_netstat("MPTCPRetrans");
    told->hystart_cwnd = of_netstat("TCPHystartTrainCwnd") + of_netstat("TCPHystartDelayCwnd");
    _exit(0);
}
