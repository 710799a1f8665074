/* count.pml - the count of references (runtime/registry/count.h), small enough to try every order of steps.
 *
 * Idea       NU users hold a reference each and do up to OPS operations, any mixture of retain and release; the holder of the
 *            primary reference enters the spread form at any time, or never, and closes it.  Stores go into a queue of each
 *            thread, which drains at any time: a sequentially consistent model cannot see what the barrier is for.
 * Ghosts     g_refs, g_destroyed: what is true; the assertions compare.
 * Bugs       -DBUG=n puts one defect back; test/model/run.py lists them and demands that each is found.
 * Steps      COUNT_OP COUNT_WORD_OP COUNT_ENTER COUNT_CLOSE
 * Named      in the C code as "model: NAME", which run.py compares with this list.
 * Not here   what holders did to the object before: test/check looks at that.  More threads than slots use the word. */

#ifndef NU
#define NU 2
#endif
#ifndef OPS
#define OPS 3
#endif
#ifndef BUG
#define BUG 0
#endif
#ifndef WITNESS
#define WITNESS 0
#endif
#define BIAS 50
#define CLOSER NU /* its queue */
#define QUEUE 3

/* A slot: its two numbers, each twice the operations that it counted, odd while one begins; and whether it is closed. */
#define RETAINED(u) (u)
#define RELEASED(u) (NU + (u))
#define CLOSED(u)   (2 * NU + (u))
#define SLOTS       (3 * NU)
#define WORDS       (3 * NU + 1)

short memory[WORDS];
short word = 1 + NU;

typedef queue { byte count; byte at[QUEUE]; short value[QUEUE]; };
queue stores[NU + 1];

byte g_refs = 1 + NU;
bool g_destroyed, g_entered_late;
byte g_ended;

/* The slots belong to the object: nobody writes them when it is gone. */
inline drain(q)
{
    assert(!g_destroyed);
    memory[stores[q].at[0]] = stores[q].value[0];
    stores[q].at[0] = stores[q].at[1]; stores[q].value[0] = stores[q].value[1];
    stores[q].at[1] = stores[q].at[2]; stores[q].value[1] = stores[q].value[2];
    stores[q].at[2] = 0; stores[q].value[2] = 0;
    stores[q].count--;
}

inline drain_all(q) { do :: stores[q].count > 0 -> drain(q) :: else -> break od }

inline store(q, word_, value_)
{
    atomic {
        stores[q].count < QUEUE ->
        assert(!g_destroyed);
        stores[q].at[stores[q].count] = word_;
        stores[q].value[stores[q].count] = value_;
        stores[q].count++
    }
}

inline destroy()
{
    assert(g_refs == 0);     /* not while somebody holds a reference */
    assert(!g_destroyed);    /* not twice */
    g_destroyed = true
}

/* A read-modify-write: the queue is empty afterwards. */
inline add_to_word(q, change) /* COUNT_WORD_OP */
{
#if BUG == 4
    atomic { drain_all(q); assert(!g_destroyed); word = word + change }
    atomic { if :: word == 0 -> destroy() :: else fi } /* decrement and test apart */
#else
    atomic {
        drain_all(q);
        assert(!g_destroyed);
        word = word + change;
        if :: word == 0 -> destroy() :: else fi
    }
#endif
}

active proctype hardware()
{
end:
    do
    :: atomic { stores[0].count > 0 -> drain(0) }
#if NU > 1
    :: atomic { stores[1].count > 0 -> drain(1) }
#endif
#if NU > 2
    :: atomic { stores[2].count > 0 -> drain(2) }
#endif
    :: atomic { stores[CLOSER].count > 0 -> drain(CLOSER) }
    od
}

inline operate(change, number, mine) /* COUNT_OP */
{
    assert(!g_destroyed);
    if
    :: memory[SLOTS] == 0 -> add_to_word(me, change)
    :: else ->
        store(me, number, mine + 1);
        is_closed = memory[CLOSED(me)];
        if
        :: !is_closed ->
            mine = mine + 2;
            store(me, number, mine)
        :: else ->
#if WITNESS == 1
            assert(1 != 1);
#endif
            store(me, number, mine);
            add_to_word(me, change)
        fi
    fi
}

proctype user(byte me)
{
    byte held = 1, left = OPS;
    short retained = 0, released = 0; /* its own slot: it sees its own stores */
    bit is_closed;
    do
    :: held == 0 -> break
    :: held > 0 && held < left -> left--; held++; atomic { g_refs++ }; operate(1, RETAINED(me), retained)
    :: held > 0 && held <= left -> left--; held--; atomic { g_refs-- }; operate(-1, RELEASED(me), released)
    od;
    g_ended++
}

init
{
    byte u;
    short sum = 0;
    atomic { u = 0; do :: u < NU -> run user(u); u++ :: else -> break od; u = 0 }
    if
    :: true -> /* COUNT_ENTER: at any time beside the users' operations */
#if BUG != 5
        atomic { word = word + BIAS };
#endif
        store(CLOSER, SLOTS, 1);
        atomic { drain_all(CLOSER); g_entered_late = g_ended > 0 };
#if WITNESS == 2
        if :: g_entered_late -> assert(2 != 2) :: else fi;
#endif
        /* COUNT_CLOSE */
        atomic { g_refs-- };
#if BUG == 3
        do :: u < NU -> sum = sum + memory[RETAINED(u)] / 2 - memory[RELEASED(u)] / 2; u++ :: else -> break od;
        u = 0; /* the sum before closed */
#endif
        do :: u < NU -> store(CLOSER, CLOSED(u), 1); u++ :: else -> break od;
        u = 0;
#if BUG != 1
        atomic { u = 0; do :: u <= NU -> drain_all(u); u++ :: else -> break od; u = 0 } /* all threads pass a barrier */
#endif
        do
        :: u < NU ->
#if BUG != 2
            memory[RETAINED(u)] % 2 == 0;
#endif
#if BUG != 3
            sum = sum + memory[RETAINED(u)] / 2;
#endif
#if BUG != 2
            memory[RELEASED(u)] % 2 == 0;
#endif
#if BUG != 3
            sum = sum - memory[RELEASED(u)] / 2;
#endif
            u++
        :: else -> break
        od;
#if WITNESS == 3
        if :: sum < 0 -> assert(3 != 3) :: else fi;
#endif
#if BUG == 5
        add_to_word(CLOSER, sum - 1)
#else
        add_to_word(CLOSER, sum - BIAS - 1)
#endif
    :: true -> atomic { g_refs-- }; add_to_word(CLOSER, -1) /* the word form */
    fi;
    g_ended == NU;
    assert(g_destroyed) /* exactly one destroyed it, and nothing is left */
}
