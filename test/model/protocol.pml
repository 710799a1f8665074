/* protocol.pml - the protocol between orchestrator, scheduler and workers, small enough to try every order of steps.
 *
 * Idea       the orchestrator runs *any* program within the bounds below: submits with every choice of parameters, scopes, early
 *            release, buffers without a task, await.  Workers and the waiting orchestrator pass the scheduler's role around as
 *            runtime/engine/threads.c does.  What C does between two accesses to shared words is one step here.
 * Ghosts     variables g_... are not in C; they know what is true, and the assertions compare.
 * Bugs       -DBUG=n puts one defect back; test/model/run.py lists them and demands that each is found.
 * Steps      LOAD_HEADS TAKE_PUBLISHED TAKE_TASK TAKE_EVENT TAKE_ENDED COMPLETE CONSUME CANCEL_READY START_READY FOLLOW RETIRE STEP QUIET
 *            TAKE_ROLE LEAVE_ROLE HAS_INPUT HAND_OVER SCHEDULE FEED HELPER RUN_OWN GOES_ON SLEEP_WORKER PUBLISHED WAIT
 *            SLEEP_ORCHESTRATOR POKE CLOSE
 *            IS_MET PRUNE WRITE_TASK PUBLISH_TASK PUBLISH_EVENT LET_GO CLOSE_SCOPE GIVE_BACK DEADLOCK AWAIT FINISH
 * Named      in the C code as "model: NAME", which run.py compares with this list.
 * Not here   docs/model.md says what is left out. */

#ifndef W
#define W 2        /* slots of the window */
#endif
#ifndef NT
#define NT 3       /* tasks of the program */
#endif
#ifndef NB
#define NB 2       /* buffers that the heap has room for */
#endif
#ifndef NWORK
#define NWORK 1    /* workers; the role is also taken by the orchestrator */
#endif
#ifndef LANE
#define LANE 2     /* tasks in a worker's lane */
#endif
#ifndef NE
#define NE 2       /* event ring */
#endif
#ifndef BEGINS
#define BEGINS 1   /* scopes that the program may open inside the root scope, one in the other or one after the other */
#endif
#ifndef OPENS
#define OPENS 0    /* buffers that begin without a task */
#endif
#ifndef AWAITS
#define AWAITS 0
#endif
#ifndef RELEASES
#define RELEASES 1 /* early releases */
#endif
#ifndef PARAMS
#define PARAMS 2   /* buffers that a task uses, its output not counted */
#endif
#ifndef WRITES
#define WRITES 0   /* 1: parameters may also be written in place */
#endif
#ifndef FAILS
#define FAILS 0    /* kernels that may fail */
#endif
#ifndef CANCEL
#define CANCEL 0   /* 1: another thread may cancel the run at any time */
#endif
#ifndef HELPER
#define HELPER 0    /* 1: the waiting orchestrator may serve the last lane */
#endif
#ifndef FINE
#define FINE 0     /* 1: every access to a shared word is a step; 0: accesses that only commute are one step */
#endif
#ifndef BUG
#define BUG 0
#endif

#if FINE
#define JOIN {
#else
#define JOIN atomic {
#endif

#define BIT(n)     (1 << (n))
#ifdef WITNESS /* is this place reached at all?  Then the search stops here. */
#define REACHED(n, when) assert(WITNESS != n || !(when))
#else
#define REACHED(n, when) skip
#endif
#define HAS(m, n)  (((m) >> (n)) & 1)
#define SLOT(id)   ((id) % W)
#define ORCH       NWORK /* index of the orchestrator among those who sleep */
#define EVENT_OPEN    0
#define EVENT_RELEASE 1

/* ---- the window ------------------------------------------------------------------------------------------------------------ */

byte task_head, event_head;                 /* W orchestrator */
byte t_id[W], t_dep[W], t_use[W], t_fresh[W]; /* dep: set of task ids; use, fresh: sets of buffers */
byte e_stamp[NE], e_buffer[NE];
bit  e_kind[NE];
byte task_tail, event_tail;                 /* W scheduler */
byte completed[W];                          /* id + 1 */
bit  consumed[NB];                          /* counter modulo 2: the assertions keep it from running away */

/* ---- run status: the first failure claims it and writes its message ---------------------------------------------------------------- */

bit claimed, status;

/* ---- the scheduler's own ----------------------------------------------------------------------------------------------------------- */

#define FREE      0
#define PENDING   1
#define READY     2
#define RUNNING   3
#define COMPLETED 4

byte state[W], missing[W], fanout[W];       /* fanout: set of slots that wait */
#if NWORK > 1
byte place[W];                              /* lane that a running task was sent to */
#define PLACE(slot) place[slot]
#else
#define PLACE(slot) 0
#endif
byte refs[NB];
byte taken, retired, events, running;
bit  failed;                                /* a task of this run has failed, whoever says why */
byte s_head;                                /* between the two loads of a round */
byte s_done, s_bad, s_drop;                 /* tasks collected; those that failed; buffers still to be let go by the last one */

/* ---- lanes, the role, sleep ---------------------------------------------------------------------------------------------------------- */

byte l_task[NWORK * LANE];
bit  l_result[NWORK * LANE];
byte sent[NWORK], collected[NWORK];         /* W holder of the role */
byte done[NWORK];                           /* W worker */
bit  l_failed[NWORK];                       /* its own: a task of this run has failed here, or was not run */
bit  role, stop;
#if HELPER
bit  has_helper;                             /* W holder of the role */
bit  brief;                                 /* tasks are known to be short; else they are long */
#define G          (NWORK - 1)
#define HOSTED(w)  ((w) == G && has_helper)
#define OPEN(w)    ((w) != G || (has_helper && brief) || (!has_helper && (!brief || sleeping[ORCH])))
#else
#define HOSTED(w)  0
#define OPEN(w)    1
#endif
byte seen_tasks, seen_events;               /* hints: how far the scheduler has taken */
bit  sleeping[NWORK + 1], woken[NWORK + 1];
byte wake_at;                                  /* W orchestrator before it announces that it sleeps, R holder of the role: retired tasks it sleeps for */

/* ---- the orchestrator's own ------------------------------------------------------------------------------------------------------------ */

byte o_tail;
byte owner[NB];                             /* depth of the owning scope, 0: the handle is dead */
bit  made[NB];                              /* counter modulo 2 */
byte writer[NB];                            /* id + 1 of the last writer, 0: none that could still run */
byte readers[NB];                           /* set of ids that read since */

/* ---- ghosts ------------------------------------------------------------------------------------------------------------------------------ */

byte g_use[NT];                             /* buffers that a task will still touch: 0 once it has ended */
byte g_must[NT];                            /* tasks that must have run before it begins: 0 once it has begun */
byte g_over, g_ran;                         /* tasks that ended; those whose kernel ran and succeeded */
byte g_fails;

hidden byte i, k, b, m, s_events;           /* scratch inside d_step */

inline g_nobody_uses(buffer)
{
    k = 0;
    do
    :: k < NT -> assert(!HAS(g_use[k], buffer)); k++
    :: else -> break
    od;
    k = 0
}

inline g_end(id, ran)
{
    assert(!HAS(g_over, id)); /* every task ends once */
    g_over = g_over | BIT(id);
    g_ran = g_ran | ((ran) << (id));
    g_use[id] = 0;
    g_must[id] = 0
}

/* ---- scheduler: references ------------------------------------------------------------------------------------------------------------- */

/* CONSUME: the last reference is gone; from here on the orchestrator may lay another buffer there. */
inline CONSUME(buffer)
{
    assert(made[buffer] != consumed[buffer]); /* consumed once */
    assert(owner[buffer] == 0);               /* its owner let go */
    g_nobody_uses(buffer);
    consumed[buffer] = 1 - consumed[buffer]
}

inline DROP_REFERENCE(buffer)
{
    assert(refs[buffer] > 0);
    refs[buffer]--;
    if
    :: refs[buffer] == 0 -> CONSUME(buffer)
    :: else
    fi
}

inline DROP_REFERENCES(set)
{
    b = 0;
    do
    :: b < NB -> if
                 :: HAS(set, b) -> DROP_REFERENCE(b)
                 :: else
                 fi;
                 b++
    :: else -> break
    od;
    b = 0
}

/* ---- scheduler: taking ------------------------------------------------------------------------------------------------------------------- */

inline count_references(slot, set)
{
    b = 0;
    do
    :: b < NB -> if
                 :: HAS(set, b) -> refs[b]++
                 :: else
                 fi;
                 b++
    :: else -> break
    od;
    b = 0
}

inline make_ready(slot)
{
    assert(state[slot] == PENDING);
#if BUG == 5
    count_references(slot, t_use[slot]);
#endif
    state[slot] = READY
}

inline TAKE_TASK()
{
    i = SLOT(taken);
    REACHED(6, taken >= W);
    assert(t_id[i] == taken);
    assert(state[i] == FREE);
    state[i] = PENDING;
#if BUG != 11
    fanout[i] = 0;
#endif
    m = 0;
    k = 0;
    do
    :: k < NT ->
        if
        :: HAS(t_dep[i], k) ->
            assert(k < taken);
            if
#if BUG == 1
            :: k < retired -> skip
#elif BUG == 2
            :: state[SLOT(k)] == COMPLETED -> skip
#else
            :: k < retired || state[SLOT(k)] == COMPLETED -> REACHED(7, k >= retired) /* its list was walked: nobody would count us */
#endif
            :: else ->
                fanout[SLOT(k)] = fanout[SLOT(k)] | BIT(i);
#if BUG == 7
                m = 1
#else
                m++
#endif
            fi
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0;
#if BUG != 6
    missing[i] = m;
#else
    late = late | BIT(i);
    late_missing[i] = m;
#endif
    b = 0;
    do
    :: b < NB ->
        if
        :: HAS(t_fresh[i], b) ->
#if BUG != 14
            assert(refs[b] == 0);
#endif
#if BUG == 12
            refs[b] = 0
#elif BUG == 14
            skip
#else
            refs[b] = 1 /* of the owning scope */
#endif
        :: else
        fi;
        b++
    :: else -> break
    od;
#if BUG == 13
    count_references(i, (t_use[i] & ~t_fresh[i]));
#elif BUG != 5
    count_references(i, t_use[i]);
#endif
    b = 0;
    if
    :: m == 0 -> make_ready(i)
    :: else
    fi;
    taken++;
    i = 0; m = 0
}

inline TAKE_EVENT()
{
    if
    :: e_kind[events % NE] == EVENT_OPEN -> assert(refs[e_buffer[events % NE]] == 0); refs[e_buffer[events % NE]] = 1
    :: else -> DROP_REFERENCE(e_buffer[events % NE])
    fi;
    e_stamp[events % NE] = 0; /* for the search only: equal states look equal */
    e_buffer[events % NE] = 0;
    e_kind[events % NE] = 0;
    events++
}

#if BUG == 9
#define EVENT_IS_DUE true
#else
#define EVENT_IS_DUE (e_stamp[events % NE] <= taken)
#endif

/* TAKE_PUBLISHED: tasks and events, in the order of publication. */
/* LOAD_HEADS: task_head before event_head, so events before a task that we see are seen. */
inline LOAD_HEADS()
{
#if BUG == 10
    s_head = event_head
#else
    s_head = task_head
#endif
}

inline TAKE_PUBLISHED(any)
{
    d_step {
        s_events = event_head;
#if BUG == 10
        s_events = s_head;
        s_head = task_head;
#endif
        do
        :: events != s_events && EVENT_IS_DUE -> TAKE_EVENT(); any = 1
        :: else ->
            if
            :: taken == s_head -> break
            :: else -> TAKE_TASK(); any = 1
            fi
        od;
        s_events = 0;
        s_head = 0;
        event_tail = events
    }
}

/* ---- scheduler: completing ---------------------------------------------------------------------------------------------------------------- */

inline walk_fanout(slot)
{
    k = 0;
    do
    :: k < W ->
        if
        :: HAS(fanout[slot], k) ->
#if BUG == 6
            if
            :: missing[k] == 0 -> goto_skip = 1
            :: else -> missing[k]--
            fi;
            if
            :: !goto_skip && missing[k] == 0 -> make_ready(k)
            :: else
            fi;
            goto_skip = 0
#elif BUG == 7
            if
            :: missing[k] > 0 ->
                missing[k]--;
                if
                :: missing[k] == 0 -> make_ready(k)
                :: else
                fi
            :: else
            fi
#else
            assert(missing[k] > 0);
            missing[k]--;
            if
            :: missing[k] == 0 && state[k] == PENDING -> make_ready(k) /* or it follows */
            :: else
            fi
#endif
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0;
#if BUG != 11
    fanout[slot] = 0
#endif
}

/* COMPLETE: state, the word that the orchestrator reads, and the list, all under the role. */
inline COMPLETE(id, from)
{
    assert(state[SLOT(id)] == from);
    state[SLOT(id)] = COMPLETED;
    completed[SLOT(id)] = (id) + 1;
#if BUG != 3
    walk_fanout(SLOT(id))
#endif
}

#if BUG == 6
byte late, late_missing[W];
hidden byte goto_skip;
#endif

/* TAKE_ENDED: what the workers ended.  The buffers go after [DONE] is visible. */
inline TAKE_ENDED(any)
{
    d_step {
        i = 0;
        do
        :: i < NWORK ->
            do
            :: collected[i] != done[i] ->
                k = i * LANE + collected[i] % LANE;
                s_done = s_done | BIT(l_task[k]);
                s_bad = s_bad | (l_result[k] << l_task[k]);
                l_task[k] = 0;
                l_result[k] = 0;
                collected[i] = collected[i] + 1;
                any = 1
            :: else -> break
            od;
            i++
        :: else -> break
        od;
        i = 0; k = 0
    }
    do
    :: s_done != 0 ->
        d_step {
            i = 0;
            do
            :: HAS(s_done, i) -> break
            :: else -> i++
            od;
            s_done = s_done & ~BIT(i);
            if
            :: HAS(s_bad, i) ->
                s_bad = s_bad & ~BIT(i);
#if BUG != 23
                failed = 1;
#endif
                if
                :: !claimed -> claimed = 1; status = 1
                :: else
                fi
            :: else
            fi;
            assert(running > 0);
            running--;
            s_drop = t_use[SLOT(i)];
#if BUG == 14
            m = t_fresh[SLOT(i)];
            b = 0;
            do
            :: b < NB -> if
                         :: HAS(m, b) -> refs[b] = 2
                         :: else
                         fi;
                         b++
            :: else -> break
            od;
            b = 0; m = 0;
#endif
            COMPLETE(i, RUNNING);
            i = 0
        }
        d_step {
            DROP_REFERENCES(s_drop);
            s_drop = 0
        }
    :: else -> break
    od
#if BUG == 6
    ;
    d_step {
        i = 0;
        do
        :: i < W -> if
                    :: HAS(late, i) -> missing[i] = late_missing[i]
                    :: else
                    fi;
                    late_missing[i] = 0;
                    i++
        :: else -> break
        od;
        late = 0;
        i = 0
    }
#endif
}

/* ---- scheduler: starting, retiring ----------------------------------------------------------------------------------------------------------- */

/* CANCEL_READY: a failed run completes what is ready as it is, and what that makes ready. */
inline CANCEL_READY(any)
{
    d_step {
        i = 0;
        do
        :: i < W ->
            if
            :: state[i] == READY ->
                any = 1;
                REACHED(3, fanout[i]);
                g_end(t_id[i], 0);
                COMPLETE(t_id[i], READY);
                DROP_REFERENCES(t_use[i]);
                i = 0
            :: else -> i++
            fi
        :: else -> break
        od;
        i = 0
    }
}

#define LOAD(w) (sent[w] - collected[w])
#if NWORK == 1
#define BEST 0
#else
#define BEST (!OPEN(1) || LOAD(0) <= LOAD(1) -> 0 : 1)
#endif
#define HAS_ROOM (LOAD(BEST) < LANE && OPEN(BEST))

inline send(w, slot)
{
    l_task[(w) * LANE + sent[w] % LANE] = t_id[slot];
    sent[w] = sent[w] + 1;
#if NWORK > 1
    place[slot] = w;
#endif
    running++
}

inline start_slot(slot)
{
    d_step {
        i = t_id[slot];
        assert((g_must[i] & ~g_ran) == 0); /* all that it depends on has run, and succeeded */
        g_must[i] = 0;
        i = BEST;
#if BUG != 8
        state[slot] = RUNNING;
#endif
        send(i, slot);
        i = 0
    }
}

/* FOLLOW: what a task waits for has ended, or was sent to that lane before it: the lane's order is the dependency. */
#if BUG == 30
#define SENT_TO(k, w) (state[SLOT(k)] == RUNNING)
#else
#define SENT_TO(k, w) (state[SLOT(k)] == RUNNING && PLACE(SLOT(k)) == (w))
#endif
#define BEHIND(slot, k, w) (!HAS(t_dep[slot], k) || k < retired || state[SLOT(k)] == COMPLETED || SENT_TO(k, w))
#define FOLLOWS(slot, w) (state[slot] == PENDING && LOAD(w) > 0 && LOAD(w) < LANE && OPEN(w) && BEHIND(slot, 0, w) && BEHIND(slot, 1, w) && \
                          (NT < 3 || BEHIND(slot, 2, w)) && (NT < 4 || BEHIND(slot, 3, w)))

inline follow_slot(slot, w)
{
    d_step {
        REACHED(9, 1);
        state[slot] = RUNNING; /* what it must follow is looked at when it runs */
        send(w, slot)
    }
}

/* START_READY: any ready task may be the first, as priorities may say; what could follow may do so or not. */
#define STARTS(slot) (state[slot] == READY && HAS_ROOM)
inline START_READY(any)
{
    do
    :: STARTS(0) -> start_slot(0); any = 1
    :: STARTS(1) -> start_slot(1); any = 1
    :: FOLLOWS(0, 0) -> follow_slot(0, 0); any = 1
    :: FOLLOWS(1, 0) -> follow_slot(1, 0); any = 1
#if W > 2
    :: STARTS(2) -> start_slot(2); any = 1
    :: FOLLOWS(2, 0) -> follow_slot(2, 0); any = 1
#endif
#if NWORK > 1
    :: FOLLOWS(0, 1) -> follow_slot(0, 1); any = 1
    :: FOLLOWS(1, 1) -> follow_slot(1, 1); any = 1
#if W > 2
    :: FOLLOWS(2, 1) -> follow_slot(2, 1); any = 1
#endif
#endif
#if W > 3
    :: STARTS(3) -> start_slot(3); any = 1
    :: FOLLOWS(3, 0) -> follow_slot(3, 0); any = 1
#endif
    :: !STARTS(0) && !STARTS(1) && (W < 3 || !STARTS(W - 1)) && (W < 4 || !STARTS(2)) -> break
    od
}

#define ANY_COMPLETED (state[0] == COMPLETED || state[1] == COMPLETED || (W > 2 && state[W - 1] == COMPLETED))

/* RETIRE: in the order of ids. */
inline RETIRE()
{
    d_step {
        do
#if BUG == 16
        :: retired != taken && ANY_COMPLETED ->
            state[(state[0] == COMPLETED -> 0 : (state[1] == COMPLETED -> 1 : W - 1))] = FREE;
#else
        :: retired != taken && state[SLOT(retired)] == COMPLETED ->
            state[SLOT(retired)] = FREE;
#endif
            i = t_fresh[SLOT(retired)];
            t_id[SLOT(retired)] = 0; /* [RETIRE] says that nobody reads it */
            t_dep[SLOT(retired)] = 0;
            t_use[SLOT(retired)] = 0;
            t_fresh[SLOT(retired)] = 0;
            retired++
        :: else -> break
        od;
        k = task_tail;
#if BUG == 21
        if
        :: i != 0 -> task_tail = retired
        :: else
        fi;
#elif BUG == 15
        task_tail = retired + (retired != taken && state[SLOT(retired)] == RUNNING -> 1 : 0);
#else
        task_tail = retired;
#endif
        assert(task_tail >= k);                               /* monotone */
        assert(((BIT(task_tail) - 1) & ~g_over) == 0);        /* and never past a task that has not ended */
        i = 0;
        k = 0;
        seen_tasks = taken;
        seen_events = events
    }
}

#if BUG == 3
/* The list is walked before what was published is taken, the state is set after. */
byte apart;
inline STEP(any)
{
    d_step {
        i = 0;
        do
        :: i < NWORK ->
            k = collected[i];
            do
            :: k != done[i] -> m = k; apart = apart | BIT(l_task[i * LANE + k % LANE]); k++
            :: else -> break
            od;
            i++
        :: else -> break
        od;
        i = 0; k = 0; m = 0;
        do
        :: i < NT -> if
                     :: HAS(apart, i) -> walk_fanout(SLOT(i))
                     :: else
                     fi;
                     i++
        :: else -> break
        od;
        i = 0; apart = 0
    }
    LOAD_HEADS();
    JOIN
        TAKE_PUBLISHED(any);
        TAKE_ENDED(any)
    };
    JOIN
        if
        :: status || failed -> CANCEL_READY(any)
        :: else -> START_READY(any)
        fi;
        RETIRE()
    }
}
#else
/* STEP: one round of the scheduler. */
inline STEP(any)
{
    LOAD_HEADS();
    JOIN
        TAKE_PUBLISHED(any);
        TAKE_ENDED(any)
    };
    JOIN
        if
#if BUG != 25
        :: status || failed -> CANCEL_READY(any)
#else
        :: status || failed -> skip
#endif
        :: else -> START_READY(any)
        fi;
        RETIRE()
    }
}
#endif

#define ANY_READY (state[0] == READY || state[1] == READY || (W > 2 && state[2 % W] == READY) || (W > 3 && state[3 % W] == READY))
#if BUG == 20
#define IS_QUIET (task_head == taken && event_head == events && !ANY_READY)
#else
#define IS_QUIET (task_head == taken && event_head == events && running == 0 && !ANY_READY)
#endif

/* ---- the role ---------------------------------------------------------------------------------------------------------------------------------- */

/* TAKE_ROLE: a swap. */
inline TAKE_ROLE(got)
{
    d_step { got = !role; role = 1 }
}

#if NWORK == 1
#define LANE_INPUT (done[0] != collected[0])
#else
#define LANE_INPUT (done[0] != collected[0] || done[1] != collected[1])
#endif

#define INPUT (task_head != seen_tasks || event_head != seen_events || LANE_INPUT)

/* HAS_INPUT: three looks, one after the other. */
inline HAS_INPUT(yes)
{
#if FINE
    if
    :: task_head != seen_tasks -> yes = 1
    :: else ->
        if
        :: event_head != seen_events -> yes = 1
        :: else -> yes = LANE_INPUT
        fi
    fi
#else
    yes = INPUT
#endif
}

inline wake_lane(w)
{
    if
    :: sleeping[w] && sent[w] != done[w] && !HOSTED(w) -> woken[w] = 1
    :: else
    fi
}

/* LEAVE_ROLE: swap back, then look for sleepers and for input.  A holder other than the orchestrator wakes it whenever it has
 * announced that it sleeps: it may have found the role taken, and only it can find that nothing will change any more.  One that waits
 * for a slot is let sleep until as much has retired as it wants. */
inline LEAVE_ROLE(wakes, again)
{
    atomic { seen_retired = retired; role = 0 };
    JOIN
        wake_lane(0);
#if NWORK > 1
        wake_lane(1);
#endif
        if
        :: (wakes) && sleeping[ORCH] && seen_retired >= wake_at -> woken[ORCH] = 1
        :: else
        fi;
        seen_retired = 0;
#if BUG == 17
        again = 0
#else
        HAS_INPUT(again)
#endif
    }
}

#if BUG == 24
#define WORKER_WAKES(progress) (progress)
#else
#define WORKER_WAKES(progress) 1
#endif

inline HAND_OVER()
{
    if
    :: sleeping[0] -> woken[0] = 1
#if NWORK > 1
    :: !sleeping[0] && sleeping[1] -> woken[1] = 1
    :: !sleeping[0] && !sleeping[1] && sleeping[ORCH] -> woken[ORCH] = 1
#else
    :: !sleeping[0] && sleeping[ORCH] -> woken[ORCH] = 1
#endif
    :: else
    fi
}

/* ---- workers ------------------------------------------------------------------------------------------------------------------------------------- */

#if BUG == 29
#define MAY_RUN(me) 1
#else
#define MAY_RUN(me) (!l_failed[me])
#endif
inline g_follows(id)
{
    assert((g_must[id] & ~g_ran) == 0); /* all that it depends on has run, and succeeded */
}

/* RUN_OWN: the kernel ends here; it may begin any time since START_READY, which asserts that it may */
inline RUN_OWN(me)
{
    atomic {
        id = l_task[me * LANE + done[me] % LANE];
        if
        :: MAY_RUN(me) -> d_step { g_follows(id); g_end(id, 1); id = 0; done[me] = done[me] + 1 }
        :: status || l_failed[me] -> d_step { l_failed[me] = 1; g_end(id, 0); id = 0; done[me] = done[me] + 1 } /* a failed run begins nothing more */
#if FAILS
        :: MAY_RUN(me) && g_fails < FAILS ->
            d_step {
                g_fails++;
                l_failed[me] = 1; /* what follows it must not run, and the status may not say so yet */
                g_follows(id);
                g_end(id, 0);
                l_result[me * LANE + done[me] % LANE] = 1;
                id = 0;
                done[me] = done[me] + 1
            }
#endif
        fi
    }
}

#if BUG == 31
#define IS_SENT(me) (sent[me] != done[me])
#else
#define IS_SENT(me) (left != 0)
#endif

proctype worker(byte me)
{
    byte id, seen_retired;
    byte left; /* of what was sent when it saw last that the lane is its own, how many it has not run */
    bit progress, again, got;

top:
    JOIN
        if
        :: stop -> goto out
        :: else
        fi;
        if
        :: sent[me] != done[me] && !HOSTED(me) -> left = sent[me] - done[me]; goto run_own
        :: else
        fi;
        HAS_INPUT(again);
        if
        :: again && role == 0 -> again = 0; goto schedule
        :: else -> again = 0
        fi
    };

    /* SLEEP_WORKER: the announcement before the swap, the swap before the last look. */
#if BUG == 18
    goto last_look;
#else
    sleeping[me] = 1;
#endif
    atomic {
        TAKE_ROLE(got);
        if
        :: !got -> goto last_look
        :: else -> got = 0
        fi
    };
    LEAVE_ROLE(WORKER_WAKES(0), again);
last_look:
    atomic {
        if
        :: again || (sent[me] != done[me] && !HOSTED(me)) || stop -> again = 0; sleeping[me] = 0; goto top
        :: else
        fi
    };
#if BUG == 18
    sleeping[me] = 1;
#endif
    atomic { woken[me] -> woken[me] = 0; sleeping[me] = 0; goto top }; /* PARK: a wake that came before is kept */

run_own:
    RUN_OWN(me);

    /* Of what was sent it may run the next: so long nobody changes whose lane it is. */
    left = left - 1;
    if
    :: IS_SENT(me) -> goto run_own
    :: left = 0
    fi;

    /* GOES_ON: of short tasks it may run the next before it looks */
    if
    :: atomic { sent[me] != done[me] && !HOSTED(me) -> left = sent[me] - done[me] }; goto run_own
    :: skip
    fi;

schedule: /* SCHEDULE: there is input, a task that ended or what was seen */
    JOIN
        TAKE_ROLE(got);
        if
        :: !got -> goto top
        :: else -> got = 0
        fi
    };
    if
    :: goto step
    :: skip
    fi;

    /* FEED: a round without a look at what was published, if it starts something. */
    JOIN
        TAKE_ENDED(progress)
    };
    JOIN
        if
        :: status || failed -> goto step
        :: else -> START_READY(got)
        fi;
        if
        :: got -> got = 0; RETIRE()
        :: else -> goto step
        fi
    };
    goto leave;

step:
    STEP(progress);
leave:
    LEAVE_ROLE(WORKER_WAKES(progress), again);
    atomic {
        progress = 0;
        if
        :: sent[me] != done[me] && !HOSTED(me) -> again = 0; left = sent[me] - done[me]; goto run_own /* GOES_ON: whatever there is */
        :: sent[me] != done[me] && HOSTED(me) -> again = 0; goto top
        :: skip
        fi;
        if
        :: !again -> goto top
        :: else -> again = 0
        fi;
        if
        :: sent[me] != done[me] -> REACHED(5, sleeping[ORCH]); HAND_OVER(); goto top /* it may have had enough rounds */
        :: goto schedule
        fi
    };
out:
    skip
}

/* ---- another thread cancels ---------------------------------------------------------------------------------------------------------------------- */

proctype canceller()
{
    bit mine;
    if
    :: stop -> goto out
    :: d_step { !stop -> mine = !claimed; claimed = 1 }
    fi;
    if
    :: mine -> status = 1
    :: else
    fi;
    mine = 0;
    woken[ORCH] = 1; /* POKE */
out:
    skip
}

/* ---- the orchestrator -------------------------------------------------------------------------------------------------------------------------------- */

#define NEED_NOTHING 0
#define NEED_SLOT    1
#define NEED_HEAP    2
#define NEED_EVENT   3
#define NEED_DONE    4
#define NEED_ALL     5

/* is_met, and what it does on the way: sees how far tasks have retired, takes room in the heap. */
inline IS_MET()
{
    d_step {
        if
        :: need == NEED_EVENT -> met = (event_head - event_tail < NE)
        :: need == NEED_HEAP ->
            met = 0;
            b = 0;
            do
            :: b < NB && made[b] == consumed[b] ->
                met = 1;
                made[b] = 1 - made[b];
                g_nobody_uses(b);
                fresh = b;
                break
            :: b < NB && made[b] != consumed[b] -> b++
            :: b == NB -> break
            od;
            b = 0
        :: else ->
            o_tail = task_tail;
            b = 0;
            do /* entries of retired tasks are stale */
            :: b < NB ->
                if
                :: writer[b] <= o_tail -> writer[b] = 0
                :: else
                fi;
                readers[b] = (readers[b] >> o_tail) << o_tail;
                b++
            :: else -> break
            od;
            b = 0;
            if
            :: need == NEED_SLOT -> met = (o_tail >= mark && task_head - o_tail < W)
            :: need == NEED_DONE -> met = (want < o_tail || completed[SLOT(want)] == want + 1)
            :: need == NEED_ALL -> met = (o_tail == task_head && event_tail == event_head)
            fi
        fi
    }
}

/* What the proof of a deadlock claims, checked from outside. */
inline g_check_quiet()
{
    d_step {
        assert(need == NEED_HEAP);
        assert(taken == task_head && retired == taken && events == event_head);
        k = 0;
        do
        :: k < NWORK -> assert(sent[k] == done[k] && done[k] == collected[k]); k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < NB -> assert(made[k] != consumed[k] && owner[k] > 0); k++
        :: else -> break
        od;
        k = 0
    }
}

active proctype orchestrator()
{
    byte depth, begins, opens, awaits, releases;
    byte need, fresh, want, after_wait, after_event, buffer, mark, seen_retired;
    bit met, quiet, progress, again, got, kind, is_task, until;
    byte use, wr, own; /* the submission */
#if HELPER
    byte id;
#endif

    /* where the steps that wait or publish an event go on */
#define AT_NEXT     0
#define AT_OUTPUT   1
#define AT_SLOT     2
#define AT_EVENT    3
#define AT_AWAITED  4
#define AT_DRAINED  5
#define AT_CLOSE    6
#define AT_GIVEBACK 7

    atomic {
        depth = 1;
#if HELPER
        if
        :: brief = 1
        :: skip
        fi;
#endif
        run worker(0);
#if NWORK > 1
        run worker(1);
#endif
#if CANCEL
        run canceller();
#endif
    };

next: /* what the program does next, if the run has not failed */
    atomic {
        if
        :: status -> goto finish
        :: else
        fi;
        if
        :: task_head == NT -> goto finish
        :: task_head < NT -> /* SUBMIT: choose the parameters */
            b = 0;
            m = 0;
            do
            :: b < NB ->
                if
                :: skip
#if BUG == 4
                :: m < PARAMS && made[b] != consumed[b] -> use = use | BIT(b); m++
#else
                :: m < PARAMS && owner[b] > 0 -> use = use | BIT(b); m++
#endif
#if WRITES
                :: m < PARAMS && owner[b] > 0 -> use = use | BIT(b); wr = wr | BIT(b); m++
#endif
                fi;
                b++
            :: b == NB -> break
            od;
            b = 0; m = 0;
            is_task = 1;
            if
            :: use != 0 -> goto slot /* nothing new */
            :: own = depth
#if BEGINS
            :: depth > 1 -> own = 1 /* the variable was declared further out */
#endif
            fi;
            need = NEED_HEAP;
            after_wait = AT_OUTPUT;
            goto wait
#if BEGINS
        :: begins < BEGINS && task_head < NT -> begins++; depth++; goto next
        :: depth > 1 -> goto close
#endif
#if RELEASES
        :: releases < RELEASES ->
            if
            :: owner[0] > 0 -> buffer = 0
#if NB > 1
            :: owner[1] > 0 -> buffer = 1
#endif
#if NB > 2
            :: owner[2] > 0 -> buffer = 2
#endif
            :: else -> goto next
            fi;
            releases++;
            after_event = AT_NEXT;
            goto let_go
#endif
#if OPENS
        :: opens < OPENS && task_head < NT -> opens++; own = depth; need = NEED_HEAP; after_wait = AT_OUTPUT; goto wait
#endif
#if AWAITS
        :: awaits < AWAITS ->
            if
            :: owner[0] > 0 && writer[0] > 0 -> want = writer[0] - 1
#if NB > 1
            :: owner[1] > 0 && writer[1] > 0 -> want = writer[1] - 1
#endif
            :: else -> goto next
            fi;
            awaits++;
            need = NEED_DONE;
            after_wait = AT_AWAITED;
            goto wait
#endif
        fi
    };

    /* ---- a new buffer: an output, or one that begins without a task */
output:
    atomic {
        if
        :: !met -> /* DEADLOCK: proved; the run fails */
            REACHED(1, 1);
            use = 0; wr = 0; own = 0; is_task = 0;
            if
            :: !claimed -> claimed = 1; status = 1
            :: else
            fi;
            goto next
        :: else -> met = 0
        fi;
        owner[fresh] = own;
        writer[fresh] = 0;
        readers[fresh] = 0;
        own = 0;
        if
        :: !is_task -> buffer = fresh; fresh = 0; kind = EVENT_OPEN; after_event = AT_NEXT; goto event
        :: else -> use = use | BIT(fresh); wr = wr | BIT(fresh); fresh = fresh + 1
        fi
    };

    /* ---- the window: fresh is the new buffer + 1, or 0 */
slot:
    atomic { need = NEED_SLOT; after_wait = AT_SLOT; goto wait };

have_slot:
    atomic {
        if
        :: status -> /* GIVE_BACK: no task will ever make what was taken */
            use = 0; wr = 0; met = 0; is_task = 0;
            if
            :: fresh == 0 -> goto next
            :: else -> REACHED(2, 1); buffer = fresh - 1; fresh = 0; kind = EVENT_OPEN; after_event = AT_GIVEBACK; goto event
            fi
        :: else
        fi;
        d_step { /* PRUNE, WRITE_TASK and PUBLISH_TASK */
            m = 0; /* what it must follow */
            b = 0;
            do
            :: b < NB ->
                if
                :: HAS(use, b) && b + 1 != fresh ->
                    if
                    :: writer[b] > 0 -> m = m | BIT(writer[b] - 1)
                    :: else
                    fi;
                    if
                    :: HAS(wr, b) -> m = m | readers[b]
                    :: else
                    fi
                :: else
                fi;
                if
                :: HAS(wr, b) -> writer[b] = task_head + 1; readers[b] = 0
                :: HAS(use, b) && !HAS(wr, b) -> readers[b] = readers[b] | BIT(task_head)
                :: else
                fi;
                b++
            :: else -> break
            od;
            i = SLOT(task_head);
            t_id[i] = task_head;
            t_use[i] = use;
            t_fresh[i] = (fresh -> BIT(fresh - 1) : 0);
            g_must[task_head] = m;
            g_use[task_head] = use;
            k = 0;
            do /* those that have completed add no edge */
            :: k < task_head ->
                if
                :: HAS(m, k) && (k < o_tail || completed[SLOT(k)] == k + 1) -> m = m & ~BIT(k)
                :: else
                fi;
                k++
            :: else -> break
            od;
            t_dep[i] = m;
            i = 0; b = 0; m = 0; k = 0;
            use = 0; wr = 0; fresh = 0; met = 0; is_task = 0;
            task_head++
        };
    };
    /* PUBLISHED: a look at the role, or not: whether anybody idles is a hint only. */
    JOIN
        if
        :: goto next
        :: skip
        fi;
        TAKE_ROLE(got);
        if
        :: !got -> goto next
        :: else -> got = 0
        fi
    };
    STEP(progress);
    LEAVE_ROLE(0, again);
    atomic {
        progress = 0;
        if
        :: again -> again = 0; HAND_OVER()
        :: else
        fi;
        goto next
    };

awaited: /* AWAIT */
    atomic {
        REACHED(8, o_tail <= want);
        assert(met);                                    /* tasks depend on older tasks only */
        assert(status || claimed || HAS(g_ran, want));
        met = 0; want = 0;
        goto next
    };

    /* ---- scopes */
close: /* CLOSE_SCOPE */
    atomic {
        after_event = AT_CLOSE;
        if
        :: owner[0] == depth -> buffer = 0; goto let_go
#if NB > 1
        :: owner[0] != depth && owner[1] == depth -> buffer = 1; goto let_go
#endif
#if NB > 2
        :: owner[0] != depth && owner[1] != depth && owner[2] == depth -> buffer = 2; goto let_go
#endif
        :: else -> depth--; after_event = AT_NEXT
        fi;
        if
        :: until -> goto finish
        :: else -> goto next
        fi
    };

finish: /* FINISH */
    atomic {
        until = 1;
        if
        :: depth > 0 -> goto close
        :: else
        fi;
        until = 0;
        need = NEED_ALL;
        after_wait = AT_DRAINED;
        goto wait
    };

    /* ---- events */
let_go: /* LET_GO */
    atomic {
        owner[buffer] = 0;
        writer[buffer] = 0;
        readers[buffer] = 0;
        kind = EVENT_RELEASE
#if BUG == 22
        ;
        /* The orchestrator takes the owner's reference away itself. */
        met = refs[buffer] > 1
    };
    d_step {
        if
        :: met -> refs[buffer]--
        :: else -> refs[buffer] = 0; CONSUME(buffer)
        fi;
        met = 0; kind = 0
    };
    atomic {
        goto event_done
#endif
    };
event:
    atomic { need = NEED_EVENT; after_wait = AT_EVENT; goto wait };
have_event:
    atomic {
        assert(met); /* the scheduler takes events without waiting for anything */
        /* PUBLISH_EVENT */
        e_stamp[event_head % NE] = task_head;
        e_buffer[event_head % NE] = buffer;
        e_kind[event_head % NE] = kind;
        event_head++;
        met = 0; kind = 0;
        if
        :: after_event == AT_GIVEBACK -> after_event = AT_NEXT; goto let_go
        :: else
        fi;
event_done:
        buffer = 0;
        if
        :: after_event == AT_CLOSE -> goto close
        :: else -> goto next
        fi
    };

    /* ---- WAIT */
wait:
#if HELPER
    atomic {
        IS_MET();
        if
        :: met -> goto waited
        :: !met && need == NEED_SLOT && mark == 0 -> mark = o_tail + (task_head - o_tail + 1) / 2
        :: !met && need == NEED_ALL -> mark = task_head
        :: else
        fi;
        if
        :: !role && LOAD(G) == 0 -> role = 1; has_helper = 1
        :: goto wait_on
        fi
    };
    STEP(progress);
    LEAVE_ROLE(0, again);
    atomic {
        progress = 0; again = 0;
        if
        :: !has_helper -> goto wait_on
        :: else
        fi
    };
serve: /* HELPER */
    if
    :: atomic { sent[G] != done[G] -> skip };
        RUN_OWN(G);
        goto serve
    :: atomic { !role -> role = 1 };
        STEP(progress);
        LEAVE_ROLE(0, again);
        atomic {
            progress = 0; again = 0;
            IS_MET();
            if
            :: met -> goto leave_lane
            :: else -> goto serve
            fi
        }
    :: goto leave_lane
    fi;
leave_lane:
    if
    :: atomic { sent[G] != done[G] -> skip };
        RUN_OWN(G);
        goto leave_lane
    :: atomic { !role -> role = 1; got = (sent[G] == done[G]); has_helper = !got }
    fi;
    LEAVE_ROLE(0, again);
    atomic {
        again = 0;
        if
        :: !got -> goto leave_lane
        :: else -> got = 0
        fi;
        if
        :: met -> goto waited
        :: else
        fi
    };
wait_on:
#endif
    JOIN
        IS_MET();
        if
        :: met -> goto waited
        :: !met && need == NEED_SLOT && mark == 0 -> mark = o_tail + (task_head - o_tail + 1) / 2 /* the engine wakes nobody for less */
        :: !met && need == NEED_ALL -> mark = task_head
        :: else
        fi;
        TAKE_ROLE(got);
        if
        :: !got -> goto no_role
        :: else -> got = 0
        fi
    };
    STEP(progress);
    JOIN
        quiet = IS_QUIET; /* QUIET: under the role */
        IS_MET()
    };
    LEAVE_ROLE(0, again);
    atomic {
        again = 0;
        if
        :: met -> progress = 0; quiet = 0; goto waited
        :: !met && quiet -> progress = 0; quiet = 0; g_check_quiet(); goto waited
        :: !met && !quiet && progress -> progress = 0; goto wait
        :: else
        fi
    };
no_role:
#if BUG == 19
    quiet = IS_QUIET;
    if
    :: quiet -> quiet = 0; g_check_quiet(); goto waited
    :: else
    fi;
#endif
    /* SLEEP_ORCHESTRATOR: the announcement before the swap, the swap before the last look. */
    wake_at = mark;
#if BUG == 26
    sleeping[ORCH] = 0;
#else
    sleeping[ORCH] = 1;
#endif
#if HELPER && BUG != 28
    atomic { !role -> role = 1 }; /* what was shut is open now */
#else
    atomic {
        TAKE_ROLE(got);
        if
        :: !got -> goto last_look
        :: else -> got = 0
        fi
    };
#endif
    STEP(progress);
    atomic {
        progress = 0;
#if BUG != 27
        quiet = IS_QUIET /* nobody will come who could wake us: do not sleep */
#endif
    };
    LEAVE_ROLE(0, again);
last_look:
    atomic {
        if
        :: again || quiet -> again = 0; quiet = 0
        :: else ->
            IS_MET();
            if
            :: met -> skip
            :: else -> goto park
            fi
        fi;
        goto unpark
    };
park:
#if BUG == 26
    sleeping[ORCH] = 1;
#endif
    atomic { woken[ORCH] -> REACHED(4, need == NEED_SLOT); woken[ORCH] = 0; sleeping[ORCH] = 0; wake_at = 0; goto wait };
unpark:
    atomic {
        sleeping[ORCH] = 0; wake_at = 0;
        if
        :: met -> goto waited
        :: else -> goto wait
        fi
    };
waited:
    atomic {
        need = 0; mark = 0;
        if
        :: after_wait == AT_OUTPUT -> after_wait = 0; goto output
        :: after_wait == AT_SLOT -> assert(met); after_wait = 0; goto have_slot
        :: after_wait == AT_EVENT -> after_wait = 0; goto have_event
        :: after_wait == AT_AWAITED -> after_wait = 0; goto awaited
        :: after_wait == AT_DRAINED -> after_wait = 0
        fi
    };

    /* ---- the end: nothing is lost, nothing is left */
    d_step {
        assert(met);
        assert(task_tail == task_head && event_tail == event_head && running == 0);
        assert(g_over == BIT(task_head) - 1);          /* every submitted task ended */
        assert(status || claimed || g_ran == g_over);  /* and ran, unless the run failed */
        k = 0;
        do
        :: k < W -> assert(state[k] == FREE); k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < NB -> assert(refs[k] == 0 && made[k] == consumed[k] && owner[k] == 0); k++
        :: else -> break
        od;
        k = 0;
        met = 0;
        stop = 1; /* CLOSE */
        woken[0] = 1;
#if NWORK > 1
        woken[1] = 1
#endif
    }
}
