/* ranks.pml - what ranks do to each other (runtime/dist), small enough to try every order of steps.
 *
 * Idea       RANKS ranks walk through the same program of NT tasks, every program there is: each task runs on one rank and
 *            may need a message from another one, which may have to wait for a task there.  A rank has a window of W, in
 *            which messages are tasks too, and S slots for messages that it sends.  A send is synchronous: it ends with its
 *            receive.  Kernels may fail, FAILS of them; the rank reports that to all, and all meet at the end.
 * Demanded   every rank comes to its end (spin's invalid end states), with one status, that of the oldest failure; without
 *            a failure every task has run, each after its message.
 * Bugs       -DBUG=n puts one defect back; test/model/run.py lists them and demands that each is found.
 * Steps      RANK_SUBMIT RANK_POST RANK_MESSAGE RANK_NOTIFY RANK_HEAR RANK_CANCEL RANK_MEET RANK_OVER
 * Named      in the C code as "model: NAME", which run.py compares with this list.
 * Not here   what the window and the workers of one rank do: protocol.pml.  Where a message lies, copies, homes. */

#ifndef RANKS
#define RANKS 2
#endif
#ifndef NT
#define NT 4
#endif
#ifndef W
#define W 3
#endif
#ifndef S
#define S 1
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef BUG
#define BUG 0
#endif
#ifndef WITNESS
#define WITNESS 0
#endif
#define NOBODY 7
#define NONE   15 /* no task; no failure */

/* The program. */
byte runs_on[NT], needs[NT]; /* the rank that sends a message for it; NOBODY: none is needed */
byte after[NT];              /* the task before which it does not leave; NONE: there is no such task */

/* Of a task, its send and its receive, each in the window of its rank. */
mtype = { absent, waits, moves, ended };
mtype task[NT] = absent, send[NT] = absent, receive[NT] = absent;
bool ran[NT];

byte used[RANKS];   /* of the window: what has not retired */
byte posted[RANKS]; /* sends that have a slot */
bool is_failing[RANKS], has_met[RANKS];
byte heard[RANKS];  /* a bit for each rank whose report has come; */
byte report[RANKS] = NONE; /* the failed task of the rank, which it has reported */
byte result[RANKS] = NONE;
byte fails = FAILS, g_over;

/* What has retired: all before the first that has not ended, in the order of the program. */
inline retire(r)
{
    d_step {
        used[r] = 0;
        u = 0;
        do
        :: u < NT ->
            if :: needs[u] == r && send[u] != absent && (used[r] > 0 || send[u] != ended) -> used[r]++ :: else fi;
            if
            :: runs_on[u] == r && receive[u] != absent && (used[r] > 0 || receive[u] != ended) -> used[r]++
            :: else
            fi;
            if :: runs_on[u] == r && task[u] != absent && (used[r] > 0 || task[u] != ended) -> used[r]++ :: else fi;
            u++
        :: else -> break
        od;
        u = 0
    }
}

#define HAS_ROOM(r)    (used[r] < W || is_failing[r])
#define HAS_MESSAGE(t) (needs[t] == NOBODY || receive[t] == ended)
#define MAY_LEAVE(t)   (after[t] == NONE || task[after[t]] == ended)
/* Before it, all messages of its rank have ended. */
#define IS_OVER(t, x) (needs[x] != needs[t] || (x) >= (t) || send[x] == ended)
#if NT > 3
#define IS_OLDEST(t) (IS_OVER(t, 0) && IS_OVER(t, 1) && IS_OVER(t, 2) && IS_OVER(t, 3))
#else
#define IS_OLDEST(t) (IS_OVER(t, 0) && IS_OVER(t, 1) && IS_OVER(t, 2))
#endif
#if BUG == 1
#define HAS_SLOT(t) (posted[needs[t]] < S)
#else
#define HAS_SLOT(t) (posted[needs[t]] < S || IS_OLDEST(t))
#endif

/* ---- the program of a rank ---- */

inline enter(r, what) /* RANK_SUBMIT */
{
    atomic {
        HAS_ROOM(r) ->
        if :: is_failing[r] :: else -> what = waits; retire(r) fi
    }
}

proctype program(byte r)
{
    byte t, u, k;
    do
    :: t == NT || is_failing[r] -> break
    :: t < NT && !is_failing[r] ->
        if :: needs[t] == r -> enter(r, send[t]) :: else fi;
        if
        :: runs_on[t] == r ->
            if :: needs[t] != NOBODY -> enter(r, receive[t]) :: else fi;
            enter(r, task[t])
        :: else
        fi;
        t++
    od;
    t = 0;
    used[r] == 0;
    atomic { /* RANK_MEET */
#if BUG == 5
        if :: is_failing[r] -> goto over :: else fi;
#endif
        has_met[r] = true
    }
    atomic {
        k = 0;
        do :: k < RANKS -> has_met[k]; k++ :: else -> break od
    }
    atomic { /* RANK_OVER: the failure of the oldest task is that of all */
        k = 0; u = NOBODY;
        do
        :: k < RANKS ->
            if :: report[k] < result[r] -> result[r] = report[k]; u = k :: else fi;
            k++
        :: else -> break
        od;
#if BUG == 4
        if :: report[r] != NONE -> result[r] = report[r]; u = r :: else fi;
#endif
#if BUG == 6
        if :: !is_failing[r] -> result[r] = NONE; u = NOBODY :: else fi;
#endif
    }
    u == NOBODY || u == r || (heard[r] >> u) & 1; /* its words have come */
over:
    atomic { u = 0; k = 0; g_over++ }
}

/* ---- its workers, and its messages ---- */

inline fail(r, t) /* RANK_NOTIFY */
{
    is_failing[r] = true;
    report[r] = t;
    k = 0;
    do
    :: k < RANKS ->
#if BUG == 2
        if :: k == (r + 1) % RANKS && RANKS > 2 -> heard[k] = heard[k] | (1 << r) :: else fi;
#else
        if :: k != r -> heard[k] = heard[k] | (1 << r) :: else fi;
#endif
        k++
    :: else -> break
    od;
    k = 0
}

inline cancel(r, what) { if :: what == waits || what == moves -> what = ended :: else fi }

#define RUN(t)                                                                                                         \
    :: atomic {                                                                                                        \
        runs_on[t] == r && task[t] == waits && HAS_MESSAGE(t) && !is_failing[r] ->                                     \
        task[t] = ended;                                                                                               \
        if :: ran[t] = true :: fails > 0 -> fails--; fail(r, t) fi;                                                    \
        retire(r)                                                                                                      \
    }
#define POST(t) /* RANK_POST: receives at once, sends when they have a slot */                                         \
    :: atomic { runs_on[t] == r && receive[t] == waits && !is_failing[r] -> receive[t] = moves }                       \
    :: atomic {                                                                                                        \
        needs[t] == r && send[t] == waits && MAY_LEAVE(t) && HAS_SLOT(t) && !is_failing[r] ->                          \
        WITNESS_POST(t)                                                                                                \
        send[t] = moves;                                                                                               \
        posted[r]++                                                                                                    \
    }
#define MESSAGE(t) /* RANK_MESSAGE */                                                                                  \
    :: atomic {                                                                                                        \
        needs[t] == r && send[t] == moves && receive[t] == moves ->                                                    \
        send[t] = ended;                                                                                               \
        receive[t] = ended;                                                                                            \
        posted[r]--;                                                                                                   \
        retire(r);                                                                                                     \
        retire(runs_on[t])                                                                                             \
    }
#if WITNESS == 1
#define WITNESS_POST(t) if :: posted[needs[t]] >= S -> assert(1 != 1) :: else fi;
#else
#define WITNESS_POST(t)
#endif

proctype machine(byte r)
{
    byte u, k;
end:
    do
    RUN(0) POST(0) MESSAGE(0)
    RUN(1) POST(1) MESSAGE(1)
    RUN(2) POST(2) MESSAGE(2)
#if NT > 3
    RUN(3) POST(3) MESSAGE(3)
#endif
    :: atomic { /* RANK_HEAR */
        heard[r] != 0 && !is_failing[r] ->
#if WITNESS == 3
        if :: has_met[r] -> assert(3 != 3) :: else fi;
#endif
        is_failing[r] = true
    }
    :: atomic { /* RANK_CANCEL: what a rank has left, and what it waits for */
        is_failing[r] && used[r] > 0 ->
        k = 0;
        do
        :: k < NT ->
            if :: needs[k] == r -> cancel(r, send[k]) :: else fi;
#if BUG == 3
            if :: runs_on[k] == r && (needs[k] == NOBODY || receive[k] != moves) -> cancel(r, task[k]) :: else fi;
#else
            if :: runs_on[k] == r -> cancel(r, receive[k]); cancel(r, task[k]) :: else fi;
#endif
            k++
        :: else -> break
        od;
        k = 0;
        posted[r] = 0;
        retire(r)
#if BUG == 3
        ; if :: used[r] > 0 -> break :: else fi
#endif
    }
    :: g_over == RANKS -> break
    od
}

/* ---- every program ---- */

init
{
    byte t, k, own;
    atomic {
        do
        :: t < NT ->
            if :: runs_on[t] = 0 :: runs_on[t] = 1
#if RANKS > 2
               :: runs_on[t] = 2
#endif
            fi;
            if :: needs[t] = NOBODY :: runs_on[t] != 0 -> needs[t] = 0 :: runs_on[t] != 1 -> needs[t] = 1
#if RANKS > 2
               :: runs_on[t] != 2 -> needs[t] = 2
#endif
            fi;
            after[t] = NONE;
            k = 0;
            own = NONE;
            do /* the newest task of the sender */
            :: k < t -> if :: runs_on[k] == needs[t] -> own = k :: else fi; k++
            :: else -> break
            od;
            if :: own != NONE -> after[t] = own :: true fi;
            t++
        :: else -> break
        od;
        k = 0;
        own = 0;
        t = 0;
        do :: t < RANKS -> run program(t); run machine(t); t++ :: else -> break od;
        t = 0
    }
    g_over == RANKS;
    atomic {
        own = NONE;
        k = 0;
        do :: k < RANKS -> if :: report[k] < own -> own = report[k] :: else fi; k++ :: else -> break od;
#if WITNESS == 2
        if :: report[0] != NONE && report[1] != NONE -> assert(2 != 2) :: else fi;
#endif
        k = 0;
        do :: k < RANKS -> assert(result[k] == own); k++ :: else -> break od;
        k = 0;
        do :: k < NT -> assert(own != NONE || ran[k]); k++ :: else -> break od
    }
}
