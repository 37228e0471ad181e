/* Transfers of the QUIC stack ngtcp2 over an emulated link, in virtual time.

   A line of standard input is a run: seed, rate [bit/s], one-way delay [ns], queue [packets], losses of data and of
   ACKs, duration [ns], bytes to send or 0, start and duration of an outage [ns], 1 for CUBIC or 0 for NewReno; rate,
   delay, queue and loss of a second path, and the probe timeouts in a row after which the client validates the other
   path and migrates, 0: never.  A link is that of ../kernel: a drop-tail queue, the rate, random loss, the delay; ACKs
   have an ample queue.  Both hosts read the clock of the run, which begins at START, so that the load of the machine
   changes nothing. */
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START 10000000000ull
#define SAMPLE 100000000ull
#define NEVER UINT64_MAX
#define HEADERS 28 /* UDP and IPv4 */
#define BURST 10   /* burst size [packets]; ngtcp2 leaves pacing to the application (RFC 9002, section 7.7) */
#define PRIORITY                                                                                             \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:"      \
    "%DISABLE_TLS13_COMPAT_MODE"

typedef struct {
    uint64_t arrives;
    int to_client, path, counts;
    size_t size;
    uint8_t data[1500];
} packet;

typedef struct { /* one direction of the link */
    double byte_ns, loss;
    uint64_t delay, busy, queue_drops, random_drops, outage_drops, queue;
    uint64_t *departures, first, end;
    int fails, emptied; /* subject to the outage; emptied by it */
} direction;

typedef struct {
    ngtcp2_conn *conn;
    gnutls_session_t session;
    ngtcp2_crypto_conn_ref ref;
    int client;
} host;

static uint64_t state, now, down, up, received, offset, limit, sent, acks, timeouts, completed, shaken;
static uint64_t restarted, heard, failover, last_data, silence, migrate_after;
static int64_t stream;
static packet *wire;
static size_t flying, room;
static direction forth[2], back[2];
static int here, validating; /* path of the client; whether it validates the other one */
static host client, server;
static gnutls_certificate_credentials_t trusted, own;
static struct sockaddr_in of_client[2] = {{.sin_family = AF_INET}, {.sin_family = AF_INET, .sin_port = 1}};
static struct sockaddr_in of_server = {.sin_family = AF_INET};
static uint8_t zeros[1 << 16];

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static ngtcp2_path path_of(const host *h, int k) {
    ngtcp2_addr one = {(ngtcp2_sockaddr *)&of_client[k], sizeof of_client[k]};
    ngtcp2_addr other = {(ngtcp2_sockaddr *)&of_server, sizeof of_server};
    return h->client ? (ngtcp2_path){.local = one, .remote = other} : (ngtcp2_path){.local = other, .remote = one};
}

static void fill(uint8_t *dest, size_t length) {
    for (size_t k = 0; k < length; k++) dest[k] = (uint8_t)draw();
}

static void on_rand(uint8_t *dest, size_t length, const ngtcp2_rand_ctx *context) {
    (void)context;
    fill(dest, length);
}

static int on_new_id(ngtcp2_conn *conn, ngtcp2_cid *cid, uint8_t *token, size_t length, void *user) {
    (void)conn, (void)user;
    cid->datalen = length;
    fill(cid->data, length);
    fill(token, NGTCP2_STATELESS_RESET_TOKENLEN);
    return 0;
}

static int on_data(ngtcp2_conn *conn, uint32_t flags, int64_t id, uint64_t from, const uint8_t *data, size_t length,
                   void *user, void *stream_user) {
    (void)conn, (void)flags, (void)id, (void)from, (void)data, (void)user, (void)stream_user;
    received += length;
    if (limit && received == limit) completed = now;
    return 0;
}

static int on_handshake(ngtcp2_conn *conn, void *user) {
    if (((host *)user)->client) {
        shaken = now;
        ngtcp2_conn_open_uni_stream(conn, &stream, NULL);
    }
    return 0;
}

static int on_validation(ngtcp2_conn *conn, uint32_t flags, const ngtcp2_path *path,
                         ngtcp2_path_validation_result result, void *user) {
    (void)conn, (void)flags, (void)path;
    if (!((host *)user)->client) return 0;
    validating = 0;
    if (result != NGTCP2_PATH_VALIDATION_RESULT_SUCCESS) return 0;
    here = 1 - here;
    if (now - heard > failover) failover = now - heard;
    return 0;
}

static ngtcp2_conn *conn_of(ngtcp2_crypto_conn_ref *ref) { return ((host *)ref->user_data)->conn; }

static uint64_t pass_through(direction *d, size_t size, double chance) {
    if (d->fails && now >= down && !d->emptied) d->first = d->end, d->emptied = 1;
    if (d->fails && now >= down && now < up) {
        d->outage_drops++;
        return NEVER;
    }
    while (d->first < d->end && d->departures[d->first % 8192] <= now) d->first++;
    if (d->end - d->first >= d->queue) {
        d->queue_drops++;
        return NEVER;
    }
    uint64_t from = d->first < d->end ? d->busy : now;
    d->busy = from + (uint64_t)(d->byte_ns * (double)size + 0.5);
    d->departures[d->end++ % 8192] = d->busy;
    if (chance < d->loss) {
        d->random_drops++;
        return NEVER;
    }
    if (d->fails && now < down && down < d->busy + d->delay && up > down) {
        d->outage_drops++;
        return NEVER;
    }
    return d->busy + d->delay;
}

static void transmit(host *h) {
    for (int packets = 0; packets < BURST; packets++) {
        uint8_t buffer[1500];
        ngtcp2_pkt_info info;
        ngtcp2_path_storage storage;
        ngtcp2_ssize taken = -1;
        uint64_t left = limit ? limit - offset : sizeof zeros;
        int has = h->client && stream >= 0 && left > 0;
        ngtcp2_vec data = {zeros, left < sizeof zeros ? left : sizeof zeros};
        ngtcp2_path_storage_zero(&storage);
        ngtcp2_ssize size = ngtcp2_conn_writev_stream(h->conn, &storage.path, &info, buffer, 1200, &taken, 0,
                                                      has ? stream : -1, has ? &data : NULL, has, now);
        if (size < 0) {
            fprintf(stderr, "write: %s\n", ngtcp2_strerror((int)size));
            exit(1);
        }
        if (size == 0) break;
        if (taken > 0) offset += (uint64_t)taken;
        const ngtcp2_addr *address = h->client ? &storage.path.local : &storage.path.remote;
        int k = ((struct sockaddr_in *)address->addr)->sin_port;
        int counts = h->client && stream >= 0 && size > 100 && k == here;
        sent += counts;
        acks += !h->client;
        uint64_t at = pass_through(h->client ? &forth[k] : &back[k], (size_t)size + HEADERS, (double)draw() / 0x1p64);
        if (at == NEVER) continue;
        if (counts && !restarted && down > START && now >= up) restarted = now;
        if (flying == room) wire = realloc(wire, (room = 2 * room + 64) * sizeof *wire);
        packet *p = &wire[flying++];
        p->arrives = at, p->to_client = !h->client, p->path = k, p->counts = counts, p->size = (size_t)size;
        memcpy(p->data, buffer, p->size);
    }
    ngtcp2_conn_update_pkt_tx_time(h->conn, now);
}

static void open_host(host *h, int is_client, int cubic, const ngtcp2_cid *dcid, const ngtcp2_cid *original) {
    ngtcp2_callbacks callbacks = {
        .client_initial = ngtcp2_crypto_client_initial_cb,
        .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
        .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
        .encrypt = ngtcp2_crypto_encrypt_cb, .decrypt = ngtcp2_crypto_decrypt_cb,
        .hp_mask = ngtcp2_crypto_hp_mask_cb, .recv_retry = ngtcp2_crypto_recv_retry_cb,
        .update_key = ngtcp2_crypto_update_key_cb,
        .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
        .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
        .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
        .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
        .rand = on_rand, .get_new_connection_id = on_new_id, .recv_stream_data = on_data,
        .handshake_completed = on_handshake, .path_validation = on_validation,
    };
    ngtcp2_settings settings;
    ngtcp2_transport_params params;
    ngtcp2_cid scid = {.datalen = 8};
    fill(scid.data, 8);
    ngtcp2_settings_default(&settings);
    settings.initial_ts = now, settings.no_pmtud = !migrate_after, settings.handshake_timeout = UINT64_MAX;
    settings.max_tx_udp_payload_size = 1200; /* leaves nothing to discover, but ngtcp2 0.12.1 aborts without discovery
                                                when a client returns to a path */
    settings.cc_algo = cubic ? NGTCP2_CC_ALGO_CUBIC : NGTCP2_CC_ALGO_RENO;
    ngtcp2_transport_params_default(&params);
    params.initial_max_data = params.initial_max_stream_data_uni = 1ull << 50;
    params.initial_max_streams_uni = 10;
    if (migrate_after) params.active_connection_id_limit = 7;
    h->client = is_client;
    ngtcp2_path path = path_of(h, 0);
    gnutls_init(&h->session, (unsigned)(is_client ? GNUTLS_CLIENT : GNUTLS_SERVER) | GNUTLS_NO_END_OF_EARLY_DATA);
    gnutls_priority_set_direct(h->session, PRIORITY, NULL);
    gnutls_credentials_set(h->session, GNUTLS_CRD_CERTIFICATE, is_client ? trusted : own);
    gnutls_datum_t protocol = {(unsigned char *)"x", 1};
    gnutls_alpn_set_protocols(h->session, &protocol, 1, 0);
    int wrong;
    if (is_client) {
        ngtcp2_crypto_gnutls_configure_client_session(h->session);
        wrong = ngtcp2_conn_client_new(&h->conn, dcid, &scid, &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings,
                                       &params, NULL, h);
    } else {
        params.original_dcid = *original;
        ngtcp2_crypto_gnutls_configure_server_session(h->session);
        wrong = ngtcp2_conn_server_new(&h->conn, dcid, &scid, &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings,
                                       &params, NULL, h);
    }
    if (wrong) {
        fprintf(stderr, "open: %s\n", ngtcp2_strerror(wrong));
        exit(1);
    }
    h->ref.get_conn = conn_of, h->ref.user_data = h;
    gnutls_session_set_ptr(h->session, &h->ref);
    ngtcp2_conn_set_tls_native_handle(h->conn, h->session);
}

static void close_host(host *h) {
    if (h->conn) ngtcp2_conn_del(h->conn);
    if (h->session) gnutls_deinit(h->session);
    memset(h, 0, sizeof *h);
}

static void arrive(const packet *p, int cubic) {
    ngtcp2_pkt_info info = {0};
    host *h = p->to_client ? &client : &server;
    if (!h->conn) {
        ngtcp2_pkt_hd head;
        if (ngtcp2_accept(&head, p->data, p->size)) return;
        open_host(&server, 0, cubic, &head.scid, &head.dcid);
    }
    ngtcp2_path path = path_of(h, p->path);
    int wrong = ngtcp2_conn_read_pkt(h->conn, &path, &info, p->data, p->size, now);
    if (wrong && wrong != NGTCP2_ERR_DISCARD_PKT) {
        fprintf(stderr, "read: %s\n", ngtcp2_strerror(wrong));
        exit(1);
    }
    if (h->client) heard = now;
    if (p->counts) {
        if (last_data && now - last_data > silence) silence = now - last_data;
        last_data = now;
    }
    transmit(h);
}

static void expire(host *h) {
    ngtcp2_conn_stat before, after;
    ngtcp2_conn_get_conn_stat(h->conn, &before);
    ngtcp2_conn_handle_expiry(h->conn, now);
    ngtcp2_conn_get_conn_stat(h->conn, &after);
    int expired = h->client && stream >= 0 && after.pto_count > before.pto_count;
    timeouts += (uint64_t)expired;
    if (expired && migrate_after && after.pto_count >= migrate_after && !validating) {
        ngtcp2_path other = path_of(h, 1 - here);
        validating = ngtcp2_conn_initiate_migration(h->conn, &other, now) == 0;
    }
    transmit(h);
}

static void make_certificate(void) {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    gnutls_certificate_allocate_credentials(&trusted);
    gnutls_certificate_allocate_credentials(&own);
    gnutls_x509_privkey_init(&key);
    gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    gnutls_x509_crt_init(&certificate);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "\1", 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 86400);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 864000);
    gnutls_x509_crt_set_dn(certificate, "CN=host", NULL);
    gnutls_x509_crt_set_key(certificate, key);
    gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
    gnutls_certificate_set_x509_key(own, &certificate, 1, key);
}

static void set_up(direction *d, double rate, uint64_t delay, uint64_t queue, double loss) {
    uint64_t *departures = d->departures ? d->departures : malloc(8192 * sizeof *departures);
    *d = (direction){.byte_ns = 8e9 / rate, .loss = loss, .delay = delay, .queue = queue, .departures = departures};
}

int main(void) {
    double rate, loss, ack_loss, rate_2, loss_2;
    uint64_t seed, delay, queue, duration, begin, length, delay_2, queue_2;
    int cubic;
    gnutls_global_init();
    make_certificate();
    printf("{\"stack\": \"ngtcp2 %s\"}\n", ngtcp2_version(0)->version_str);
    while (scanf("%lu %lf %lu %lu %lf %lf %lu %lu %lu %lu %d %lf %lu %lu %lf %lu", &seed, &rate, &delay, &queue, &loss, &ack_loss,
                 &duration, &limit, &begin, &length, &cubic, &rate_2, &delay_2, &queue_2, &loss_2,
                 &migrate_after) == 16) {
        state = seed, now = START, flying = 0, stream = -1;
        received = offset = sent = acks = timeouts = completed = shaken = restarted = 0;
        heard = failover = last_data = silence = 0, here = validating = 0;
        down = START + begin, up = down + length;
        set_up(&forth[0], rate, delay, queue, loss);
        set_up(&back[0], rate, delay, 4000, ack_loss);
        forth[0].fails = back[0].fails = 1;
        set_up(&forth[1], rate_2, delay_2, queue_2, loss_2);
        set_up(&back[1], rate_2, delay_2, 4000, 0);
        ngtcp2_cid dcid = {.datalen = 18};
        fill(dcid.data, 18);
        open_host(&client, 1, cubic, &dcid, NULL);
        transmit(&client);
        double windows = 0, trips = 0, samples = 0;
        for (uint64_t next_sample = START + SAMPLE / 2; !completed;) {
            size_t next = 0;
            for (size_t k = 1; k < flying; k++)
                if (wire[k].arrives < wire[next].arrives) next = k;
            uint64_t arrival = flying ? wire[next].arrives : NEVER;
            uint64_t timer = ngtcp2_conn_get_expiry(client.conn);
            uint64_t other = server.conn ? ngtcp2_conn_get_expiry(server.conn) : NEVER;
            uint64_t due = timer < other ? timer : other;
            uint64_t event = arrival <= due ? arrival : due;
            if (event > START + duration) break;
            while (next_sample < event) {
                ngtcp2_conn_stat stat;
                ngtcp2_conn_get_conn_stat(client.conn, &stat);
                if (stream >= 0)
                    windows += (double)stat.cwnd / 1200, trips += (double)stat.smoothed_rtt / 1e9, samples++;
                next_sample += SAMPLE;
            }
            now = event > now ? event : now + (migrate_after && arrival > due); /* some timers end after their time */
            if (arrival <= due) {
                packet p = wire[next];
                wire[next] = wire[--flying];
                arrive(&p, cubic);
            } else
                expire(timer <= other ? &client : &server);
        }
        printf("{\"goodput_Bps\": %.3f, \"sent_packets\": %lu, \"acks_sent\": %lu, \"timeouts\": %lu",
               (double)received / ((double)duration / 1e9), sent, acks, timeouts);
        printf(", \"queue_drops\": %lu, \"random_drops\": %lu, \"drops_linkdown\": %lu, \"handshake_s\": %.9f",
               forth[0].queue_drops + forth[1].queue_drops, forth[0].random_drops + forth[1].random_drops,
               forth[0].outage_drops, (double)(shaken - START) / 1e9);
        if (samples > 0)
            printf(", \"mean_cwnd_packets\": %.4f, \"mean_srtt_s\": %.6f", windows / samples, trips / samples);
        if (completed) printf(", \"total_s\": %.9f", (double)(completed - START) / 1e9);
        if (restarted) printf(", \"restart_after_up_s\": %.9f", (double)(restarted - up) / 1e9);
        if (failover) printf(", \"failover_s\": %.9f", (double)failover / 1e9);
        if (migrate_after) printf(", \"longest_silence_s\": %.9f", (double)silence / 1e9);
        printf("}\n");
        fflush(stdout);
        close_host(&client), close_host(&server);
    }
    return 0;
}
