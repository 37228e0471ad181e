/* Common declarations of the hosts and the link of a run. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int64_t ns;
#define SECOND 1000000000LL
#define SAMPLE (SECOND / 50)
#define FLOWS 2
#define PATHS 2
#define RUNS 64
#define MOST 16384 /* packets of a flow in a direction that are in flight or queued; a power of two */
#define MESSAGES 4096

struct traffic {
    char control[16];
    ns start, extra; /* extra: additional one-way delay */
    int64_t clamp, segments, message; /* 0: none */
    ns pause;
    int tuned;
};

/* struct tcp_info of Linux 6.7, which older headers lack. */
struct tcp_info_now {
    struct tcp_info known;
    uint32_t rcv_wnd, rehash;
    uint16_t total_rto, total_rto_recoveries;
    uint32_t total_rto_time;
};

/* Results of child processes, in shared memory. */
struct told {
    volatile int complete, open, messages;
    ns handshake, message_ns[MESSAGES];
    int64_t bytes, first_5s, second_half, settled; /* settled: from 10 s on */
    int64_t samples, cwnd_sum, rtt_us_sum, window_sum;
    struct tcp_info_now info;
    int64_t probes, recoveries, timeouts, lost_retransmits, undos, hystart_exits, hystart_cwnd;
    int64_t joins, stale, reinjections; /* of MPTCP */
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
    ns free, leaves[MOST]; /* departure times of the queued packets */
    unsigned head, tail, limit;
    double loss;
    int down;
    struct lane lanes[FLOWS];
    int64_t sent, queue_drops, random_drops, outage_drops, most;
    double held; /* packet ns */
};

struct path {
    int64_t rate;
    ns delay, down, up;
    int queue, backup; /* backup: of MPTCP */
    double loss, ack_loss;
    int tun[2];
    struct direction way[2]; /* 0: A to B */
    int64_t arrived;         /* packets with data at B */
};

struct run {
    ns duration;
    int flows, count, idle_restart, lossy_handshake; /* lossy_handshake: random loss of SYNs and SYN-ACKs, too */
    uint64_t random;
    struct traffic traffic[FLOWS];
    struct path paths[PATHS]; /* `count` of them: with two the transport is MPTCP */
    ns first_syn, first_tx, resume_tx, first_rx, latest_rx, silence, complete[FLOWS]; /* of data, except first_syn */
    int64_t syns, syn_acks; /* sent, retransmissions included */
    struct told *told;
    pthread_mutex_t lock;
    volatile ns next; /* time of the next event */
    int real_time;    /* 1: the link has real-time priority */
    int64_t late_packets, packets;
    ns late_sum, late_most;
};

extern volatile ns *epoch; /* start of all runs of a batch */

static inline ns clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static inline void until(ns t) {
    struct timespec at = {t / SECOND, t % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static inline void need(int ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        kill(0, SIGKILL); /* parents and children: no run is valid */
    }
}

static inline int real_time(int priority) { /* 0 if it is allowed */
    struct sched_param p = {priority};
    return sched_setscheduler(0, SCHED_FIFO, &p);
}

/* hosts.c */
void host(int d, struct run *r);
void receive(const struct run *r, int flow, struct told *told);
void transmit(const struct run *r, int flow, struct told *told);
