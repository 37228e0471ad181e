/* Warps of 32 lanes in lockstep: a stack of groups each, the last of which goes on until it meets the others. */
enum { EXIT = -1, GROUPS = 1024, DEPTH = 8 };

/* Lanes that are at the same block, and the block at which they meet those beneath them in the stack. */
typedef struct { uint32_t lanes; int block, meeting, depth; } Group;

typedef struct {
    uint32_t ctaid, tid;                     /* of the first lane */
    int groups;
    Group group[GROUPS];
    int next[WARP];                          /* where each lane goes */
    uint64_t result[WARP];                   /* of a function */
    uint64_t at[ACCESSES_OF_A_BLOCK + 1][WARP];  /* addresses */
    char *frames;                            /* [DEPTH][WARP][frame_bytes]: registers and stacks */
} Warp;

/* `following` is the block after a call of `callee`, or EXIT where nothing is called. */
typedef struct {
    void (*run)(Warp *warp, char *frames, char *callees, uint32_t lanes);
    int meeting, callee, following, access, accesses;
} Block;

static const Block block_table[BLOCKS];
static const uint64_t frame_bytes;
static const uint64_t *kernel_parameters;
static uint32_t threads_of_a_block;
int64_t runs[BLOCKS], lanes[BLOCKS];

static void push(Warp *warp, Group group) {
    if (warp->groups == GROUPS || group.depth == DEPTH) {
        fprintf(stderr, "more than %d groups in a warp, or calls deeper than %d\n", GROUPS, DEPTH);
        abort();
    }
    warp->group[warp->groups++] = group;
}

/* The lanes of the last group go on, each to its next block. */
static void part(Warp *warp, int meeting) {
    Group *group = &warp->group[warp->groups - 1], apart[WARP];
    int count = 0;
    for (uint32_t rest = group->lanes; rest; count++) {
        int to = warp->next[__builtin_ctz(rest)];
        uint32_t together = 0;
        for (uint32_t left = rest; left; left &= left - 1)
            if (warp->next[__builtin_ctz(left)] == to) together |= left & -left;
        rest &= ~together;
        apart[count] = (Group){together, to, meeting, group->depth};
    }
    if (count == 1) {
        group->block = apart[0].block;
        return;
    }
    if (meeting == group->meeting) warp->groups--;  /* they wait where the group itself is waited for */
    else group->block = meeting;
    /* The smaller group goes first: it is the exception. */
    int swap = __builtin_popcount(apart[0].lanes) < __builtin_popcount(apart[1].lanes);
    push(warp, apart[swap]);
    push(warp, apart[!swap]);
}

static void step(Warp *warp) {
    Group *group = &warp->group[warp->groups - 1];
    const Block *block = &block_table[group->block];
    char *frames = warp->frames + group->depth * WARP * frame_bytes;
    runs[group->block]++;
    lanes[group->block] += __builtin_popcount(group->lanes);
    block->run(warp, frames, frames + WARP * frame_bytes, group->lanes);
    for (int i = 0; i < block->accesses; i++)
        touch(block->access + i, warp->at[i], group->lanes, (uint64_t)(uintptr_t)warp->frames,
              DEPTH * WARP * frame_bytes, frame_bytes);
    if (block->callee != EXIT) {
        group->block = block->following;
        push(warp, (Group){group->lanes, block->callee, EXIT, group->depth + 1});
    } else {
        part(warp, block->meeting);
    }
    while (warp->groups && warp->group[warp->groups - 1].block == warp->group[warp->groups - 1].meeting)
        warp->groups--;
}

static void start(Warp *warp, uint32_t ctaid, uint32_t tid) {
    uint32_t count = threads_of_a_block - tid < WARP ? threads_of_a_block - tid : WARP;
    warp->ctaid = ctaid;
    warp->tid = tid;
    warp->groups = 0;
    push(warp, (Group){(uint32_t)((UINT64_C(1) << count) - 1), KERNEL, EXIT, 0});
}

/* `resident` warps of one multiprocessor take turns, block by block; the next one begins when one ends. */
void launch(const uint64_t *parameters, uint32_t blocks, uint32_t threads, int resident, const Region *arrays,
            uint64_t l1_bytes, uint64_t l2_bytes) {
    kernel_parameters = parameters;
    threads_of_a_block = threads;
    memcpy(region, arrays, sizeof region);
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
    free(l1.way);
    free(l2.way);
}
