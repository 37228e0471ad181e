/* Accesses of warps to global memory: 32-byte sectors and 128-byte lines, the L1 of a multiprocessor, its share of
   the L2, and the device memory. Local memory (stacks) and shared memory are counted, not cached. */
enum { WARP = 32, WAYS = 16, SECTOR = 32, LINE = 128, BANKS = 32, BANK = 4 };
enum { REGIONS = 16, SHARED = REGIONS - 3, OTHER = REGIONS - 2, LOCAL = REGIONS - 1 };
enum { LOADS, STORES, LOAD_LINES, STORE_LINES, LOAD_SECTORS, STORE_SECTORS, L2_READS, L2_WRITES, DRAM_READS,
       DRAM_WRITES, COLUMNS };

/* Array of which a thread owns `own` bytes; equal words of the lanes of a warp are adjacent. 0: an array of all
   threads. */
typedef struct { uint64_t address, bytes, own; } Region;

/* Instruction that loads or stores. */
typedef struct { int store, size; } Access;

/* Most frequent place of an access: a byte of a thread's own in an array. */
typedef struct { int64_t count, region, byte; } Place;

typedef struct { uint64_t line; int64_t age; uint8_t valid, dirty; } Way;
typedef struct { Way *way; uint64_t sets; int64_t clock; } Cache;

static const Access access_table[ACCESSES + 1];
static Region region[REGIONS];
static Region shared_of_launch;
static Cache l1, l2;
int64_t traffic[REGIONS][COLUMNS], requests[ACCESSES + 1], access_lanes[ACCESSES + 1];
int64_t access_lines[ACCESSES + 1];
Place places[ACCESSES + 1][4];

static void cache_open(Cache *cache, uint64_t bytes) {
    cache->sets = bytes / LINE / WAYS;
    cache->clock = 0;
    cache->way = calloc(cache->sets * WAYS, sizeof(Way));
    for (uint64_t i = 0; i < cache->sets * WAYS; i++) cache->way[i].line = UINT64_MAX;
}

/* Return the cache way that holds a line, or the least recently used one of its set. */
static Way *cache_find(Cache *cache, uint64_t line, int *hit) {
    uint64_t hash = line * UINT64_C(0x9E3779B97F4A7C15);
    Way *set = cache->way + (hash >> 32) % cache->sets * WAYS, *oldest = set;
    *hit = 1;
    for (Way *way = set; way < set + WAYS; way++) {
        if (way->line == line) return way;
        if (way->age < oldest->age) oldest = way;
    }
    *hit = 0;
    return oldest;
}

static int region_of_line(uint64_t line) { return line >> (48 - 7); }

/* Written sectors stay until their line is replaced; a sector written in part needs no fetch. */
static void l2_touch(uint64_t sector, int store, int whole) {
    int hit, bit = 1 << sector % 4, of = region_of_line(sector / 4);
    Way *way = cache_find(&l2, sector / 4, &hit);
    if (!hit) {
        if (way->dirty) traffic[region_of_line(way->line)][DRAM_WRITES] += __builtin_popcount(way->dirty);
        *way = (Way){.line = sector / 4};
    }
    way->age = ++l2.clock;
    traffic[of][store ? L2_WRITES : L2_READS]++;
    if (store) way->dirty |= bit;
    else if (!(way->valid & bit)) traffic[of][DRAM_READS]++;
    if (!store || whole) way->valid |= bit;
}

/* Stores go through to the L2, and leave a line in the L1 only if it is there. */
static void l1_touch(uint64_t sector, int store, int whole) {
    int hit, bit = 1 << sector % 4;
    Way *way = cache_find(&l1, sector / 4, &hit);
    if (store) {
        if (hit) way->age = ++l1.clock;
        l2_touch(sector, 1, whole);
        return;
    }
    if (!hit) *way = (Way){.line = sector / 4};
    way->age = ++l1.clock;
    if (way->valid & bit) return;
    way->valid |= bit;
    l2_touch(sector, 0, 1);
}

/* The four most frequent places of an access, as of A. Metwally et al., "Efficient computation of frequent
   and top-k elements in data streams", 2005. */
static void note_place(int access, int in, uint64_t offset) {
    uint64_t own = region[in].own;
    int64_t byte = own ? (offset / (8 * WARP) * 8 + offset % 8) % own : offset;
    Place *least = places[access];
    for (Place *place = places[access]; place < places[access] + 4; place++) {
        if (place->count && place->region == in && place->byte == byte) {
            place->count++;
            return;
        }
        if (place->count < least->count) least = place;
    }
    *least = (Place){least->count + 1, in, byte};
}

static int region_of(uint64_t address) {
    for (int i = 0; i < SHARED; i++)
        if (address - region[i].address < region[i].bytes) return i;
    return OTHER;
}

/* Find the distinct units of the addresses and the bytes accessed in each; return their number. */
static int distinct(const uint64_t *address, int n, uint64_t unit, uint64_t *found, int size, int *bytes) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        int j = count - 1;
        while (j >= 0 && found[j] != address[i] / unit) j--;
        if (j < 0) {
            j = count++;
            found[j] = address[i] / unit;
            bytes[j] = 0;
        }
        bytes[j] += size;
    }
    return count;
}

/* Return the index of a word of a lane in the shared memory of its block. */
static uint64_t shared_word(uint64_t address) {
    return (address - shared_of_launch.address) % SHARED_BYTES / (8 * WARP);
}

/* Return the cycles of an access to shared memory. In a cycle each bank serves one word of 4 bytes, and the lanes of
   128 bytes take part. */
static int shared_cycles(const uint64_t *at, uint32_t active, int size) {
    int cycles = 0, together = LINE / size;
    for (int first = 0; first < WARP; first += together) {
        uint64_t word[BANKS][WARP];
        int words[BANKS] = {0}, most = 0;
        for (int lane = first; lane < first + together && lane < WARP; lane++) {
            if (!(active >> lane & 1) || at[lane] - shared_of_launch.address >= shared_of_launch.bytes) continue;
            for (int part = 0; part < size; part += BANK) {
                uint64_t own = (at[lane] + part) / BANK;
                int bank = own % BANKS, j = 0;
                while (j < words[bank] && word[bank][j] != own) j++;
                word[bank][j] = own;
                if (j == words[bank]) words[bank]++;
                if (words[bank] > most) most = words[bank];
            }
        }
        cycles += most;
    }
    return cycles;
}

/* Process an instruction of a warp, with the addresses of its lanes (0 for inactive ones). In local memory (`bytes`
   from `stack` on, `frame` per lane), equal words of the lanes are adjacent. */
static void touch(int access, const uint64_t *at, uint32_t active, uint64_t stack, uint64_t bytes,
                  uint64_t frame) {
    int store = access_table[access].store, size = access_table[access].size, size_of[WARP];
    int n = 0, locals = 0, shared = 0;
    uint64_t address[WARP], own[WARP], unit[WARP];
    for (uint32_t rest = active; rest; rest &= rest - 1) {
        uint64_t a = at[__builtin_ctz(rest)];
        if (!a) continue;
        if (a % size) {
            fprintf(stderr, "address %#lx of access %d is not aligned\n", (unsigned long)a, access);
            abort();
        }
        if (a - stack < bytes) {
            own[locals++] = (a - stack) % frame;
            continue;
        }
        if (a - shared_of_launch.address < shared_of_launch.bytes) {
            if (shared++ == 0) note_place(access, SHARED, shared_word(a) * 8);
            continue;
        }
        int in = region_of(a);
        uint64_t offset = a - region[in].address;
        if (n == 0) note_place(access, in, offset);
        address[n++] = ((uint64_t)in << 48) + offset;
    }
    requests[access]++;
    access_lanes[access] += n + locals + shared;
    if (shared) {
        int cycles = shared_cycles(at, active, size);
        traffic[SHARED][store ? STORES : LOADS]++;
        traffic[SHARED][store ? STORE_LINES : LOAD_LINES] += cycles;
        access_lines[access] += cycles;
    }
    if (locals) {
        int lines = distinct(own, locals, 4, unit, 0, size_of) * (size > 4 ? 2 : 1);
        traffic[LOCAL][store ? STORES : LOADS]++;
        traffic[LOCAL][store ? STORE_LINES : LOAD_LINES] += lines;
        access_lines[access] += lines;
    }
    if (!n) return;
    int in = address[0] >> 48;
    int lines = distinct(address, n, LINE, unit, 0, size_of);
    int sectors = distinct(address, n, SECTOR, unit, size, size_of);
    traffic[in][store ? STORES : LOADS]++;
    traffic[in][store ? STORE_LINES : LOAD_LINES] += lines;
    traffic[in][store ? STORE_SECTORS : LOAD_SECTORS] += sectors;
    access_lines[access] += lines;
    for (int i = 0; i < sectors; i++) l1_touch(unit[i], store, size_of[i] >= SECTOR);
}
