/* awaits.c - does each iteration of a loop wait for a task of its own, of which the next one needs nothing?  (W05)
 * Needs      the uses of a function (lower_uses.c).  Gives W05.
 * Idea       forward: which iteration wrote a tensor last.  Where an await finds that it was the iteration at hand, the
 *            value is followed through the body: into scalars, into conditions, into calls and the tensors they write.
 *            It is needed when it decides whether something is done, or when a call of the loop reads a tensor from
 *            outside the loop that it went into. What is only printed or kept in scalars could be waited for later.
 * Invariant  in doubt it is needed.
 * Tests      test/lit/sema/w05.pto
 */
#include "dataflow.h"
#include "uses.h"
#include "sema/checker.h"

struct awaits {
    struct checker *c;
    const struct ir_function *f;
};

struct trace {
    const struct ast *await, *loop;
    VEC(const struct symbol *) carried; /* names whose value comes from the await */
    bool is_needed, changed;
};

static bool is_carried(const struct trace *t, const struct symbol *s)
{
    for (size_t i = 0; i < t->carried.count; i++)
        if (t->carried.data[i] == s) return true;
    return false;
}

static void carry(struct trace *t, const struct symbol *s)
{
    if (!s) return;
    if (s->region) s = s->region->base;
    for (int i = 0; i < s->field_count; i++) carry(t, s->fields[i]);
    if (is_carried(t, s)) return;
    vec_push(&t->carried, s);
    t->changed = true;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static bool visit(struct trace *t, const struct ast *e, bool decided);

static bool visit_list(struct trace *t, const struct ast *list, bool decided)
{
    bool any = false;
    for (; list; list = list->next) any |= visit(t, list, decided);
    return any;
}

static bool names_carried(const struct trace *t, const struct symbol *s)
{
    if (!s) return false;
    if (s->region) s = s->region->base;
    for (int i = 0; i < s->field_count; i++)
        if (names_carried(t, s->fields[i])) return true;
    return is_carried(t, s);
}

static bool writes(enum direction d) { return d == DIR_OUT || d == DIR_INOUT || d == DIR_ACC || d == DIR_OWN; }

static bool visit_call(struct trace *t, const struct ast *e, bool decided)
{
    const struct call *call = e->note ? e->note->call : NULL;
    bool any = visit_list(t, e->call.args, decided);
    if (!call || (!any && !decided)) return any;
    for (int i = 0; i < call->callee->formal_count; i++) {
        if (!writes(call->callee->formals[i]->dir)) continue;
        if (call->regions[i])
            carry(t, call->regions[i]->base);
        else if (call->values[i] && call->values[i]->symbol)
            carry(t, call->values[i]->symbol);
    }
    if (call->destination) carry(t, call->destination->base);
    carry(t, call->result_symbol);
    return true;
}

/* Does the value reach this expression?  decided: whether it is looked at depends on the value. */
static bool visit(struct trace *t, const struct ast *e, bool decided)
{
    if (!e) return false;
    switch (e->kind) {
    case AST_AWAIT: return visit(t, e->await.operand, decided) || e == t->await;
    case AST_NAME: return names_carried(t, e->symbol);
    case AST_MEMBER: return names_carried(t, e->symbol) || visit(t, e->member.object, decided);
    case AST_INDEX: {
        bool object = visit(t, e->index.object, decided);
        return visit_list(t, e->index.indices, decided) || object;
    }
    case AST_INDEX_POINT:
    case AST_INDEX_RANGE:
    case AST_INDEX_WIDTH:
    case AST_INDEX_ALL: {
        const bool low = visit(t, e->range.low, decided), high = visit(t, e->range.high, decided);
        return visit(t, e->range.step, decided) || low || high;
    }
    case AST_UNARY: return visit(t, e->binary.left, decided);
    case AST_BINARY: {
        bool left = visit(t, e->binary.left, decided), skips = e->binary.op == OP_AND || e->binary.op == OP_OR;
        return visit(t, e->binary.right, decided || (skips && left)) || left;
    }
    case AST_CALL: {
        const struct ast *select = select_of(e);
        if (!select) return visit_call(t, e, decided);
        bool condition = visit(t, select, decided);
        return visit_list(t, select->next, decided || condition) || condition;
    }
    case AST_ARG: {
        /* An `out` argument is overwritten: what it held does not go into the call. */
        if (e->arg.dir == DIR_OUT && e->arg.value->kind == AST_NAME) return false;
        return e->arg.dir == DIR_OUT && e->arg.value->kind == AST_INDEX
                   ? visit_list(t, e->arg.value->index.indices, decided)
                   : visit(t, e->arg.value, decided);
    }
    default: return false;
    }
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static void follow_list(struct trace *t, const struct ast *s, bool decided);

static void follow_block(struct trace *t, const struct ast *block, bool decided)
{
    if (block) follow_list(t, block->block.stmts, decided);
}

static void follow(struct trace *t, const struct ast *s, bool decided)
{
    switch (s->kind) {
    case AST_LET:
    case AST_VAR:
        if (visit(t, s->decl.value, decided) || decided) carry(t, s->symbol);
        break;
    case AST_ASSIGN: {
        bool where = s->assign.target->kind == AST_INDEX && visit_list(t, s->assign.target->index.indices, decided);
        if (!visit(t, s->assign.value, decided) && !decided && !where) break;
        const struct region *r = s->assign.target->note ? s->assign.target->note->region : NULL;
        carry(t, r ? r->base : s->assign.target->symbol);
        break;
    }
    case AST_EXPR_STMT: visit(t, s->expr_stmt.expr, decided); break;
    case AST_VIEW: visit(t, s->view.tensor, decided); break;
    case AST_IF:
        decided |= visit(t, s->if_.cond, decided);
        follow_block(t, s->if_.then, decided);
        if (s->if_.other && s->if_.other->kind == AST_IF)
            follow(t, s->if_.other, decided);
        else
            follow_block(t, s->if_.other, decided);
        break;
    case AST_MATCH:
        decided |= visit(t, s->match.value, decided);
        for (const struct ast *a = s->match.arms; a; a = a->next) {
            decided |= visit_list(t, a->arm.values, decided);
            follow_block(t, a->arm.body, decided);
        }
        follow_block(t, s->match.other, decided);
        break;
    case AST_FOR:
        decided |= visit(t, s->loop.low, decided);
        decided |= visit(t, s->loop.high, decided);
        decided |= visit(t, s->loop.step, decided);
        follow_block(t, s->loop.body, decided);
        break;
    case AST_WHILE:
    case AST_DO_WHILE: {
        bool cond = visit(t, s->while_.cond, decided);
        if (cond && s == t->loop) t->is_needed = true;
        follow_block(t, s->while_.body, decided || cond);
        break;
    }
    case AST_BLOCK: follow_list(t, s->block.stmts, decided); break;
    case AST_SCOPE: follow_block(t, s->scope.body, decided); break;
    case AST_BREAK:
    case AST_CONTINUE:
    case AST_RETURN:
    case AST_DROP:
        if (decided) t->is_needed = true;
        break;
    case AST_ASSERT:
        if (visit(t, s->check.cond, decided) || decided) t->is_needed = true; /* later it would be too late to stop */
        break;
    case AST_PRINT: visit_list(t, s->print.values, decided); break;
    default: break;
    }
}

static void follow_list(struct trace *t, const struct ast *s, bool decided)
{
    for (; s; s = s->next) follow(t, s, decided);
}

/* ---- what the calls of the loop read ----------------------------------------------------------------------------- */

static bool call_reads(const struct trace *t, const struct ast *e, int depth);

static bool list_reads(const struct trace *t, const struct ast *list, int depth)
{
    for (; list; list = list->next)
        if (call_reads(t, list, depth)) return true;
    return false;
}

static bool is_from_outside(const struct trace *t, const struct symbol *s, int depth)
{
    return s && is_carried(t, s) && s->loop_depth <= depth && (!s->type || !type_is_scalar(s->type));
}

/* A call or an await anywhere below e reads a tensor from outside the loop that the value went into. */
static bool call_reads(const struct trace *t, const struct ast *e, int depth)
{
    if (!e) return false;
    const struct call *call = e->kind == AST_CALL && e->note ? e->note->call : NULL;
    for (int i = 0; call && i < call->callee->formal_count; i++) {
        if (call->callee->formals[i]->dir == DIR_OUT) continue;
        if (call->regions[i] && is_from_outside(t, call->regions[i]->base, depth)) return true;
        const struct symbol *s = call->values[i] ? call->values[i]->symbol : NULL;
        for (int f = 0; s && f < s->field_count; f++)
            if (is_from_outside(t, s->fields[f], depth)) return true;
    }
    switch (e->kind) {
    case AST_CALL: return list_reads(t, e->call.args, depth);
    case AST_ARG: return call_reads(t, e->arg.value, depth);
    case AST_LET:
    case AST_VAR: return call_reads(t, e->decl.value, depth);
    case AST_ASSIGN: return call_reads(t, e->assign.value, depth);
    case AST_EXPR_STMT: return call_reads(t, e->expr_stmt.expr, depth);
    case AST_UNARY: return call_reads(t, e->binary.left, depth);
    case AST_BINARY: return call_reads(t, e->binary.left, depth) || call_reads(t, e->binary.right, depth);
    case AST_AWAIT: {
        const struct region *r = e->await.operand->note ? e->await.operand->note->region : NULL;
        return r && e != t->await && is_from_outside(t, r->base, depth);
    }
    case AST_IF:
        return call_reads(t, e->if_.cond, depth) || call_reads(t, e->if_.then, depth) ||
               call_reads(t, e->if_.other, depth);
    case AST_MATCH:
        for (const struct ast *a = e->match.arms; a; a = a->next)
            if (call_reads(t, a->arm.body, depth)) return true;
        return call_reads(t, e->match.value, depth) || call_reads(t, e->match.other, depth);
    case AST_FOR: return call_reads(t, e->loop.body, depth);
    case AST_WHILE:
    case AST_DO_WHILE: return call_reads(t, e->while_.cond, depth) || call_reads(t, e->while_.body, depth);
    case AST_BLOCK: return list_reads(t, e->block.stmts, depth);
    case AST_SCOPE: return call_reads(t, e->scope.body, depth);
    case AST_RETURN: return call_reads(t, e->ret.value, depth);
    case AST_PRINT: return list_reads(t, e->print.values, depth);
    default: return false;
    }
}

/* depth: how many loops are around the loop. */
static bool is_needed(const struct ast *await, const struct ast *loop, int depth)
{
    struct trace t = {.await = await, .loop = loop};
    do {
        t.changed = false;
        follow(&t, loop, false);
    } while (t.changed && !t.is_needed);
    const bool needed = t.is_needed || call_reads(&t, loop, depth);
    vec_free(&t.carried);
    return needed;
}

/* ---- which iteration wrote it ---- */

struct cell {
    const struct ir_op *loop; /* the loop in whose iteration at hand it was written; NULL: it was not */
    const struct ast *at;     /* that write */
};

static const struct ast *source_of(const struct ir_op *loop)
{
    return loop->kind == IR_FOR ? loop->loop.source : loop->while_.source;
}

static void look_at(struct dataflow *d, const struct cell *x, const struct ir_use *use)
{
    const struct checker *c = ((struct awaits *)d->cx)->c;
    if (d->is_silent || !d->loop || x->loop != d->loop->op || is_needed(use->at, source_of(x->loop), d->depth - 1))
        return;
    diag_warning(
        c->diag, DIAG_W05, use->at->at,
        "each iteration of the loop waits here for a task of its own, and the next iteration does not need the value");
    diag_note(c->diag, x->at->at, "'%s' is written here in the same iteration", use->tensor->symbol->name);
    diag_help(c->diag,
              "keep the results apart and await them after the loop, or await the one of the previous iteration");
}

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    if (op->kind != IR_USE || op->use.tensor->number < 0 || s->is_dead) return;
    struct cell *x = (struct cell *)s->data + op->use.tensor->number;
    switch (op->use.kind) {
    case IR_USE_BEGIN:
    case IR_USE_BEGIN_ZERO: *x = (struct cell){0}; break;
    case IR_USE_WRITE:
    case IR_USE_WRITE_PART: *x = (struct cell){d->loop ? d->loop->op : NULL, op->use.at}; break;
    case IR_USE_TAKE:
    case IR_USE_KEEP: *x = ((struct cell *)s->data)[op->use.from->number]; break;
    case IR_USE_AWAIT: look_at(d, x, &op->use); break;
    default: break;
    }
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    const struct awaits *a = d->cx;
    struct cell *to = into->data;
    const struct cell *from = other->data;
    for (int i = 0; i < a->f->tensor_count; i++)
        if (!to[i].loop) to[i] = from[i];
}

static void next_iteration(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    const struct awaits *a = d->cx;
    (void)op;
    for (int i = 0; i < a->f->tensor_count; i++) ((struct cell *)s->data)[i].loop = NULL;
}

void pass_awaits(struct checker *c, struct ir_function *f)
{
    if (!f->awaits_in_loop) return;
    const struct dataflow_client client = {.bytes = sizeof(struct cell) * (size_t)f->tensor_count,
                                           .step = step,
                                           .meet = meet,
                                           .next_iteration = next_iteration};
    struct awaits a = {c, f};
    struct dataflow_state s = dataflow_start(&client);
    dataflow_run(&client, &a, f, &s);
    dataflow_free(&s);
}
