/* Warps of 32 lanes in lockstep. Each has a stack of groups, the last of which runs until its meeting block. */
enum { EXIT = -1, GROUPS = 1024, DEPTH = 8 };

/* Lanes at the same block, and the block at which they meet the lanes below them in the stack. */
typedef struct { uint32_t lanes; int block, meeting, depth; } Group;

typedef struct {
    uint32_t ctaid, tid;                     /* of the first lane */
    int groups;
    Group group[GROUPS];
    int next[WARP];                          /* next block of each lane */
    uint64_t result[WARP];                   /* of a function */
    uint64_t at[ACCESSES_OF_A_BLOCK + 1][WARP];  /* addresses */
    char *shared;                            /* memory of its block */
    char *frames;                            /* [DEPTH][WARP][frame_bytes]: registers and stacks */
} Warp;

/* Edge from a block, and the outermost loop that it leaves, or EXIT. */
typedef struct { int to, leaves; } Edge;

/* `following` is the block after a call of `callee`, or EXIT without a call. */
typedef struct {
    void (*run)(Warp *warp, char *frames, char *callees, uint32_t lanes);
    int meeting, loop;
    Edge edge[2];
    int callee, following, access, accesses;
} Block;

/* Loop around a loop, and the block where lanes that leave it meet. */
typedef struct { int around, behind; } Loop;

static const Block block_table[BLOCKS];
static const Loop loop_table[LOOPS + 1];
static const uint64_t frame_bytes;
static const uint64_t *kernel_parameters;
static uint32_t threads_of_a_block;
int64_t runs[BLOCKS][WARP + 1];               /* of each block, with so many lanes */

/* Insert a group at this place in the stack. */
static void put(Warp *warp, int place, Group group) {
    if (warp->groups == GROUPS || group.depth == DEPTH) {
        fprintf(stderr, "more than %d groups in a warp, or calls deeper than %d\n", GROUPS, DEPTH);
        abort();
    }
    memmove(warp->group + place + 1, warp->group + place, (warp->groups++ - place) * sizeof(Group));
    warp->group[place] = group;
}

static int is_inside(int block, int loop) {
    if (block == EXIT) return 0;
    for (int around = block_table[block].loop; around != EXIT; around = loop_table[around].around)
        if (around == loop) return 1;
    return 0;
}

/* Move lanes of the last group along an edge out of a loop. Lanes in the loop do not wait for them; they wait after
   the loop for those that stay. */
static void leave(Warp *warp, uint32_t leaving, Edge edge) {
    int depth = warp->group[warp->groups - 1].depth, behind = loop_table[edge.leaves].behind, place, lowest;
    uint32_t all = 0;
    for (place = lowest = warp->groups - 1; place >= 0; place--) {
        Group *group = &warp->group[place];
        if (group->depth != depth) break;
        if (leaving & ~group->lanes) continue;  /* other lanes */
        if (!is_inside(group->block, edge.leaves)) break;
        all = group->lanes;
        lowest = place;
        group->lanes &= ~leaving;
    }
    int beneath = place >= 0 && warp->group[place].depth == depth ? warp->group[place].block : EXIT;
    place = lowest;
    if (all != leaving && behind != beneath) {
        for (int i = place; i < warp->groups; i++)
            if (warp->group[i].meeting == beneath && !(warp->group[i].lanes & ~all))
                warp->group[i].meeting = behind;
        put(warp, place++, (Group){all, behind, beneath, depth});
        beneath = behind;
    }
    if (edge.to != beneath) put(warp, place, (Group){leaving, edge.to, beneath, depth});
}

/* Move the lanes of the last group to their next blocks. */
static void part(Warp *warp, const Block *block) {
    uint32_t left = warp->group[warp->groups - 1].lanes, first = 0;
    int meeting = block->meeting;
    for (uint32_t rest = left; rest; rest &= rest - 1)
        if (warp->next[__builtin_ctz(rest)] == block->edge[0].to) first |= rest & -rest;
    const uint32_t taking[2] = {first, left & ~first};
    for (int i = 0; i < 2; i++)
        if (taking[i] && block->edge[i].leaves != EXIT) {
            leave(warp, taking[i], block->edge[i]);
            left &= ~taking[i];
        }
    Group *group = &warp->group[warp->groups - 1];
    if (!left) return;
    if (left != (taking[0] | taking[1]) || !taking[0] || !taking[1]) {
        group->block = block->edge[left == taking[1]].to;
        return;
    }
    Group apart[2];
    for (int i = 0; i < 2; i++) apart[i] = (Group){taking[i], block->edge[i].to, meeting, group->depth};
    if (meeting == group->meeting) warp->groups--;  /* they wait at the meeting block of the group */
    else group->block = meeting;
    /* The smaller group runs first, because it is the exception. */
    int swap = __builtin_popcount(taking[0]) < __builtin_popcount(taking[1]);
    put(warp, warp->groups, apart[swap]);
    put(warp, warp->groups, apart[!swap]);
}

static void step(Warp *warp) {
    Group *group = &warp->group[warp->groups - 1];
    const Block *block = &block_table[group->block];
    char *frames = warp->frames + group->depth * WARP * frame_bytes;
    runs[group->block][__builtin_popcount(group->lanes)]++;
    block->run(warp, frames, frames + WARP * frame_bytes, group->lanes);
    for (int i = 0; i < block->accesses; i++)
        touch(block->access + i, warp->at[i], group->lanes, (uint64_t)(uintptr_t)warp->frames,
              DEPTH * WARP * frame_bytes, frame_bytes);
    if (block->callee != EXIT) {
        group->block = block->following;
        put(warp, warp->groups, (Group){group->lanes, block->callee, EXIT, group->depth + 1});
    } else {
        part(warp, block);
    }
    for (; warp->groups; warp->groups--) {
        group = &warp->group[warp->groups - 1];
        if (group->lanes && group->block != group->meeting) break;
    }
}

static void start(Warp *warp, uint32_t ctaid, uint32_t tid) {
    uint32_t count = threads_of_a_block - tid < WARP ? threads_of_a_block - tid : WARP;
    warp->ctaid = ctaid;
    warp->tid = tid;
    warp->shared = (char *)(uintptr_t)shared_of_launch.address + (uint64_t)ctaid * SHARED_BYTES;
    warp->groups = 0;
    put(warp, warp->groups, (Group){(uint32_t)((UINT64_C(1) << count) - 1), KERNEL, EXIT, 0});
}

/* Run `resident` warps of one multiprocessor in turn, block by block; the next one starts when one ends. */
void launch(const uint64_t *parameters, uint32_t blocks, uint32_t threads, int resident, const Region *arrays,
            uint64_t l1_bytes, uint64_t l2_bytes) {
    kernel_parameters = parameters;
    threads_of_a_block = threads;
    memcpy(region, arrays, sizeof region);
    shared_of_launch = (Region){0, (uint64_t)blocks * SHARED_BYTES, 0};
    if (SHARED_BYTES) {
        char *room = aligned_alloc(LINE, (shared_of_launch.bytes + LINE - 1) / LINE * LINE);
        shared_of_launch.address = (uint64_t)(uintptr_t)memset(room, 77, shared_of_launch.bytes);
    }
    cache_open(&l1, l1_bytes);
    cache_open(&l2, l2_bytes);
    Warp *warp = calloc(resident, sizeof(Warp));
    for (int i = 0; i < resident; i++) warp[i].frames = calloc(DEPTH * WARP, frame_bytes);
    uint32_t ctaid = 0, tid = 0;
    for (int busy = 1; busy;) {
        busy = 0;
        for (int i = 0; i < resident; i++) {
            if (!warp[i].groups && ctaid < blocks) {
                start(&warp[i], ctaid, tid);
                if ((tid += WARP) >= threads) tid = 0, ctaid++;
            }
            if (!warp[i].groups) continue;
            step(&warp[i]);
            busy = 1;
        }
    }
    for (int i = 0; i < resident; i++) free(warp[i].frames);
    free(warp);
    free((void *)(uintptr_t)shared_of_launch.address);
    free(l1.way);
    free(l2.way);
}
