/* emit_stmt.c - statements of functions, one function for one kind.
 * Idea       a block of the language is a block of C; where it holds tensors it is a run-time scope too, and whatever leaves it
 *            early (break, continue, return) ends the scopes it leaves.
 * Invariant  pto_scope_begin and pto_scope_end balance on every path; unwinding by a failure needs neither.
 * Tests      test/lit/codegen/scopes.pto, loops.pto; test/lit/run/statements.pto
 */
#include "emit.h"
#include "frames.h"
#include <inttypes.h>
#include <string.h>

static void emit_statement(struct emitter *e, struct ast *n);

/* ---- blocks and scopes ---- */

const char *scope_reference(struct emitter *e, const struct symbol *tensor, bool always)
{
    bool current = true; /* does no scope stand between here and the block that names the tensor? */
    for (struct open_block *o = e->block; o; o = o->parent) {
        const struct block_plan *plan = ptrmap_get(&e->plan->blocks, o->block);
        for (size_t i = 0; i < plan->tensors.count; i++)
            if (plan->tensors.data[i] == tensor) {
                if (current && !always) return NULL;
                ptrmap_set(&e->used, o->block, o);
                return o->scope_name;
            }
        if (o->has_scope) current = false;
    }
    return NULL;
}

static const char *comment_of(struct emitter *e, const struct block_plan *plan)
{
    struct strbuf b = {0};
    for (size_t i = 0; i < plan->tensors.count; i++) {
        const struct symbol *s = plan->tensors.data[i];
        strbuf_printf(&b, "%s%s", i ? ", " : "", s->name);
        if (s->hidden) strbuf_puts(&b, "()");
    }
    const char *text = b.length ? arena_printf(e->mem, " /* holds %s */", strbuf_text(&b)) : "";
    strbuf_free(&b);
    return text;
}

static struct span last_byte(struct span at)
{
    return (struct span){at.file, at.end ? at.end - 1 : 0, at.end};
}

/* Lives that end here, before their scope does: what still reads these tensors keeps them. */
void emit_ends(struct emitter *e, const symbol_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const bool is_formal = list->data[i]->kind == SYM_FORMAL; /* moved in: who moved it may have had it from outside */
        if (slot_of(e->plan, list->data[i])) continue; /* it goes with its frame */
        out_line(e->out, is_formal ? "pto_drop(rt, &%s);" : "pto_release(rt, %s);", emit_name(e, list->data[i]));
    }
}

static void emit_ends_at(struct emitter *e, struct span at, const symbol_list *list)
{
    if (list->count > 0) emit_at(e, at);
    emit_ends(e, list);
}

static bool jumps_away(const struct ast *n)
{
    if (!n) return false;
    while (n->next) n = n->next;
    return n->kind == AST_RETURN || n->kind == AST_BREAK || n->kind == AST_CONTINUE;
}

void scope_begin(struct emitter *e, struct open_block *open, const struct block_plan *plan, struct span at)
{
    open->has_scope = true;
    open->scope_name = names_take(&e->names, "scope");
    emit_at(e, at);
    if (ptrmap_get(&e->used, open->block))
        out_line(e->out, "const PTOScope %s = pto_scope_begin(rt);%s", open->scope_name, comment_of(e, plan));
    else
        out_line(e->out, "pto_scope_begin(rt);%s", comment_of(e, plan));
}

/* The inside of a block; the braces are the caller's. */
static void emit_block(struct emitter *e, struct ast *n, bool is_loop, bool is_explicit, struct span at)
{
    const struct block_plan *plan = ptrmap_get(&e->plan->blocks, n);
    const struct frame_plan *frame = n == e->function->decl->orch.body ? frame_of(e->plan, e->function) : NULL;
    const bool has_frame = frame && frame->bytes;
    struct open_block open = {
        .parent = e->block, .block = n, .is_loop = is_loop, .names_mark = names_mark(&e->names),
    };
    if (is_explicit || plan->tensors.count > 0) scope_begin(e, &open, plan, at);
    e->block = &open;
    if (has_frame) frame_emit(e);
    const struct end_plan *ends = ptrmap_get(&e->plan->ends, n);
    if (ends) emit_ends_at(e, n->at, &ends->before);
    for (struct ast *s = n->block.stmts; s; s = s->next) {
        emit_statement(e, s);
        ends = ptrmap_get(&e->plan->ends, s);
        if (ends) emit_ends_at(e, last_byte(s->at), &ends->behind);
    }
    if (open.has_scope && !jumps_away(n->block.stmts)) {
        emit_at(e, last_byte(n->at));
        out_line(e->out, "pto_scope_end(rt);");
    }
    e->block = open.parent;
    names_close(&e->names, open.names_mark);
}

static void emit_braced(struct emitter *e, struct ast *block, bool is_loop)
{
    e->out->depth++;
    emit_block(e, block, is_loop, false, block->at);
    e->out->depth--;
}

/* Ends the scopes up to the innermost loop, or all of them. */
static void leave_scopes(struct emitter *e, bool all)
{
    for (struct open_block *o = e->block; o; o = o->parent) {
        if (o->has_scope) out_line(e->out, "pto_scope_end(rt);");
        if (o->is_loop && !all) return;
    }
}

/* ---- values ---- */

/* The text of a scalar value; what must go before it is printed. */
static void print_value(struct emitter *e, struct strbuf *b, struct ast *n, const struct type *t, const char *what)
{
    expr_prepare(e, n);
    e->uses_rt = false;
    expr_print_as(e, b, n, t ? t : n->type, P_ANY);
    if (e->uses_rt) emit_mark_site(e, n->at, what); // the caller prints the text behind it
}

/* A condition that is evaluated again and again: it marks its own place. */
static void print_condition(struct emitter *e, struct strbuf *b, struct ast *n)
{
    struct strbuf text = {0};
    e->uses_rt = false;
    expr_print(e, &text, n, P_ANY);
    if (e->uses_rt)
        strbuf_printf(b, "pto_at(rt, &sites[%d]), %s", emit_site(e, n->at, "condition"), strbuf_text(&text));
    else
        strbuf_puts(b, strbuf_text(&text));
    strbuf_free(&text);
}

static bool visit_changing(void *cx, struct ast *n)
{
    bool variable = (n->kind == AST_NAME || n->kind == AST_MEMBER) && n->symbol && (n->symbol->kind == SYM_VAR || n->symbol->region);
    if (variable || n->kind == AST_AWAIT || n->kind == AST_INDEX || (n->kind == AST_CALL && call_of(n)))
        *(bool *)cx = true;
    return true;
}

/* May C evaluate it again on every turn of a loop?  Only what is cheap, cannot fail and does not change. */
static bool is_stable(const struct emitter *e, struct ast *n)
{
    bool changes = false;
    ast_walk(n, visit_changing, &changes);
    return !changes && !e->uses_rt;
}

void emit_statement_checks(struct emitter *e, const struct ast *n, const char *what)
{
    if (!checks_of(n)) return;
    if (!checks_of(n)->guard) emit_mark_site(e, n->at, what); /* those of a loop's turns have places of their own */
    check_print_statements(e, checks_of(n), NULL);
}

/* Sizes that name a `var` are taken now: the var may change, what was sized by it does not. */
void sizes_capture(struct emitter *e, const struct symbol *s)
{
    for (int i = 0; s && s->captured[i]; i++) {
        struct strbuf b = {0};
        print_size(e, &b, s->captured[i], P_ANY, ARITH_CHECKED);
        const char *name = names_take(&e->names, arena_printf(e->mem, "%s_n%d", s->name, i));
        ptrmap_set(&e->c_names, &s->captured[i], (void *)name);
        out_line(e->out, "const int64_t %s = %s;", name, strbuf_text(&b));
        if (!ptrmap_get(&e->used, &s->captured[i])) out_line(e->out, "(void)%s;", name);
        strbuf_free(&b);
    }
}

/* ---- statements ---- */

static void emit_alloc(struct emitter *e, const struct ast *n, const struct symbol *s)
{
    struct strbuf b = {0};
    print_bytes(e, &b, s->type);
    emit_mark_site(e, n->name_at.end ? n->name_at : n->at, s->name);
    const char *ret = s->place ? result_name(e, s) : NULL;
    if (ret)
        out_line(e->out, "if (*(void **)%s.ref == NULL) *(void **)%s.ref = pto_alloc%s(rt, %s.scope, %s);", ret, ret,
                 type_is_scalar_array(s->type) ? "_zeroed" : "", ret, strbuf_text(&b));
    if (ret && type_is_scalar_array(s->type))
        out_line(e->out, "pto_clear_elements(rt, *(void **)%s.ref, %s.at, sizeof(%s), %s);", ret, ret, c_elem_type(s->type->elem), strbuf_text(&b));
    if (slot_of(e->plan, s))
        out_line(e->out, "if (!%s) %s = pto_alloc(rt, PTO_SCOPE_CURRENT, %s);", emit_name(e, s), emit_name(e, s), strbuf_text(&b));
    else if (!ret)
        out_line(e->out, "%s = pto_alloc%s(rt, PTO_SCOPE_CURRENT, %s);", (const char *)ptrmap_get(&e->c_names, s), type_is_scalar_array(s->type) ? "_zeroed" : "", strbuf_text(&b));
    strbuf_free(&b);
}

/* A tensor, or a struct with all that it is made of. */
static void emit_let_tensors(struct emitter *e, struct ast *n, struct symbol *s)
{
    struct ast *value = n->decl.value;
    bool is_new = !s->region && !s->alias_of, call = value && value->kind == AST_CALL && is_new;
    symbol_list leaves = {0};
    type_prepare(e, n->decl.type);
    if (value && !call) place_prepare(e, value);
    emit_statement_checks(e, n, s->name);
    if (!call) sizes_capture(e, s);
    if (!is_new)
        return; /* another name for a piece of another tensor, or for another struct */
    call_declare_new(e, s);
    symbol_leaves(s, &leaves);
    for (size_t i = 0; i < leaves.count; i++) {
        const struct symbol *leaf = leaves.data[i];
        if (leaf->needs_alloc) emit_alloc(e, n, leaf);
        else if (type_is_scalar(leaf->type) && leaf->place) out_line(e->out, "*%s = 0;", emit_name(e, leaf->place));
    }
    vec_free(&leaves);
    if (call) call_emit(e, value, NULL);
}

static void emit_scalar(struct emitter *e, struct ast *n, const struct symbol *s)
{
    bool is_let = n->kind == AST_LET;
    if (is_let && s->has_value && !ptrmap_get(&e->used, s))
        return; /* a constant: its value stands wherever its name does */
    emit_statement_checks(e, n, s->name);
    struct strbuf b = {0};
    print_value(e, &b, n->decl.value, s->type, s->name);
    const char *name = emit_declare(e, s, s->name); /* after its value: a name of before may be meant there */
    out_line(e->out, "%s%s %s = %s;", is_let ? "const " : "", c_scalar_type(s->type), name, strbuf_text(&b));
    if (!ptrmap_get(&e->used, s)) out_line(e->out, "(void)%s;", name);
    strbuf_free(&b);
}

static void emit_let(struct emitter *e, struct ast *n)
{
    const struct symbol *s = n->symbol;
    if (type_is_scalar(s->type))
        emit_scalar(e, n, s);
    else
        emit_let_tensors(e, n, n->symbol);
}

/* An array of scalars that no call has seen is this function's alone: no task uses its elements. */
static void emit_element(struct emitter *e, struct ast *n)
{
    const struct region *r = region_of(n->assign.target);
    const char *type = c_elem_type(r->base->type->elem);
    struct strbuf value = {0}, place = {0};
    bool alone = r->base->kind == SYM_LET && !r->base->is_lent;
    print_value(e, &value, n->assign.value, n->assign.target->type, "assignment");
    strbuf_printf(&place, alone ? "((%s *)" : "*(%s *)pto_own_element(rt, ", type);
    print_base(e, &place, r);
    strbuf_puts(&place, alone ? ")[" : ", ");
    print_size(e, &place, r->offset, P_ANY, ARITH_PLAIN);
    if (alone) strbuf_putc(&place, ']');
    else strbuf_printf(&place, ", sizeof(%s))", type);
    emit_statement_checks(e, n->assign.target, "assignment");
    if (!alone) emit_mark_site(e, n->at, "assignment");
    out_line(e->out, "%s = %s;", strbuf_text(&place), strbuf_text(&value));
    if (r->base->needs_flag) out_line(e->out, "%s = true;", check_flag(e, r->base));
    strbuf_free(&place);
    strbuf_free(&value);
}

static void emit_assign(struct emitter *e, struct ast *n)
{
    const struct symbol *s = n->assign.target->kind == AST_NAME || n->assign.target->kind == AST_MEMBER ? n->assign.target->symbol : NULL;
    place_prepare(e, n->assign.target);
    emit_statement_checks(e, n, "assignment");
    if (s && s->kind == SYM_VAR && !region_of(n->assign.target)) {
        struct strbuf b = {0}, place = {0};
        print_value(e, &b, n->assign.value, s->type, s->name);
        if (s->place || s->by_reference) print_symbol(e, &place, s, P_UNARY);
        else strbuf_puts(&place, ptrmap_get(&e->c_names, s)); /* which is no use of it */
        out_line(e->out, "%s = %s;", strbuf_text(&place), strbuf_text(&b));
        if (s->needs_flag) out_line(e->out, "%s = true;", check_flag(e, s));
        strbuf_free(&place);
        strbuf_free(&b);
    } else if (type_is_scalar(n->assign.target->type)) {
        emit_element(e, n);
    } else if (n->assign.value->kind == AST_CALL && call_of(n->assign.value)) {
        if (call_of(n->assign.value)->result_symbol && call_of(n->assign.value)->result_symbol->hidden)
            call_declare_new(e, call_of(n->assign.value)->result_symbol);
        call_emit(e, n->assign.value, NULL);
    } else {
        emit_unsupported(e, n->at, "this assignment");
    }
}

static void emit_expr_stmt(struct emitter *e, struct ast *n)
{
    struct ast *call = n->expr_stmt.expr;
    emit_statement_checks(e, n, "call");
    if (call->kind != AST_CALL || !call_of(call)) {
        emit_unsupported(e, n->at, "this statement");
        return;
    }
    const struct symbol *made = call_of(call)->result_symbol;
    if (made && made->hidden) call_declare_new(e, made);
    if (call->type && type_is_scalar(call->type)) {
        struct strbuf b = {0};
        print_value(e, &b, call, NULL, call_of(call)->callee->name);
        out_line(e->out, "(void)%s;", strbuf_text(&b));
        strbuf_free(&b);
    } else {
        call_emit(e, call, NULL);
    }
}

/* ---- loops ---- */

static void emit_loop_bound(struct emitter *e, struct strbuf *b, struct ast *n, const char *loop, const char *what,
                            enum precedence prec)
{
    expr_prepare(e, n);
    e->uses_rt = false;
    expr_print(e, b, n, prec);
    if (e->uses_rt) emit_mark_site(e, n->at, "for");
    if (ptrmap_get(&e->hoisted, n) || is_stable(e, n)) return;
    const char *name = names_take(&e->names, arena_printf(e->mem, "%s_%s", loop, what));
    out_line(e->out, "const int64_t %s = %s;", name, strbuf_text(b));
    strbuf_free(b);
    strbuf_puts(b, name);
}

/* for (...) with a step other than one that is known.  Where the variable could leave 64 bits behind the last turn, that turn sets
 * it to the end instead. */
static bool emit_for_step(struct emitter *e, const struct ast *n, int64_t step, const char *name, const char *low, const char *high)
{
    struct interval first = range_of_expr(e->plan, n->loop.low), end = range_of_expr(e->plan, n->loop.high);
    bool step_fits, distance_fits;
    range_apply(OP_ADD, end, (struct interval){step, step}, &step_fits);
    if (step > 0) range_apply(OP_SUB, (struct interval){end.hi, end.hi}, (struct interval){first.lo, first.lo}, &distance_fits);
    else range_apply(OP_SUB, (struct interval){first.hi, first.hi}, (struct interval){end.lo, end.lo}, &distance_fits);
    char sign = step > 0 ? '+' : '-', compare = step > 0 ? '<' : '>';
    int64_t by = step > 0 ? step : -step;
    if (step_fits)
        out_line(e->out, "for (int64_t %s = %s; %s %c %s; %s %c= %" PRId64 ") {", name, low, name, compare, high, name, sign, by);
    else if (distance_fits)
        out_line(e->out, "for (int64_t %s = %s; %s %c %s; %s = %s - %s > %" PRId64 " ? %s %c %" PRId64 " : %s) {", name, low, name,
                 compare, high, name, step > 0 ? high : name, step > 0 ? name : high, by, name, sign, by, high);
    return step_fits || distance_fits;
}

/* for (...) with the turns counted before the first. */
static void emit_for_counted(struct emitter *e, const struct ast *n, const char *name, const char *low, const char *high, const char *by)
{
    const char *turns = names_take(&e->names, arena_printf(e->mem, "%s_turns", n->name));
    const char *turn = names_take(&e->names, arena_printf(e->mem, "%s_turn", n->name));
    emit_mark_site(e, n->at, "for");
    out_line(e->out, "for (uint64_t %s = 0, %s = pto_trip_count(rt, %s, %s, %s); %s < %s; %s++) {", turn, turns, low, high, by, turn,
             turns, turn);
    e->out->depth++;
    out_line(e->out, "const int64_t %s = pto_turn(%s, %s, %s);", name, low, by, turn);
    e->out->depth--;
}

static void emit_for(struct emitter *e, struct ast *n)
{
    int64_t step = 1;
    const struct symbol *s = n->symbol;
    bool known = !n->loop.step || (n->loop.step->value && size_is_const(n->loop.step->value, &step));
    struct strbuf low = {0}, high = {0}, by = {0};
    emit_loop_bound(e, &low, n->loop.low, s->name, "first", P_ANY);
    emit_loop_bound(e, &high, n->loop.high, s->name, "end", P_ADD);
    if (known) print_int(&by, step, P_ANY);
    else emit_loop_bound(e, &by, n->loop.step, s->name, "step", P_ANY);
    emit_statement_checks(e, n, "for");
    const size_t mark = names_mark(&e->names); /* the bounds' variables stand before the loop and stay taken */
    const char *name = emit_declare(e, s, s->name);
    emit_at(e, n->at);
    if (known && (step == 1 || step == -1))
        out_line(e->out, "for (int64_t %s = %s; %s %c %s; %s%s) {", name, strbuf_text(&low), name, step > 0 ? '<' : '>',
                 strbuf_text(&high), name, step > 0 ? "++" : "--");
    else if (!known || step == 0 || step == INT64_MIN || !emit_for_step(e, n, step, name, strbuf_text(&low), strbuf_text(&high)))
        emit_for_counted(e, n, name, strbuf_text(&low), strbuf_text(&high), strbuf_text(&by));
    if (!ptrmap_get(&e->used, s)) {
        e->out->depth++;
        out_line(e->out, "(void)%s;", name);
        e->out->depth--;
    }
    emit_braced(e, n->loop.body, true);
    out_line(e->out, "}");
    names_close(&e->names, mark);
    strbuf_free(&low);
    strbuf_free(&high);
    strbuf_free(&by);
}

/* A condition that needs statements: `for (;;) { ...; if (!c) break; ... }`.  A `continue` comes to it as the language says. */
static void emit_prepared_while(struct emitter *e, struct ast *n)
{
    struct strbuf b = {0};
    bool first = n->kind == AST_WHILE;
    const size_t mark = names_mark(&e->names);
    const char *begin = first ? NULL : names_take(&e->names, "first");
    if (first) out_line(e->out, "for (;;) {");
    else out_line(e->out, "for (bool %s = true;; %s = false) {", begin, begin);
    if (!first) out_line(e->out, "    if (!%s) {", begin);
    e->out->depth += first ? 1 : 2;
    print_value(e, &b, n->while_.cond, NULL, "condition");
    bool plain = strspn(strbuf_text(&b), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == b.length;
    out_line(e->out, plain ? "if (!%s) break;" : "if (!(%s)) break;", strbuf_text(&b));
    e->out->depth -= first ? 1 : 2;
    if (!first) out_line(e->out, "    }");
    emit_braced(e, n->while_.body, true);
    out_line(e->out, "}");
    names_close(&e->names, mark);
    strbuf_free(&b);
}

static void emit_while(struct emitter *e, struct ast *n)
{
    struct strbuf b = {0};
    if (expr_needs_statements(n->while_.cond)) {
        emit_prepared_while(e, n);
        return;
    }
    print_condition(e, &b, n->while_.cond);
    emit_at(e, n->at);
    if (n->kind == AST_WHILE) {
        out_line(e->out, "while (%s) {", strbuf_text(&b));
        emit_braced(e, n->while_.body, true);
        out_line(e->out, "}");
    } else {
        out_line(e->out, "do {");
        emit_braced(e, n->while_.body, true);
        emit_at(e, n->while_.cond->at);
        out_line(e->out, "} while (%s);", strbuf_text(&b));
    }
    strbuf_free(&b);
}

/* ---- branches ---- */

static bool has_release(const struct emitter *e, const symbol_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!slot_of(e->plan, list->data[i])) return true;
    return false;
}

static void emit_missing_else(struct emitter *e, const struct ast *n)
{
    const struct end_plan *ends = ptrmap_get(&e->plan->ends, n);
    if (!ends || !has_release(e, &ends->other)) return;
    out_line(e->out, "} else {");
    e->out->depth++;
    emit_ends_at(e, last_byte(n->at), &ends->other);
    e->out->depth--;
}

static void emit_if(struct emitter *e, struct ast *n)
{
    struct strbuf b = {0};
    emit_at(e, n->at);
    emit_statement_checks(e, n, "if");
    print_value(e, &b, n->if_.cond, NULL, "if");
    out_line(e->out, "if (%s) {", strbuf_text(&b));
    emit_braced(e, n->if_.then, false);
    struct ast *other = n->if_.other, *last = n;
    while (other && other->kind == AST_IF && !expr_needs_statements(other->if_.cond) && !checks_of(other)) {
        strbuf_free(&b);
        print_condition(e, &b, other->if_.cond);
        emit_at(e, other->at);
        out_line(e->out, "} else if (%s) {", strbuf_text(&b));
        emit_braced(e, other->if_.then, false);
        last = other;
        other = other->if_.other;
    }
    if (!other) emit_missing_else(e, last);
    if (other) {
        out_line(e->out, "} else {");
        if (other->kind == AST_IF) {
            const size_t mark = names_mark(&e->names);
            e->out->depth++;
            emit_if(e, other);
            e->out->depth--;
            names_close(&e->names, mark);
        } else {
            emit_braced(e, other, false);
        }
    }
    out_line(e->out, "}");
    strbuf_free(&b);
}

static bool arm_needs_statements(const struct ast *arm)
{
    for (struct ast *v = arm->arm.values; v; v = v->next)
        if (expr_needs_statements(v)) return true;
    return false;
}

/* Values are looked at one after the other, until one is equal. */
static void print_prepared_arm(struct emitter *e, struct strbuf *b, const struct ast *arm, const char *value)
{
    const char *equal = names_take(&e->names, "equal");
    for (struct ast *v = arm->arm.values; v; v = v->next) {
        struct strbuf text = {0};
        const size_t mark = names_mark(&e->names);
        bool is_first = v == arm->arm.values;
        if (is_first) out_line(e->out, "bool %s = false;", equal);
        out_line(e->out, is_first ? "{" : "if (!%s) {", equal);
        e->out->depth++;
        expr_prepare(e, v);
        e->uses_rt = false;
        expr_print(e, &text, v, P_EQ + 1);
        if (e->uses_rt) emit_mark_site(e, v->at, "match");
        out_line(e->out, "%s = %s == %s;", equal, value, strbuf_text(&text));
        e->out->depth--;
        out_line(e->out, "}");
        names_close(&e->names, mark);
        strbuf_free(&text);
    }
    strbuf_puts(b, equal);
}

static void print_arm(struct emitter *e, struct strbuf *b, const struct ast *arm, const char *value)
{
    e->uses_rt = false;
    for (struct ast *v = arm->arm.values; v; v = v->next) {
        strbuf_printf(b, "%s%s == ", v == arm->arm.values ? "" : " || ", value);
        expr_print(e, b, v, P_EQ + 1);
    }
    if (!e->uses_rt) return;
    struct strbuf marked = {0};
    strbuf_printf(&marked, "pto_at(rt, &sites[%d]), %s", emit_site(e, arm->arm.values->at, "match"), strbuf_text(b));
    strbuf_free(b);
    *b = marked;
}

static void emit_match(struct emitter *e, struct ast *n)
{
    struct strbuf b = {0};
    int open = 0; /* braces of arms that need statements between the `else` and their `if` */
    print_value(e, &b, n->match.value, NULL, "match");
    const char *name = names_take(&e->names, "value");
    out_line(e->out, "const %s %s = %s;", c_scalar_type(n->match.value->type), name, strbuf_text(&b));
    if (!n->match.arms) out_line(e->out, "(void)%s;", name);
    strbuf_free(&b);
    for (struct ast *arm = n->match.arms; arm; arm = arm->next) {
        bool is_first = arm == n->match.arms, prepared = arm_needs_statements(arm);
        if (prepared && !is_first) {
            out_line(e->out, "} else {");
            e->out->depth++;
            open++;
        }
        if (prepared) print_prepared_arm(e, &b, arm, name);
        else print_arm(e, &b, arm, name);
        emit_at(e, arm->at);
        out_line(e->out, prepared || is_first ? "if (%s) {" : "} else if (%s) {", strbuf_text(&b));
        strbuf_free(&b);
        emit_braced(e, arm->arm.body, false);
    }
    if (n->match.other) {
        out_line(e->out, n->match.arms ? "} else {" : "{");
        emit_braced(e, n->match.other, false);
    } else {
        emit_missing_else(e, n);
    }
    if (n->match.arms || n->match.other) out_line(e->out, "}");
    for (; open > 0; open--) {
        e->out->depth--;
        out_line(e->out, "}");
    }
}

static void emit_scope(struct emitter *e, struct ast *n)
{
    const char *label = n->scope.label && n->scope.label->string.text ? n->scope.label->string.text : NULL;
    const char *text = label ? arena_printf(e->mem, "scope \"%s\"", label) : "scope";
    out_line(e->out, "{");
    e->out->depth++;
    emit_mark_site(e, n->at, text);
    emit_block(e, n->scope.body, false, true, n->at);
    e->out->depth--;
    out_line(e->out, "}");
}

/* ---- the rest ---- */

static void emit_drop(struct emitter *e, struct ast *n)
{
    for (struct ast *name = n->drop.names; name; name = name->next) {
        symbol_list leaves = {0};
        symbol_leaves(name->symbol, &leaves);
        emit_mark_site(e, name->at, "drop");
        for (size_t i = 0; i < leaves.count; i++) {
            const struct symbol *s = leaves.data[i];
            if (s->type->kind != TYPE_TENSOR) continue;
            if (tensor_is_new(s) && !s->returned) out_line(e->out, "pto_release(rt, %s);", emit_name(e, s));
            else if (s->kind == SYM_FORMAL) out_line(e->out, "pto_drop(rt, &%s);", emit_name(e, s));
            else emit_unsupported(e, name->at, "dropping this name");
        }
        vec_free(&leaves);
    }
}

static bool is_part_of(const struct symbol *s, const struct symbol *whole)
{
    for (int i = 0; whole && i < whole->field_count; i++)
        if (is_part_of(s, whole->fields[i])) return true;
    return s == whole;
}

/* The end of the function: what was moved in ends here, unless it went on before. */
static void emit_leave(struct emitter *e, const struct symbol *returned)
{
    symbol_list formals = {0};
    flat_formals(e->function, &formals);
    for (size_t i = 0; i < formals.count; i++) {
        const struct symbol *s = formals.data[i];
        if (s->dir == DIR_OWN && s->type->kind == TYPE_TENSOR && s->is_kept && !is_part_of(s, returned))
            out_line(e->out, "pto_drop(rt, &%s);", emit_name(e, s));
    }
    vec_free(&formals);
    out_line(e->out, "pto_leave(rt);");
}

/* A tensor or a scalar of this function that does not lie where the caller wants it. */
static void emit_return_leaf(struct emitter *e, const struct symbol *s, const struct symbol *place)
{
    struct strbuf b = {0};
    if (type_is_scalar(s->type)) {
        strbuf_printf(&b, "*%s = ", emit_name(e, place));
        print_symbol(e, &b, s, P_ANY);
        out_line(e->out, "%s;", strbuf_text(&b));
    } else {
        const struct region *r = region_of_all(e, s);
        strbuf_printf(&b, "pto_return_tensor(rt, &%s, &(PTOTaskParam)PTO_INPUT(", emit_name(e, place));
        print_base(e, &b, r);
        strbuf_puts(&b, ", ");
        print_size(e, &b, r->offset, P_ANY, ARITH_PLAIN);
        strbuf_puts(&b, ", ");
        print_view(e, &b, r);
        strbuf_puts(&b, "));");
        out_line(e->out, "%s", strbuf_text(&b));
    }
    strbuf_free(&b);
}

static void emit_return_name(struct emitter *e, const struct ast *value)
{
    symbol_list leaves = {0}, places = {0};
    if (value->symbol->returned) return; /* it lies there already */
    emit_mark_site(e, value->at, "return");
    symbol_leaves(value->symbol, &leaves);
    flat_results(e->function, &places);
    for (size_t i = 0; i < leaves.count; i++) emit_return_leaf(e, leaves.data[i], places.data[i]);
    vec_free(&leaves);
    vec_free(&places);
}

static void emit_return(struct emitter *e, struct ast *n)
{
    struct ast *value = n->ret.value;
    bool scalar = value && type_is_scalar(e->function->result);
    const char *name = NULL;
    emit_statement_checks(e, n, "return");
    if (scalar) {
        struct strbuf b = {0};
        print_value(e, &b, value, e->function->result, "return");
        name = names_take(&e->names, "result");
        out_line(e->out, "const %s %s = %s;", c_scalar_type(e->function->result), name, strbuf_text(&b));
        strbuf_free(&b);
    } else if (value && value->kind == AST_CALL && call_of(value)) {
        call_emit(e, value, NULL);
    } else if (value) {
        emit_return_name(e, value);
    }
    emit_at(e, n->at);
    leave_scopes(e, true);
    emit_leave(e, value && !scalar && value->kind == AST_NAME ? value->symbol : NULL);
    if (scalar) out_line(e->out, "return %s;", name);
    else if (e->block->parent || n->next) out_line(e->out, "return;"); /* else the function ends here anyway */
}

static void emit_assert(struct emitter *e, struct ast *n)
{
    struct strbuf cond = {0}, format = {0}, args = {0};
    const struct ast *message = n->check.message;
    expr_prepare(e, n->check.cond);
    emit_mark_site(e, n->at, "assert");
    strbuf_puts(&cond, "!");
    expr_print(e, &cond, n->check.cond, P_POSTFIX);
    strbuf_puts(&format, "[E20] ");
    if (message) {
        print_format_text(&format, message->string.text);
    } else {
        strbuf_puts(&format, "assertion failed: ");
        print_format_text(&format, emit_source_text(e, n->check.cond->at));
    }
    print_values_named(e, n->check.cond, &format, &args);
    out_line(e->out, "if (%s)", strbuf_text(&cond));
    out_more(e->out, "pto_raise(rt, PTO_ERR_ASSERT, %s%s);", c_string(e, strbuf_text(&format)), strbuf_text(&args));
    strbuf_free(&cond);
    strbuf_free(&format);
    strbuf_free(&args);
}

/* Attributes are those of the statement's own call, not of calls among its arguments. */
static void note_attributes(struct emitter *e, const struct ast *n)
{
    e->attributes = n->attrs;
    e->attributed = n->kind == AST_LET ? n->decl.value : n->kind == AST_ASSIGN ? n->assign.value
                  : n->kind == AST_EXPR_STMT ? n->expr_stmt.expr : NULL;
    for (const struct ast *a = n->attrs; a; a = a->next)
        if (a->attr.args && a->attr.args->kind != AST_STRING) attribute_prepare(e, a->attr.args);
}

static void emit_statement(struct emitter *e, struct ast *n)
{
    emit_at(e, n->at);
    note_attributes(e, n);
    switch (n->kind) {
    case AST_LET: emit_let(e, n); break;
    case AST_VAR: emit_scalar(e, n, n->symbol); break;
    case AST_VIEW:
        place_prepare(e, n->view.tensor);
        for (struct ast *t = n->view.tiles; t; t = t->next) expr_prepare(e, t);
        emit_statement_checks(e, n, n->name);
        sizes_capture(e, n->symbol);
        break;
    case AST_EXPR_STMT: emit_expr_stmt(e, n); break;
    case AST_ASSIGN: emit_assign(e, n); break;
    case AST_FOR: emit_for(e, n); break;
    case AST_WHILE: case AST_DO_WHILE: emit_while(e, n); break;
    case AST_IF: emit_if(e, n); break;
    case AST_MATCH: emit_match(e, n); break;
    case AST_SCOPE: emit_scope(e, n); break;
    case AST_BLOCK:
        out_line(e->out, "{");
        emit_braced(e, n, false);
        out_line(e->out, "}");
        break;
    case AST_DROP: emit_drop(e, n); break;
    case AST_RETURN: emit_return(e, n); break;
    case AST_BREAK: case AST_CONTINUE:
        leave_scopes(e, false);
        out_line(e->out, n->kind == AST_BREAK ? "break;" : "continue;");
        break;
    case AST_ASSERT: emit_assert(e, n); break;
    case AST_STATIC_ASSERT: break;
    case AST_PRINT: emit_print(e, n); break;
    default: emit_unsupported(e, n->at, "this statement"); break;
    }
}

void stmt_function_body(struct emitter *e, const struct symbol *orch)
{
    struct ast *body = orch->decl->orch.body;
    emit_block(e, body, false, false, body->at);
    if (!jumps_away(body->block.stmts)) {
        emit_at(e, last_byte(body->at));
        emit_leave(e, NULL);
        /* The checker has seen that every path of a function with a value ends in a return. */
        if (type_is_scalar(orch->result)) out_line(e->out, "return 0;");
    }
}
