/* steps.c - a function as steps.
 * Idea       one walk over the tree: a block is a list, a call within a call a step before it, `else if` a block with
 *            an `if`.
 * Owner      the steps live in the front end's arena, as the tree does; their texts are freed by function.c.
 * Tests      test/lit/grad/
 */
#include "parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

bool grad_refuse(struct gradient *g, enum diag_id id, struct span at, const char *help, const char *format, ...)
{
    va_list args;
    STRBUF(text);
    if (g->failed) return false; /* one message for each gradient: the rest may follow from it */
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    g->failed = true;
    diag_error(g->c->diag, id, at, "%s", strbuf_text(&text));
    if (help) diag_help(g->c->diag, "%s", help);
    if (at.begin != g->at.begin || at.file != g->at.file)
        diag_note(g->c->diag, g->at, "the gradient is asked for here");
    return false;
}

struct tensor *steps_tensor(struct gradient *g, struct symbol *s)
{
    struct tensor *t = ptrmap_get(&g->tensor_of, s);
    if (t) return t;
    t = arena_new(g->mem, struct tensor);
    t->symbol = s;
    t->name = s->name;
    t->block = g->body;
    vec_push(&g->tensors, t);
    ptrmap_set(&g->tensor_of, s, t);
    return t;
}

static struct step *add(struct gradient *g, struct block *b, enum step_kind kind, struct ast *ast)
{
    struct step *s = arena_new(g->mem, struct step);
    s->kind = kind;
    s->ast = ast;
    s->in = b;
    s->before = b->last;
    s->order = (int)g->steps.count;
    *(b->last ? &b->last->next : &b->first) = s;
    b->last = s;
    vec_push(&g->steps, s);
    return s;
}

static struct block *new_block(struct gradient *g, struct step *owner)
{
    struct block *b = arena_new(g->mem, struct block);
    b->owner = owner;
    b->outer = owner ? owner->in : NULL;
    return b;
}

static void declare(struct gradient *g, struct step *s, struct symbol *symbol)
{
    ptrmap_set(&g->block_of, symbol, s->in);
    ptrmap_set(&g->step_of, symbol, s);
}

static struct tensor *declare_tensor(struct gradient *g, struct block *b, struct symbol *s)
{
    struct tensor *t = steps_tensor(g, s);
    t->block = b;
    for (int i = 0; i < s->field_count; i++) declare_tensor(g, b, s->fields[i]);
    return t;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static struct grad_place place_of(struct gradient *g, const struct region *r, struct ast *expr)
{
    /* a call makes the next value of a `var` under a hidden name, which the var takes over */
    struct symbol *base = r && r->base->next_of ? r->base->next_of : r ? r->base : NULL;
    return (struct grad_place){base ? steps_tensor(g, base) : NULL, r, expr, NULL};
}

/* target: where the result goes, or NULL: to `made`. */
static struct step *add_call(struct gradient *g, struct block *b, struct ast *ast, struct ast *e, struct ast *target,
                             struct symbol *made)
{
    struct step *s = add(g, b, STEP_CALL, ast);
    const struct call *call = s->call = call_of(e);
    const int count = call->callee->formal_count;
    s->call_ast = e;
    s->places = arena_array(g->mem, struct grad_place, count + 1);
    s->place_count = count;
    if (made && made->type->kind == TYPE_TENSOR) s->made = declare_tensor(g, b, made);
    for (int i = 0; i < count; i++) {
        struct ast *expr = i == call->result_formal ? target : call->values[i];
        s->places[i] = place_of(g, call->regions[i], expr);
        if (i == call->result_formal && s->made) s->places[i].base = s->made;
    }
    if (call->callee->kind == SYM_ORCH && call->callee->result_place && region_of(e)) {
        s->places[count] = place_of(g, region_of(e), target);
        if (s->made) s->places[count].base = s->made;
        s->place_count++;
    }
    vec_push(&g->calls, s);
    return s;
}

struct inner_calls {
    struct gradient *g;
    struct block *b;
    const struct ast *own;
};

static bool enter_any(void *cx, struct ast *n)
{
    (void)cx;
    return !ast_is_statement(n);
}

static void leave_call(void *cx, struct ast *n)
{
    const struct inner_calls *i = cx;
    const struct call *call = n->kind == AST_CALL && n != i->own ? call_of(n) : NULL;
    if (!call) return;
    struct step *s = add_call(i->g, i->b, n, n, NULL, call->result_symbol);
    if (s->made) s->made->name = text_fresh(i->g, arena_printf(i->g->mem, "%s_value", call->callee->name));
}

/* The calls within an expression come before the step that has it. */
static void read_inner(struct gradient *g, struct block *b, struct ast *e, const struct ast *own)
{
    struct inner_calls i = {g, b, own};
    ast_visit(&(struct ast_visitor){.enter = enter_any, .leave = leave_call, .cx = &i}, e);
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static void read_block(struct gradient *g, struct block *b, struct ast *list);

static struct block *read_into(struct gradient *g, struct step *s, struct ast *block)
{
    struct block *b = new_block(g, s);
    if (block && block->kind == AST_IF)
        read_block(g, b, block);
    else if (block)
        read_block(g, b, block->block.stmts);
    return b;
}

static void read_let(struct gradient *g, struct block *b, struct ast *n)
{
    struct symbol *let = n->symbol;
    struct ast *v = n->decl.value;
    const bool is_call = v && v->kind == AST_CALL && call_of(v);
    if (v) read_inner(g, b, v, is_call ? v : NULL);
    if (!let) {
        add(g, b, STEP_PLAIN, n);
    } else if (is_call) {
        struct step *s = add_call(g, b, n, v, NULL, let);
        if (!s->made) declare(g, s, let);
        if (type_is_struct(let->type)) declare_tensor(g, b, let);
    } else if (type_is_scalar(let->type)) {
        declare(g, add(g, b, STEP_SCALAR, n), let);
    } else if (!v) {
        struct step *s = add(g, b, STEP_LET, n);
        declare_tensor(g, b, let);
        declare(g, s, let);
    } else {
        declare(g, add(g, b, STEP_ALIAS, n), let);
    }
}

static void read_assign(struct gradient *g, struct block *b, struct ast *n)
{
    struct ast *target = n->assign.target, *v = n->assign.value;
    const bool is_call = v->kind == AST_CALL && call_of(v);
    read_inner(g, b, target, NULL);
    read_inner(g, b, v, is_call ? v : NULL);
    if (is_call && v->type && v->type->kind == TYPE_TENSOR)
        add_call(g, b, n, v, target, NULL);
    else if (is_call)
        add_call(g, b, n, v, target, NULL);
    else
        add(g, b, target->type && type_is_scalar(target->type) ? STEP_SCALAR : STEP_PLAIN, n);
}

static void read_return(struct gradient *g, struct block *b, struct ast *n)
{
    struct ast *v = n->ret.value;
    if (v && v->kind == AST_CALL && call_of(v)) {
        read_inner(g, b, v, v);
        struct step *s = add_call(g, b, n, v, NULL, g->orch->result_place);
        if (s->made) {
            s->made->name = text_fresh(g, "result");
            g->result = s->made;
        }
        s = add(g, b, STEP_RETURN, n);
        return;
    }
    if (v) read_inner(g, b, v, NULL);
    if (v && v->type && v->type->kind == TYPE_TENSOR && region_of(v)) g->result = steps_tensor(g, region_of(v)->base);
    add(g, b, STEP_RETURN, n);
}

static void read_match(struct gradient *g, struct block *b, struct ast *n)
{
    int count = 0;
    read_inner(g, b, n->match.value, NULL);
    struct step *s = add(g, b, STEP_MATCH, n);
    for (struct ast *a = n->match.arms; a; a = a->next) count++;
    s->blocks = arena_array(g->mem, struct block *, count + 1);
    for (struct ast *a = n->match.arms; a; a = a->next) s->blocks[s->block_count++] = read_into(g, s, a->arm.body);
    if (n->match.other) s->blocks[s->block_count++] = read_into(g, s, n->match.other);
}

static void read_compound(struct gradient *g, struct block *b, struct ast *n, enum step_kind kind, struct ast *first,
                          struct ast *second)
{
    struct step *s = add(g, b, kind, n);
    s->blocks = arena_array(g->mem, struct block *, 2);
    s->blocks[s->block_count++] = read_into(g, s, first);
    if (kind == STEP_IF) s->blocks[s->block_count++] = read_into(g, s, second);
    if (kind == STEP_FOR && n->symbol) declare(g, s, n->symbol);
}

/* Numbers that leave no iteration: nothing inside is ever needed. */
static bool never_runs(const struct ast *loop)
{
    int64_t low, high, step = 1;
    const struct ast *by = loop->loop.step;
    if (!loop->loop.low->value || !size_is_const(loop->loop.low->value, &low)) return false;
    if (!loop->loop.high->value || !size_is_const(loop->loop.high->value, &high)) return false;
    if (by && (!by->value || !size_is_const(by->value, &step))) return false;
    return step > 0 ? high <= low : high >= low;
}

static void read_statement(struct gradient *g, struct block *b, struct ast *n)
{
    switch (n->kind) {
    case AST_LET:
    case AST_VAR: read_let(g, b, n); break;
    case AST_VIEW:
        if (n->symbol) declare(g, add(g, b, STEP_ALIAS, n), n->symbol);
        break;
    case AST_EXPR_STMT: {
        struct ast *e = n->expr_stmt.expr;
        const bool is_call = e->kind == AST_CALL && call_of(e);
        read_inner(g, b, e, is_call ? e : NULL);
        if (is_call)
            add_call(g, b, n, e, NULL, call_of(e)->result_symbol);
        else
            add(g, b, STEP_PLAIN, n);
        break;
    }
    case AST_ASSIGN: read_assign(g, b, n); break;
    case AST_FOR:
        if (never_runs(n)) {
            add(g, b, STEP_PLAIN, n);
            break;
        }
        read_inner(g, b, n->loop.low, NULL);
        read_inner(g, b, n->loop.high, NULL);
        read_compound(g, b, n, STEP_FOR, n->loop.body, NULL);
        break;
    case AST_WHILE:
    case AST_DO_WHILE: read_compound(g, b, n, STEP_WHILE, n->while_.body, NULL); break;
    case AST_IF:
        read_inner(g, b, n->if_.cond, NULL);
        read_compound(g, b, n, STEP_IF, n->if_.then, n->if_.other);
        break;
    case AST_MATCH: read_match(g, b, n); break;
    case AST_SCOPE: read_compound(g, b, n, STEP_BLOCK, n->scope.body, NULL); break;
    case AST_BLOCK: read_compound(g, b, n, STEP_BLOCK, n, NULL); break;
    case AST_DROP: add(g, b, STEP_DROP, n); break;
    case AST_RETURN: read_return(g, b, n); break;
    default: add(g, b, STEP_PLAIN, n); break;
    }
}

static void read_block(struct gradient *g, struct block *b, struct ast *list)
{
    if (list && list->kind == AST_IF && b->owner && b->owner->kind == STEP_IF && list == b->owner->ast->if_.other) {
        read_statement(g, b, list); /* `else if`: what follows it in its list is not of this block */
        return;
    }
    for (struct ast *n = list; n; n = n->next) read_statement(g, b, n);
}

/* The loop variable of a FOR is a SYM_LOOP whose declaration it is. */
bool steps_read(struct gradient *g)
{
    g->body = new_block(g, NULL);
    for (int i = 0; i < g->orch->formal_count; i++) {
        struct symbol *f = g->orch->formals[i];
        if (f->type->kind == TYPE_TENSOR || type_is_struct(f->type)) declare_tensor(g, g->body, f)->is_formal = true;
        for (int k = 0; k < f->field_count; k++) steps_tensor(g, f->fields[k])->is_formal = true;
    }
    read_block(g, g->body, g->orch->decl->orch.body->block.stmts);
    for (size_t i = 0; i < g->steps.count; i++) {
        struct step *s = g->steps.data[i];
        if (s->kind != STEP_RETURN) continue;
        if (s != g->body->last)
            return grad_refuse(g, DIAG_E22, s->ast->at, "let the one 'return' be the last statement of the function",
                               "'%s' returns before its end, and the backward pass begins there", g->orch->name);
        g->returns = s;
    }
    if (g->result) g->result->is_result = true;
    return !g->failed;
}

int steps_loops(const struct block *b, const struct block *inside, const struct step **loops)
{
    int count = 0;
    const struct step *found[MAX_LOOPS];
    for (; b && b != inside && count < MAX_LOOPS; b = b->outer)
        if (b->owner && (b->owner->kind == STEP_FOR || b->owner->kind == STEP_WHILE)) found[count++] = b->owner;
    for (int i = 0; i < count; i++) loops[i] = found[count - 1 - i];
    return count;
}

struct step *steps_outermost(const struct gradient *g, struct step *s)
{
    while (s->in != g->body) s = s->in->owner;
    return s;
}
