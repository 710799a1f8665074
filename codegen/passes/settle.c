/* settle.c - brings into a function what its checks found out, see Note [settled later] in ir/ir.h.
 * Needs      struct tensor_note of each tensor, and the uses that need a test when the program runs.
 * Gives      allocations and releases that are needed, CHECK_WRITTEN and the flags that it tests; no uses are left.
 * Method     one walk; each block is made anew from the operations that stay and those that are added.
 * Tests      test/lit/codegen/written.pto, written-in-condition.pto, flag-unused.pto, test/lit/run/e06-parts.pto
 */
#include "codegen.h"
#include "ir/lower.h"
#include "plan.h"
#include "sema/checker.h"
#include "support/arena.h"
#include "uses.h"

struct settle {
    const struct checked *checked;
    struct ir_function *f;
    struct arena *mem;
    struct ptrmap written; /* key_of(holder) -> its struct ir_check, in order */
    bool takes_first;      /* the TAKE that follows its use finds nothing in its name */
};

/* The block that is made anew. */
struct result {
    struct ir_block *block;
    struct span from, to; /* a site was added: operations that follow `from` its place come from there */
    bool is_moved;
};

static bool needs_flag(const struct settle *s, const struct symbol *t)
{
    return s->f->unwritten && tensor_note_of(s->checked, t)->needs_flag;
}

/* ---- the checks that are added ---- */

static const void *key_of(const struct ast *holder)
{
    return holder->kind == AST_CALL ? (const void *)call_of(holder) : holder;
}

static void find_checks(struct settle *s, struct checker *c)
{
    struct ranges ranges = {.mem = s->mem, .function = s->f->orch};
    struct lowering *l = lowering_begin(c->front, s->checked, s->mem, &ranges);
    for (const struct ir_unwritten *u = s->f->unwritten; u; u = u->next) {
        struct ir_check *check = lower_written(l, u->use), *last = ptrmap_get(&s->written, key_of(u->use->holder));
        while (last && last->next) last = (struct ir_check *)last->next;
        if (last)
            last->next = check;
        else
            ptrmap_set(&s->written, key_of(u->use->holder), check);
    }
    lowering_end(l);
    ptrmap_free(&ranges.known);
}

/* A copy of the checks of a holder between the first `count` of *list and the others. */
static void add_checks(struct settle *s, const struct ir_check **list, const struct ir_check *added, int count)
{
    while (*list && count-- > 0) list = (const struct ir_check **)&(*list)->next;
    const struct ir_check *others = *list;
    for (; added; added = added->next) {
        struct ir_check *copy = arena_new(s->mem, struct ir_check);
        *copy = *added;
        *list = copy;
        list = &copy->next;
    }
    *list = others;
}

static int count_checks(const struct check *c)
{
    int count = 0;
    for (; c; c = c->next) count++;
    return count;
}

/* An await tests what it waits for before the element. */
static void add_to_value(struct settle *s, struct ir_value *v)
{
    const struct ast *holder = v->holder;
    const struct ir_check *added = ptrmap_get(&s->written, key_of(holder));
    v->holder = NULL;
    if (!added) return;
    if (v->kind == IR_NAME) {
        struct ir_value *name = arena_new(s->mem, struct ir_value);
        *name = *v;
        v->kind = IR_CHECKED;
        v->arg = arena_array(s->mem, struct ir_value *, 1);
        v->arg[0] = name;
        v->count = 1;
    }
    add_checks(s, &v->checks, added, holder->kind == AST_AWAIT ? count_checks(checks_of(holder)) : INT32_MAX);
}

/* ---- flags ---- */

static void add_flag(struct settle *s, const struct region *r, const struct symbol *scalar, symbol_list *list)
{
    const struct symbol *t = r ? r->base : scalar;
    if (t && needs_flag(s, t)) vec_push(list, (struct symbol *)(uintptr_t)t);
}

static void add_flags_of(struct settle *s, const struct leaves *leaves, symbol_list *list)
{
    for (int i = 0; i < leaves->count; i++) add_flag(s, leaves->leaf[i].region, leaves->leaf[i].scalar, list);
}

/* What the call writes. */
static void flags_of_call(struct settle *s, const struct call *call, symbol_list *list)
{
    for (int i = 0; i < call->callee->formal_count; i++) {
        if (call->callee->formals[i]->dir != DIR_OUT) continue;
        add_flag(s, call->regions[i], NULL, list);
        add_flags_of(s, &call->leaves[i], list);
    }
    add_flags_of(s, &call->result_leaves, list);
    if (call->result_formal < 0 && !call->result_leaves.count)
        add_flag(s, call->destination, call->result_symbol, list);
}

static const void **flag_array(struct settle *s, const struct call *call)
{
    symbol_list flags = {0};
    flags_of_call(s, call, &flags);
    const void **to = arena_array(s->mem, const void *, flags.count + 1);
    for (size_t i = 0; i < flags.count; i++) to[i] = tensor_note_of(s->checked, flags.data[i]);
    vec_free(&flags);
    return to;
}

/* ---- values ---- */

static void settle_value(struct settle *s, struct ir_value *v);

static void settle_checks(struct settle *s, const struct ir_check *list)
{
    for (const struct ir_check *c = list; c; c = c->next)
        if (c->a) settle_value(s, c->a);
}

static void settle_operands(struct settle *s, const struct ir_call *call)
{
    for (int i = 0; i < call->count; i++)
        if (call->arguments[i].value) settle_value(s, call->arguments[i].value);
    for (int i = 0; i < call->attribute_count; i++)
        if (call->attributes[i].value) settle_value(s, call->attributes[i].value);
}

/* A value can be the operand of a site, too, and is met twice. */
static void settle_value(struct settle *s, struct ir_value *v)
{
    struct ir_call *call = (struct ir_call *)v->call;
    settle_checks(s, v->checks);
    if (v->holder) add_to_value(s, v);
    for (int i = 0; i < v->count; i++) settle_value(s, v->arg[i]);
    if (v->kind != IR_RESULT || call->flags) return;
    settle_checks(s, call->checks);
    settle_operands(s, call);
    if (call->is_prepared) return;
    add_checks(s, &call->checks, ptrmap_get(&s->written, call->binding), INT32_MAX);
    call->flags = flag_array(s, call->binding);
}

static void settle_values(struct settle *s, struct ir_op *op)
{
    struct ir_value *const none = NULL;
    struct ir_value *const values[] = {
        op->kind == IR_LET      ? op->let.value
        : op->kind == IR_SET    ? op->set.value
        : op->kind == IR_STORE  ? op->store.value
        : op->kind == IR_ASSERT ? op->assertion.cond
        : op->kind == IR_RETURN ? op->ret.value
        : op->kind == IR_IF     ? op->branch.cond.value
        : op->kind == IR_WHILE  ? op->while_.cond.value
        : op->kind == IR_SITE   ? (struct ir_value *)op->site.of
        : op->kind == IR_FOR    ? op->loop.low
                                : none,
        op->kind == IR_FOR ? op->loop.high : none,
        op->kind == IR_FOR ? op->loop.step : none,
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i]) settle_value(s, values[i]);
    if (op->kind == IR_SUBMIT || op->kind == IR_CALL) settle_operands(s, op->call);
    if (op->kind == IR_CHECK) settle_checks(s, op->check.check);
    for (int i = 0; op->kind == IR_PRINT && i < op->print.count; i++)
        if (op->print.values[i].value) settle_value(s, op->print.values[i].value);
}

/* ---- operations ---- */

static bool is_same_place(struct span a, struct span b)
{
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

static void keep(struct result *to, struct ir_op *op)
{
    to->is_moved &= is_same_place(op->at, to->from) && op->kind != IR_SITE;
    if (to->is_moved) op->at = to->to;
    if (to->block->last)
        to->block->last->next = op;
    else
        to->block->first = op;
    to->block->last = op;
}

/* An operation that is left out may be the last one of its statement. */
static void leave_out(struct result *to, const struct ir_op *op)
{
    struct ir_op *last = to->block->last;
    if (op->statement_end.end && last && !last->statement_end.end && last->kind != IR_SCOPE_BEGIN)
        last->statement_end = op->statement_end;
}

static struct ir_op *add(struct settle *s, struct result *to, enum ir_op_kind kind, struct span at)
{
    struct ir_op *op = arena_new(s->mem, struct ir_op);
    op->kind = kind;
    op->at = at;
    keep(to, op);
    return op;
}

/* What stands at `from` comes from the site now. */
static void add_site(struct settle *s, struct result *to, struct span from, struct span at, const char *text)
{
    struct ir_op *op = add(s, to, IR_SITE, at);
    op->site.at = at;
    op->site.text = text;
    to->from = from;
    to->to = at;
    to->is_moved = true;
}

static struct ir_op *new_flag(struct settle *s, const struct symbol *t, struct span at)
{
    struct ir_op *op = arena_new(s->mem, struct ir_op);
    const struct ir_value *none = ir_boolean(s->mem, false);
    op->kind = IR_LET;
    op->at = at;
    op->let.key = tensor_note_of(s->checked, t);
    op->let.wanted = arena_printf(s->mem, "%s_written", t->name);
    op->let.type = none->type;
    op->let.value = (struct ir_value *)none;
    op->let.unused = IR_UNUSED_MAYBE;
    return op;
}

static void set_flag(struct settle *s, struct result *to, const struct symbol *t, struct span at)
{
    if (!t || !needs_flag(s, t)) return;
    struct ir_op *before = to->block->last, *op = add(s, to, IR_SET, at);
    op->set.key = tensor_note_of(s->checked, t);
    op->set.symbol = t;
    op->set.value = ir_boolean(s->mem, true);
    if (!before || before->at.begin != at.begin) return;
    op->statement_end = before->statement_end;
    before->statement_end = (struct span){0};
}

/* A call that fails does not return, so what it writes is marked as written before it. */
static void set_flags_of_call(struct settle *s, struct result *to, const struct call *call, struct span at)
{
    symbol_list flags = {0};
    flags_of_call(s, call, &flags);
    for (size_t i = 0; i < flags.count; i++) set_flag(s, to, flags.data[i], at);
    vec_free(&flags);
}

static void settle_use(struct settle *s, struct result *to, struct ir_op *op)
{
    const struct ir_use *use = &op->use;
    if (use->kind == IR_USE_TAKE) s->takes_first = use->is_first;
    const bool begins = use->kind == IR_USE_BEGIN || use->kind == IR_USE_BEGIN_ZERO;
    const bool is_declared = use->at->kind == AST_LET || use->at->kind == AST_VAR;
    if (begins && is_declared && needs_flag(s, use->symbol))
        keep(to, new_flag(s, use->symbol, op->at));
    else
        leave_out(to, op);
}

static void settle_site(struct settle *s, struct result *to, struct ir_op *op)
{
    if (!op->site.of)
        keep(to, op);
    else if (ir_can_fail(op->site.of))
        add_site(s, to, op->at, op->site.at, op->site.text);
    else
        leave_out(to, op);
}

static void settle_check(struct settle *s, struct result *to, struct ir_op *op)
{
    if (op->check.check) {
        keep(to, op);
        return;
    }
    const struct ir_check *added = ptrmap_get(&s->written, key_of(op->check.holder));
    if (added && op->check.site) add_site(s, to, op->at, op->check.holder->at, op->check.site);
    const struct ir_check *list = NULL;
    add_checks(s, &list, added, 0);
    for (const struct ir_check *next; list; list = next) {
        struct ir_op *check = add(s, to, IR_CHECK, op->at);
        check->check.check = list;
        next = list->next;
        ((struct ir_check *)list)->next = NULL;
    }
    leave_out(to, op);
}

static void settle_alloc(struct settle *s, struct result *to, struct ir_op *op)
{
    if (!tensor_note_of(s->checked, op->alloc.symbol)->needs_alloc) {
        leave_out(to, op);
        return;
    }
    add_site(s, to, op->at, op->alloc.site, op->alloc.symbol->name);
    keep(to, op);
}

/* A value that cannot fail is evaluated where it is read. */
static void settle_let(struct settle *s, struct result *to, struct ir_op *op)
{
    const struct ir_value *v = op->let.value;
    if (v->kind == IR_RESULT && v->call->is_prepared) set_flags_of_call(s, to, v->call->binding, op->at);
    if (op->let.taken && !ir_can_fail(v)) {
        *op->let.taken = *v;
        leave_out(to, op);
        return;
    }
    op->let.taken = NULL;
    keep(to, op);
}

static void settle_condition(struct ir_condition *cond)
{
    if (cond->site && !ir_can_fail(cond->value)) cond->site = NULL;
}

static const struct symbol *symbol_that_is_set(const struct ir_op *op)
{
    return op->set.symbol ? op->set.symbol : op->set.target ? op->set.target->symbol : NULL;
}

static void settle_op(struct settle *s, struct result *to, struct ir_op *op)
{
    switch (op->kind) {
    case IR_USE: settle_use(s, to, op); return;
    case IR_SITE: settle_site(s, to, op); return;
    case IR_CHECK: settle_check(s, to, op); return;
    case IR_ALLOC: settle_alloc(s, to, op); return;
    case IR_LET: settle_let(s, to, op); return;
    case IR_SUBMIT:
    case IR_CALL: set_flags_of_call(s, to, op->call->binding, op->at); break;
    case IR_RELEASE:
        if (op->release.is_argument && op->release.why == IR_RELEASE_LEAVING &&
            !tensor_note_of(s->checked, op->release.symbol)->is_kept) {
            leave_out(to, op);
            return;
        }
        break;
    case IR_IF:
        if (!op->branch.cond.value) {
            leave_out(to, op);
            return;
        }
        settle_condition(&op->branch.cond);
        break;
    case IR_WHILE: settle_condition(&op->while_.cond); break;
    case IR_TAKE: /* its use stands before it */
        op->take.is_empty |= s->takes_first;
        s->takes_first = false;
        break;
    default: break;
    }
    keep(to, op);
    if (op->kind == IR_STORE) set_flag(s, to, op->store.view->region->base, op->at);
    if (op->kind == IR_SET) set_flag(s, to, symbol_that_is_set(op), op->at);
    if (op->kind == IR_TAKE || op->kind == IR_KEEP) set_flag(s, to, op->take.to, op->at);
}

/* The last block of the last operation is left for the caller: a chain of branches has any length. */
static struct ir_block *settle_operations(struct settle *s, struct ir_block *block);

static void settle_block(struct settle *s, struct ir_block *block)
{
    while (block) block = settle_operations(s, block);
}

static struct ir_block *settle_operations(struct settle *s, struct ir_block *block)
{
    struct ir_block *blocks[3], *rest = NULL;
    struct result to = {.block = block};
    struct ir_op *op = block->first;
    block->first = block->last = NULL;
    for (struct ir_op *next; op; op = next) {
        next = op->next;
        op->next = NULL;
        if (s->f->unwritten) settle_values(s, op);
        settle_op(s, &to, op);
        int count = ir_blocks(op, blocks);
        if (count > 0 && op->kind == IR_IF && !op->branch.cond.value) continue;
        if (count > 0 && !next) rest = blocks[--count];
        for (int i = 0; i < count; i++) settle_block(s, blocks[i]);
        if (op->kind == IR_WHILE && op->while_.test && !op->while_.test->first) op->while_.test = NULL;
    }
    return rest;
}

static void declare_flags_of_formals(struct settle *s)
{
    struct ir_block *body = s->f->body;
    const struct ast *decl = s->f->orch->decl;
    struct ir_op **link = &body->first;
    symbol_list formals = {0};
    flat_formals(s->f->orch, &formals);
    for (size_t i = 0; i < formals.count; i++) {
        if (!needs_flag(s, formals.data[i])) continue;
        struct ir_op *op = new_flag(s, formals.data[i], decl->name_at.end ? decl->name_at : decl->at);
        op->next = *link;
        *link = op;
        link = &op->next;
    }
    vec_free(&formals);
}

void pass_settle(struct checker *c, struct ir_function *f)
{
    struct settle s = {.checked = c->checked, .f = f, .mem = f->mem};
    if (diag_error_count(c->diag) > 0 || c->options->only_checks) return;
    find_checks(&s, c);
    settle_block(&s, f->body);
    declare_flags_of_formals(&s);
    f->tensors = NULL;
    f->unwritten = NULL;
    ptrmap_free(&s.written);
    if (!f->unsupported) ir_expect_valid(c->front, f, "settle");
}
