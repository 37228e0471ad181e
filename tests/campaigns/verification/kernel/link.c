/* Real TCP of the running kernel over an emulated bottleneck, in real time.
 *
 * Reads runs from standard input, one a line, does all of them at once, and prints a JSON object a run.  Each
 * has two network namespaces, A (senders) and B (receivers), with a TUN device per path each; this process is the
 * link between them: outage, queue, rate, random loss, delay, in this order, as docs/models/path.md has them.  What a
 * host puts out in direct answer to a packet is taken as put out when that packet was due, so that being late
 * delays nothing else.  Needs root.  Link and hosts have real-time priority where that is allowed (`real_time`).
 * `line_of` of runs.py writes what it reads.
 */
#include "run.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/mman.h>

static struct run *runs;
static int count;
volatile ns *epoch;
static volatile int served;

#define NOTHING (INT64_MAX / 2) /* time of an event that does not occur */
#define OVERDUE (SECOND / 2500)
#define WATCHERS 8

static double uniform(struct run *r) { /* splitmix64 */
    uint64_t z = r->random += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static int has_data(const unsigned char *bytes, int size) {
    int header = (bytes[0] & 15) * 4;
    return size - header - (bytes[header + 12] >> 4) * 4 > 0;
}

static void enter(struct run *r, struct path *q, int d, ns t, unsigned char *bytes, int size) {
    struct direction *w = &q->way[d];
    int header = (bytes[0] & 15) * 4;
    const unsigned char *tcp = bytes + header;
    int port = ntohs(*(const uint16_t *)(tcp + (d == 0 ? 2 : 0))), flow = port - 5000;
    int syn = tcp[13] & 2, data = d == 0 && has_data(bytes, size);
    if (bytes[0] >> 4 != 4 || bytes[9] != IPPROTO_TCP || flow < 0 || flow >= FLOWS) {
        free(bytes);
        return;
    }
    ns at = t - *epoch;
    int counts = data || d == 1;
    w->sent += counts;
    r->syns += syn && d == 0;
    r->syn_acks += syn && d == 1;
    if (syn && r->first_syn < 0)
        r->first_syn = at;
    if (data && r->first_tx < 0)
        r->first_tx = at;
    if (q->up > 0 && at >= q->down && !w->down) { /* idle and empty from now on */
        w->down = 1;
        w->head = w->tail;
        w->free = 0;
    }
    int dropped = q->up > 0 && at >= q->down && at < q->up;
    if (dropped)
        w->outage_drops += counts;
    while (w->head != w->tail && w->leaves[w->head % MOST] <= t)
        w->head++;
    if (!dropped && w->tail - w->head >= w->limit) {
        w->queue_drops += counts;
        dropped = 1;
    }
    if (!dropped) {
        ns leaves = (t > w->free ? t : w->free) + (ns)(8e9 * size / q->rate + 0.5);
        ns due = leaves + q->delay + r->traffic[flow].extra;
        w->free = w->leaves[w->tail++ % MOST] = leaves;
        ns until = leaves - *epoch, from = r->flows > 1 ? 10 * SECOND : 0, begin = at > from ? at : from;
        until = until < r->duration ? until : r->duration;
        w->held += until > begin ? (double)(until - begin) : 0;
        w->most = w->tail - w->head > w->most ? w->tail - w->head : w->most;
        double loss = uniform(r);
        if ((!syn || r->lossy_handshake) && loss < w->loss) {
            w->random_drops += counts;
            dropped = 1;
        } else if (q->up > 0 && at < q->down && due - *epoch >= q->down) {
            w->outage_drops += counts;
            dropped = 1;
        } else {
            struct lane *l = &w->lanes[flow];
            need(l->tail - l->head < MOST, "too many packets on their way");
            l->packets[l->tail++ % MOST] = (struct packet){due, size, bytes};
            if (data && q->up > 0 && at >= q->up && r->resume_tx < 0)
                r->resume_tx = at;
        }
    }
    if (dropped)
        free(bytes);
}

static void drain(struct run *r, struct path *q, int d, ns t) { /* process packets that host d has sent, at time t */
    unsigned char buffer[65536];
    for (;;) {
        ssize_t n = read(q->tun[d], buffer, sizeof buffer);
        if (n <= 0)
            return;
        unsigned char *bytes = malloc(n);
        memcpy(bytes, buffer, n);
        enter(r, q, d, t, bytes, (int)n);
    }
}

static void drain_all(struct run *r, int d, ns t) {
    for (int k = 0; k < r->count; k++)
        drain(r, &r->paths[k], d, t);
}

static struct lane *earliest(struct run *r, struct path **q, int *d) {
    struct lane *found = NULL;
    for (int k = 0; k < 2 * r->count; k++)
        for (int f = 0; f < r->flows; f++) {
            struct path *p = &r->paths[k / 2];
            struct lane *l = &p->way[k % 2].lanes[f];
            if (l->head != l->tail &&
                (!found || l->packets[l->head % MOST].due < found->packets[found->head % MOST].due))
                found = l, *q = p, *d = k % 2;
        }
    return found;
}

static void note_complete(struct run *r) {
    for (int f = 0; f < r->flows; f++)
        if (r->told[f].complete && r->complete[f] < 0)
            r->complete[f] = r->latest_rx;
}

static ns advance(struct run *r) { /* deliver due packets; return the next due time */
    int d;
    struct path *q = NULL;
    note_complete(r);
    for (struct lane *l; (l = earliest(r, &q, &d));) {
        struct packet p = l->packets[l->head % MOST];
        ns now = clock_ns();
        if (p.due > now)
            return p.due;
        note_complete(r); /* before another packet arrives */
        l->head++;
        drain_all(r, !d, now);
        ssize_t n = write(q->tun[!d], p.bytes, p.size);
        (void)n;
        drain_all(r, !d, p.due);
        if (d == 0 && has_data(p.bytes, p.size)) {
            ns at = p.due - *epoch;
            if (r->first_rx >= 0 && at - r->latest_rx > r->silence)
                r->silence = at - r->latest_rx;
            r->latest_rx = at;
            q->arrived++;
            if (r->first_rx < 0)
                r->first_rx = r->latest_rx;
        }
        free(p.bytes);
        r->packets++;
        r->late_packets += now - p.due > 1000000;
        r->late_sum += now - p.due;
        r->late_most = now - p.due > r->late_most ? now - p.due : r->late_most;
    }
    return NOTHING;
}

static void on_cpu(int k) { /* bind to the k-th CPU that this process may use */
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(getpid(), sizeof all, &all) != 0)
        return;
    k %= CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && k-- == 0)
            CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/* Thread of a run, which waits for due packets and for packets of its hosts. */
static void *serve(void *which) {
    struct run *r = which;
    int e = epoll_create1(EPOLL_CLOEXEC);
    for (int k = 0; k < 2 * r->count; k++) {
        struct epoll_event v = {EPOLLIN, {.u32 = (uint32_t)k}};
        epoll_ctl(e, EPOLL_CTL_ADD, r->paths[k / 2].tun[k % 2], &v);
    }
    on_cpu((int)(r - runs));
    r->real_time = real_time(40) == 0;
    for (ns end = *epoch + r->duration; clock_ns() < end;) {
        pthread_mutex_lock(&r->lock);
        r->next = advance(r);
        int going = r->next < NOTHING || r->complete[0] < 0;
        ns wait = (r->next < end ? r->next : end) - clock_ns();
        pthread_mutex_unlock(&r->lock);
        if (!going)
            break;
        struct timespec w = {wait > 0 ? wait / SECOND : 0, wait > 0 ? wait % SECOND : 0};
        struct epoll_event found[2 * PATHS];
        int n = epoll_pwait2(e, found, 2 * PATHS, &w, NULL);
        pthread_mutex_lock(&r->lock);
        ns now = clock_ns();
        for (int k = 0; k < n; k++)
            drain(r, &r->paths[found[k].data.u32 / 2], found[k].data.u32 % 2, now);
        pthread_mutex_unlock(&r->lock);
    }
    r->next = NOTHING;
    close(e);
    return NULL;
}

/* A thread per CPU, which hands over what is overdue.  A hypervisor may stop a CPU for some milliseconds, and
 * with it the threads on it, whatever their priority; it rarely stops all CPUs at once. */
static void *watch(void *cpu) {
    on_cpu((int)(intptr_t)cpu);
    real_time(41);
    while (!served) {
        for (int i = 0; i < count; i++) {
            struct run *r = &runs[i];
            if (clock_ns() > r->next + OVERDUE && pthread_mutex_trylock(&r->lock) == 0) {
                if (r->next < NOTHING)
                    r->next = advance(r);
                pthread_mutex_unlock(&r->lock);
            }
        }
        until(clock_ns() + OVERDUE);
    }
    return NULL;
}

static void serve_all(void) {
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cpus = cpus > WATCHERS ? WATCHERS : cpus;
    pthread_t threads[RUNS], watchers[WATCHERS];
    for (int i = 0; i < count; i++) {
        runs[i].next = NOTHING;
        pthread_mutex_init(&runs[i].lock, NULL);
        need(pthread_create(&threads[i], NULL, serve, &runs[i]) == 0, "a thread");
    }
    for (int k = 0; k < cpus; k++)
        need(pthread_create(&watchers[k], NULL, watch, (void *)(intptr_t)k) == 0, "a thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    served = 1;
    for (int k = 0; k < cpus; k++)
        pthread_join(watchers[k], NULL);
}

static void print(struct run *r) {
    struct path *q = &r->paths[0];
    struct direction *w = &q->way[0];
    ns from = r->flows > 1 ? 10 * SECOND : 0;
    double seconds = (double)r->duration / SECOND, second = SECOND;
    ns last = r->complete[0] >= 0 ? r->complete[0] : r->duration;
    printf("{\"sent_packets\": %" PRId64 ", \"queue_drops\": %" PRId64 ", \"random_drops\": %" PRId64
           ", \"drops_linkdown\": %" PRId64 ", \"acks_sent\": %" PRId64 ", \"max_queue_packets\": %" PRId64
           ", \"mean_queue_packets\": %.5f, \"late_share\": %.6f, \"late_most_s\": %.6f, \"late_mean_s\": %.6f",
           w->sent, w->queue_drops, w->random_drops, w->outage_drops, q->way[1].sent, w->most,
           w->held / (double)(last - from), (double)r->late_packets / (double)r->packets,
           (double)r->late_most / second, (double)r->late_sum / second / (double)r->packets);
    printf(", \"tail_loss_probes\": %" PRId64 ", \"fast_recoveries\": %" PRId64 ", \"lost_retransmits\": %" PRId64
           ", \"undos\": %" PRId64 ", \"all_timeouts\": %" PRId64,
           r->told->probes, r->told->recoveries, r->told->lost_retransmits, r->told->undos, r->told->timeouts);
    if (q->up > 0 && r->resume_tx >= 0)
        printf(", \"restart_after_up_s\": %.6f", (double)(r->resume_tx - q->up) / second);
    if (r->complete[0] >= 0)
        printf(", \"completion_s\": %.6f, \"total_s\": %.6f, \"after_first_s\": %.6f",
               (double)(r->complete[0] - r->first_tx) / second, (double)(r->complete[0] - r->first_syn) / second,
               (double)(r->complete[0] - r->first_rx) / second);
    if (r->count > 1)
        printf(", \"sent_alternate\": %" PRId64 ", \"arrived_1\": %" PRId64 ", \"arrived_2\": %" PRId64
               ", \"longest_silence_s\": %.6f, \"joins\": %" PRId64 ", \"stale_subflows\": %" PRId64
               ", \"reinjections\": %" PRId64,
               r->paths[1].way[0].sent, q->arrived, r->paths[1].arrived, (double)r->silence / second, r->told->joins,
               r->told->stale, r->told->reinjections);
    printf(", \"real_time\": %d", r->real_time);
    printf(", \"syns\": %" PRId64 ", \"syn_acks\": %" PRId64, r->syns, r->syn_acks);
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

static int read_path(struct path *q) {
    double delay, down, length;
    if (scanf("%" SCNd64 " %lf %d %lf %lf %lf %lf", &q->rate, &delay, &q->queue, &q->loss, &q->ack_loss, &down,
              &length) != 7)
        return 0;
    q->delay = (ns)(delay * SECOND);
    q->down = (ns)(down * SECOND), q->up = length > 0 ? q->down + (ns)(length * SECOND) : 0;
    q->way[0].limit = q->queue, q->way[0].loss = q->loss;
    q->way[1].limit = 4000, q->way[1].loss = q->ack_loss;
    return 1;
}

static int read_run(struct run *r) {
    double duration;
    if (!read_path(&r->paths[0]))
        return 0;
    need(scanf("%lf %" SCNu64 " %d %d %d %d", &duration, &r->random, &r->idle_restart, &r->lossy_handshake, &r->count,
               &r->flows) == 6, "a run");
    r->duration = (ns)(duration * SECOND);
    need(r->count >= 1 && r->count <= PATHS, "one path or two");
    for (int k = 1; k < r->count; k++)
        need(read_path(&r->paths[k]) && scanf("%d", &r->paths[k].backup) == 1, "a path");
    need(r->flows >= 1 && r->flows <= FLOWS, "one flow or two");
    for (int f = 0; f < r->flows; f++) {
        struct traffic *t = &r->traffic[f];
        double start, extra, pause;
        need(scanf("%15s %lf %lf %" SCNd64 " %" SCNd64 " %" SCNd64 " %lf %d", t->control, &start, &extra,
                   &t->clamp, &t->segments, &t->message, &pause, &t->tuned) == 8, "a flow");
        t->start = (ns)(start * SECOND), t->extra = (ns)(extra * SECOND);
        t->pause = (ns)(pause * SECOND);
        r->complete[f] = -1;
    }
    r->first_syn = r->first_tx = r->first_rx = r->resume_tx = -1;
    return 1;
}

int main(void) {
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
            host(d, r);
            for (int f = 0; f < r->flows; f++) {
                if (fork() == 0) {
                    real_time(d == 0 ? 10 : 20);
                    if (d == 0)
                        transmit(r, f, &r->told[f]);
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
    serve_all();
    usleep(300000);
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < count; i++)
        print(&runs[i]);
    fflush(stdout);
    kill(0, SIGTERM);
    return 0;
}
