/* emit_op.c - operations of the IR as statements of C, one function for one kind.
 * Idea       the order, the temporaries and the scopes are the IR's; here each becomes text.  A function is printed
 *            once: a line that is needed only if nothing names a variable is withdrawn when the function is complete
 *            (out_settle()).
 * Invariant  a block of operations is a block of names: a name that was taken in it is free after it.
 * Tests      test/lit/codegen/
 */
#include "emit.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static void emit_block(struct emitter *e, const struct ir_block *block);

/* ---- names ---- */

static const char *declare(struct emitter *e, const void *key, const char *wanted)
{
    const char *name = names_take(&e->names, mangle_plain(e->mem, wanted));
    ptrmap_set(&e->c_names, key, (void *)name);
    return name;
}

static void unused(struct emitter *e, const void *key, const char *name)
{
    out_line_unless(e->out, key, "(void)%s;", name);
}

/* ---- scalars ---- */

static void emit_set(struct emitter *e, const struct ir_op *op)
{
    STRBUF(value);
    STRBUF(target);
    value_print(e, &value, op->set.value, P_ANY);
    if (op->set.target)
        value_print(e, &target, op->set.target, P_UNARY);
    else if (op->set.key)
        strbuf_puts(&target, ptrmap_get(&e->c_names, op->set.key)); /* which is no use of it */
    if (target.length)
        out_line(e->out, "%s = %s;", strbuf_text(&target), strbuf_text(&value));
    else
        out_line(e->out, "(void)%s;", strbuf_text(&value));
}

static void emit_store(struct emitter *e, const struct ir_op *op)
{
    const struct ir_view *v = op->store.view;
    const char *type = c_elem_type(v->region->base->type->elem);
    STRBUF(value);
    STRBUF(element);
    value_print(e, &value, op->store.value, P_ANY);
    strbuf_printf(&element, op->store.is_private ? "((%s *)pto_here(rt, " : "*(%s *)pto_own_element(rt, ", type);
    print_base(e, &element, v->region);
    strbuf_puts(&element, op->store.is_private ? "))[" : ", ");
    value_print(e, &element, v->offset, P_ANY);
    if (op->store.is_private)
        strbuf_putc(&element, ']');
    else
        strbuf_printf(&element, ", sizeof(%s))", type);
    out_line(e->out, "%s = %s;", strbuf_text(&element), strbuf_text(&value));
}

static void emit_assert(struct emitter *e, const struct ir_op *op)
{
    STRBUF(cond);
    STRBUF(values);
    value_print(e, &cond, op->assertion.cond, P_POSTFIX);
    message_print_values(e, &values, &op->assertion.message);
    out_line(e->out, "if (!%s)", strbuf_text(&cond));
    out_more(e->out, "pto_raise(rt, PTO_ERR_ASSERT, %s%s);", c_string(e, op->assertion.message.format),
             strbuf_text(&values));
}

static void emit_print(struct emitter *e, const struct ir_op *op)
{
    static const char *const before[] = {[IR_PRINT_INTEGER] = ", (long long)",
                                         [IR_PRINT_F64] = ", PTO_F64_TEXT(",
                                         [IR_PRINT_F32] = ", PTO_F32_TEXT(",
                                         [IR_PRINT_BOOLEAN] = ", ",
                                         [IR_PRINT_NUL] = ", 0"};
    static const char *const after[] = {[IR_PRINT_INTEGER] = "",
                                        [IR_PRINT_F64] = ")",
                                        [IR_PRINT_F32] = ")",
                                        [IR_PRINT_BOOLEAN] = " ? \"true\" : \"false\"",
                                        [IR_PRINT_NUL] = ""};
    STRBUF(args);
    for (int i = 0; i < op->print.count; i++) {
        const struct ir_print_value *v = &op->print.values[i];
        strbuf_puts(&args, before[v->form]);
        if (v->value)
            value_print(e, &args, v->value, v->form == IR_PRINT_F64 || v->form == IR_PRINT_F32 ? P_ANY : P_UNARY);
        strbuf_puts(&args, after[v->form]);
    }
    out_line(e->out, "printf(%s%s);", c_string(e, op->print.format), strbuf_text(&args));
}

/* ---- tensors ---- */

static void print_slot(struct emitter *e, struct strbuf *b, const struct ir_op *op)
{
    const struct ir_value *at = op->tensor.at;
    strbuf_printf(b, "pto_slot(%s, ", e->frame);
    if (op->tensor.rotates) {
        if (at->kind != IR_INTEGER || at->integer != 0) {
            value_print(e, b, at, P_ADD);
            strbuf_puts(b, " + ");
        }
        strbuf_printf(b, "(%s & 1) * ", emit_name(e, op->tensor.rotates));
        value_print(e, b, op->tensor.bytes, P_UNARY);
    } else {
        value_print(e, b, at, P_ANY);
    }
    strbuf_putc(b, ')');
}

static void emit_tensor(struct emitter *e, const struct ir_op *op)
{
    const struct symbol *s = op->tensor.symbol;
    if (s->place) return;
    STRBUF(begin);
    const char *name = declare(e, s, op->tensor.wanted);
    if (op->tensor.at)
        print_slot(e, &begin, op);
    else
        strbuf_puts(&begin, "NULL");
    out_line(e->out, "void *%s = %s; /* %s */", name, strbuf_text(&begin), type_string(e, s->type));
    unused(e, s, name);
}

static void emit_alloc(struct emitter *e, const struct ir_op *op)
{
    const struct symbol *s = op->alloc.symbol;
    const bool zeroed = type_is_scalar_array(s->type);
    const char *function = zeroed ? "pto_alloc_zeroed" : "pto_alloc";
    STRBUF(b);
    value_print(e, &b, op->alloc.bytes, P_ANY);
    const char *bytes = strbuf_text(&b);
    if (s->place) {
        const char *ret = result_name(e, s);
        out_line(e->out, "if (*(void **)%s.ref == NULL) *(void **)%s.ref = %s(rt, %s.scope, %s);", ret, ret, function,
                 ret, bytes);
        if (zeroed)
            out_line(e->out, "pto_clear_elements(rt, *(void **)%s.ref, %s.at, sizeof(%s), %s);", ret, ret,
                     c_elem_type(s->type->elem), bytes);
    }
    const char *scope = op->alloc.scope ? ptrmap_get(&e->c_names, op->alloc.scope) : "PTO_SCOPE_CURRENT";
    const struct symbol *given = s->kind == SYM_LET ? tensor_note_of(e->checked, s)->given : NULL;
    if (given) scope = arena_printf(e->mem, "%s.scope", result_name(e, given));
    if (op->alloc.in_frame)
        out_line(e->out, "if (!%s) %s = pto_alloc(rt, %s, %s);", emit_name(e, s), emit_name(e, s), scope, bytes);
    else if (!s->place)
        out_line(e->out, "%s = %s(rt, %s, %s);", (const char *)ptrmap_get(&e->c_names, s), function, scope, bytes);
}

static void print_numbers(struct emitter *e, struct strbuf *b, const char *name, struct ir_value *const *number,
                          int count)
{
    strbuf_printf(b, ", .%s = {", name);
    for (int d = 0; d < count; d++) {
        if (d) strbuf_puts(b, ", ");
        if (number[d])
            value_print(e, b, number[d], P_ANY);
        else
            strbuf_putc(b, '1');
    }
    strbuf_putc(b, '}');
}

static void emit_distribute(struct emitter *e, const struct ir_op *op)
{
    const struct ir_view *v = op->distribute.view;
    const int rank = v->region->rank;
    bool has_cells = false;
    STRBUF(b);
    for (int d = 0; d < rank; d++) has_cells |= op->distribute.cell[d] != NULL;
    print_base(e, &b, v->region);
    strbuf_printf(&b, ", &(PTODist){.type = %s, .rank = %d", c_elem_constant(v->region->base->type->elem), rank);
    print_numbers(e, &b, "shape", (struct ir_value *const *)v->extent, rank);
    if (has_cells) print_numbers(e, &b, "cell", op->distribute.cell, rank);
    if (op->distribute.source)
        print_numbers(e, &b, "grid", op->distribute.grid, rank);
    else
        strbuf_puts(&b, ", .is_square = true");
    out_line(e->out, "pto_dist(rt, %s});", strbuf_text(&b));
}

/* ---- names that change buffers ---- */

/* The buffer of s, if it is no other name's, is released: `if (a != t && a != b) pto_release(rt, a);`. 
 * It is NULL afterwards, or gets another one at once. */
static void emit_end_of_name(struct emitter *e, const struct symbol *s, bool gets_another)
{
    STRBUF(only);
    const char *name = emit_name(e, s);
    for (int i = 0; s->exchange->is_shared && i < s->exchange->count; i++) {
        const struct symbol *other = s->exchange->names[i];
        if (other == s || other->next_of || other->kind == SYM_FORMAL) continue;
        strbuf_printf(&only, "%s%s != %s", only.length ? " && " : "", name, emit_name(e, other));
    }
    if (only.length)
        out_line(e->out, "if (%s) pto_release(rt, %s);", strbuf_text(&only), name);
    else
        out_line(e->out, gets_another ? "pto_release(rt, %s);" : "pto_release(rt, pto_take(&%s));", name);
    if (only.length && !gets_another) out_line(e->out, "%s = NULL;", name);
}

static void emit_take_over(struct emitter *e, const struct ir_op *op, const char *to)
{
    const char *scope = op->take.scope ? ptrmap_get(&e->c_names, op->take.scope) : "PTO_SCOPE_CURRENT";
    STRBUF(tensor);
    if (!op->take.is_empty) emit_end_of_name(e, op->take.to, true);
    print_param(e, &tensor, op->take.moved_in);
    out_line(e->out, "%s = pto_take_over(rt, %s, &%s, %s);", to, scope, emit_name(e, op->take.from),
             strbuf_text(&tensor));
}

static void emit_take(struct emitter *e, const struct ir_op *op)
{
    const char *to = ptrmap_get(&e->c_names, op->take.to); /* which is no use of it */
    if (op->take.moved_in) {
        emit_take_over(e, op, to);
        return;
    }
    if (op->take.in_frame) {
        out_line(e->out, "pto_slot_take(rt, %s, &%s, &%s);", e->frame, to, emit_name(e, op->take.from));
        return;
    }
    if (!op->take.is_empty) emit_end_of_name(e, op->take.to, true);
    out_line(e->out, "%s = pto_take(&%s);", to, emit_name(e, op->take.from));
}

static void emit_keep(struct emitter *e, const struct ir_op *op)
{
    const char *to = ptrmap_get(&e->c_names, op->take.to);
    out_line(e->out, "%s = %s;", to, emit_name(e, op->take.from));
}

static void emit_release(struct emitter *e, const struct ir_op *op)
{
    const struct symbol *s = op->release.symbol;
    if (s->exchange && op->release.in_frame) { /* its slot stays */
        out_line(e->out, "if (!%s) pto_release(rt, pto_take(&%s));", e->frame, emit_name(e, s));
    } else if (s->exchange && s->kind == SYM_LET) {
        emit_end_of_name(e, s, false);
    } else if (op->release.in_frame) {
        out_line(e->out, "pto_slot_end(rt, %s, %s);", e->frame, emit_name(e, s));
    } else {
        out_line(e->out, op->release.is_argument ? "pto_drop(rt, &%s);" : "pto_release(rt, %s);", emit_name(e, s));
    }
}

static void emit_slot_use(struct emitter *e, const struct ir_op *op)
{
    const struct symbol *s = op->slot_use.symbol;
    STRBUF(bytes);
    value_print(e, &bytes, op->slot_use.bytes, P_ANY);
    out_line(e->out, "pto_slot_%s(rt, %s, %s, \"%s\");", op->slot_use.writes ? "write" : "read", emit_name(e, s),
             strbuf_text(&bytes), s->name);
}

static void emit_call(struct emitter *e, const struct ir_call *call)
{
    STRBUF(b);
    call_print(e, &b, call);
    out_line(e->out, "%s;", strbuf_text(&b));
}

static void emit_give(struct emitter *e, const struct ir_op *op)
{
    STRBUF(b);
    print_param(e, &b, op->give.view);
    out_line(e->out, "pto_return_tensor(rt, &%s, %s);", emit_name(e, op->give.place), strbuf_text(&b));
}

/* ---- scopes ---- */

static void emit_scope_begin(struct emitter *e, const struct ir_op *op)
{
    STRBUF(comment);
    const char *name = names_take(&e->names, "scope");
    ptrmap_set(&e->c_names, op, (void *)name);
    for (int i = 0; i < op->scope.count; i++) {
        const struct symbol *s = op->scope.tensors[i];
        strbuf_printf(&comment, "%s%s%s", i ? ", " : " /* holds ", s->name, s->hidden ? "()" : "");
    }
    if (comment.length) strbuf_puts(&comment, " */");
    if (op->scope.is_named)
        out_line(e->out, "const PTOScope %s = pto_scope_begin(rt);%s", name, strbuf_text(&comment));
    else
        out_line(e->out, "pto_scope_begin(rt);%s", strbuf_text(&comment));
}

/* ---- loops ---- */

/* The iterations are counted before the first. */
static void emit_counted_for(struct emitter *e, const struct ir_op *op, const char *name, const char *low,
                             const char *high)
{
    STRBUF(by);
    value_print(e, &by, op->loop.step, P_ANY);
    const char *iterations = names_take(&e->names, arena_printf(e->mem, "%s_iterations", op->loop.symbol->name));
    const char *iteration = names_take(&e->names, arena_printf(e->mem, "%s_iteration", op->loop.symbol->name));
    emit_mark_site(e, op->at, "for");
    out_open(e->out, "for (uint64_t %s = 0, %s = pto_trip_count(rt, %s, %s, %s); %s < %s; %s++) {", iteration,
             iterations, low, high, strbuf_text(&by), iteration, iterations, iteration);
    out_line(e->out, "const int64_t %s = pto_iteration(%s, %s, %s);", name, low, strbuf_text(&by), iteration);
    e->out->depth--;
}

static void emit_for_head(struct emitter *e, const struct ir_op *op, const char *name, const char *low,
                          const char *high)
{
    if (op->loop.form == IR_LOOP_COUNTED)
        emit_counted_for(e, op, name, low, high);
    else
        out_line(e->out, "for (int64_t %s = %s; %s %c %s; %s) {", name, low, name, op->loop.by > 0 ? '<' : '>', high,
                 step_text(e, op, name, high));
}

/* The blocks of the operation without the one in which its chain of branches goes on, *rest: a chain has any length. */
static int blocks_and_rest(const struct ir_op *op, struct ir_block *blocks[3], const struct ir_block **rest)
{
    const int count = ir_blocks(op, blocks);
    if (op->kind != IR_IF || op->next || !op->branch.other) return count;
    *rest = blocks[count - 1];
    return count - 1;
}

/* Does a site lie in the block? */
static bool has_site(const struct ir_block *block)
{
    struct ir_block *blocks[3];
    for (const struct ir_block *rest; block; block = rest) {
        rest = NULL;
        for (const struct ir_op *op = block->first; op; op = op->next) {
            if (op->kind == IR_SITE || (op->kind == IR_FOR && op->loop.form == IR_LOOP_COUNTED) ||
                (op->kind == IR_IF && op->branch.cond.site) || (op->kind == IR_WHILE && op->while_.cond.site))
                return true;
            for (int i = blocks_and_rest(op, blocks, &rest); i > 0; i--)
                if (has_site(blocks[i - 1])) return true;
        }
    }
    return false;
}

int loops_with_sites(const struct ir_block *block)
{
    struct ir_block *blocks[3];
    int most = 0;
    for (const struct ir_block *rest; block; block = rest) {
        rest = NULL;
        for (const struct ir_op *op = block->first; op; op = op->next)
            for (int i = blocks_and_rest(op, blocks, &rest); i > 0; i--) {
                const int inside = loops_with_sites(blocks[i - 1]);
                const int loops = inside + (op->kind == IR_FOR && (inside > 0 || has_site(blocks[i - 1])));
                if (loops > most) most = loops;
            }
    }
    return most;
}

static void emit_for(struct emitter *e, const struct ir_op *op)
{
    STRBUF(low);
    STRBUF(high);
    value_print(e, &low, op->loop.low, P_ANY);
    value_print(e, &high, op->loop.high, P_ADD);
    const char *end = op->loop.strips ? strips_emit_end(e, op, strbuf_text(&high)) : strbuf_text(&high);
    const size_t mark = names_mark(&e->names); /* the bounds' variables were declared before the loop and stay taken */
    const char *name = declare(e, op->loop.symbol, op->loop.symbol->name);
    if (op->loop.strips)
        strips_emit(e, op, name, strbuf_text(&low), end);
    else
        emit_for_head(e, op, name, strbuf_text(&low), end);
    const bool is_shown = has_site(op->loop.body);
    e->out->depth++;
    unused(e, op->loop.symbol, name);
    if (is_shown) out_line(e->out, "%s[%zu] = %s;", e->indices, e->loops.count, name);
    e->out->depth--;
    if (is_shown) vec_push(&e->loops, op->loop.symbol->name);
    emit_block(e, op->loop.body);
    if (is_shown) e->loops.count--;
    e->offered = 0;
    out_line(e->out, "}");
    if (op->loop.strips) out_close(e->out, "}");
    names_close(&e->names, mark);
}

static void print_condition(struct emitter *e, struct strbuf *b, const struct ir_condition *c)
{
    STRBUF(text);
    value_print(e, &text, c->value, P_ANY);
    if (c->site) strbuf_printf(b, "pto_at(rt, &sites[%d]), ", emit_site(e, c->at, c->site));
    strbuf_puts(b, strbuf_text(&text));
}

static void emit_ops(struct emitter *e, const struct ir_block *block);

/* `for (;;) { ...; if (!c) break; ... }`: a `continue` reaches the condition as the language promises. */
static void emit_tested_while(struct emitter *e, const struct ir_op *op)
{
    STRBUF(b);
    const bool first = op->while_.tests_first;
    const size_t mark = names_mark(&e->names);
    const char *begin = first ? NULL : declare(e, op->while_.begin, op->while_.begin->wanted);
    if (first)
        out_line(e->out, "for (;;) {");
    else
        out_line(e->out, "for (bool %s = true;; %s = false) {", begin, begin);
    if (!first) out_line(e->out, "    if (!%s) {", begin);
    e->out->depth += first ? 1 : 2;
    emit_ops(e, op->while_.test);
    value_print(e, &b, op->while_.cond.value, P_ANY);
    bool plain = strspn(strbuf_text(&b), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == b.length;
    out_line(e->out, plain ? "if (!%s) break;" : "if (!(%s)) break;", strbuf_text(&b));
    e->out->depth -= first ? 1 : 2;
    if (!first) out_line(e->out, "    }");
    emit_block(e, op->while_.body);
    out_line(e->out, "}");
    names_close(&e->names, mark);
}

static void emit_while(struct emitter *e, const struct ir_op *op)
{
    STRBUF(b);
    if (op->while_.test) {
        emit_tested_while(e, op);
        return;
    }
    print_condition(e, &b, &op->while_.cond);
    if (op->while_.tests_first) {
        out_line(e->out, "while (%s) {", strbuf_text(&b));
        emit_block(e, op->while_.body);
        out_line(e->out, "}");
    } else {
        out_line(e->out, "do {");
        emit_block(e, op->while_.body);
        emit_at(e, op->while_.cond.at);
        out_line(e->out, "} while (%s);", strbuf_text(&b));
    }
}

/* ---- branches ---- */

/* The branch that goes on with `else if`; NULL: there is none. */
static const struct ir_op *chained_branch(const struct ir_op *op)
{
    const struct ir_block *other = op->branch.other;
    return other && other->first && other->first->kind == IR_IF && other->first->branch.is_chained ? other->first
                                                                                                   : NULL;
}

static void emit_branch(struct emitter *e, const struct ir_op *op)
{
    for (const struct ir_op *next = op; next; next = chained_branch(op)) {
        STRBUF(b);
        op = next;
        print_condition(e, &b, &op->branch.cond);
        emit_at(e, op->at);
        out_line(e->out, op->branch.is_chained ? "} else if (%s) {" : "if (%s) {", strbuf_text(&b));
        emit_block(e, op->branch.then);
    }
    if (op->branch.other) {
        out_line(e->out, "} else {");
        emit_block(e, op->branch.other);
    }
    out_line(e->out, "}");
}

static void emit_return(struct emitter *e, const struct ir_op *op)
{
    STRBUF(b);
    out_line(e->out, "pto_leave(rt);");
    if (op->ret.value) value_print(e, &b, op->ret.value, P_ANY);
    if (op->ret.value)
        out_line(e->out, "return %s;", strbuf_text(&b));
    else if (!op->ret.is_last)
        out_line(e->out, "return;");
}

/* ---- all ---- */

static void emit_op(struct emitter *e, const struct ir_op *op)
{
    emit_at(e, op->at);
    switch (op->kind) {
    case IR_SITE: emit_mark_site(e, op->site.at, op->site.text); break;
    case IR_LET: let_emit(e, op); break;
    case IR_SET: emit_set(e, op); break;
    case IR_STORE: emit_store(e, op); break;
    case IR_CHECK: check_emit(e, op->check.check, op->check.is_hoisted); break;
    case IR_ASSERT: emit_assert(e, op); break;
    case IR_PRINT: emit_print(e, op); break;
    case IR_FRAME: frame_emit(e, op); break;
    case IR_TENSOR: emit_tensor(e, op); break;
    case IR_ALLOC: emit_alloc(e, op); break;
    case IR_DISTRIBUTE: emit_distribute(e, op); break;
    case IR_SUBMIT: submit_emit(e, op->call); break;
    case IR_CALL: emit_call(e, op->call); break;
    case IR_SLOT_USE: emit_slot_use(e, op); break;
    case IR_RELEASE: emit_release(e, op); break;
    case IR_GIVE: emit_give(e, op); break;
    case IR_TAKE: emit_take(e, op); break;
    case IR_KEEP: emit_keep(e, op); break;
    case IR_SCOPE_BEGIN: emit_scope_begin(e, op); break;
    case IR_SCOPE_END: out_line(e->out, "pto_scope_end(rt);"); break;
    case IR_BLOCK:
        out_line(e->out, "{");
        emit_block(e, op->block);
        out_line(e->out, "}");
        break;
    case IR_FOR: emit_for(e, op); break;
    case IR_WHILE: emit_while(e, op); break;
    case IR_IF: emit_branch(e, op); break;
    case IR_BREAK: out_line(e->out, "break;"); break;
    case IR_CONTINUE: out_line(e->out, "continue;"); break;
    case IR_RETURN: emit_return(e, op); break;
    case IR_USE:
    case IR_OP_COUNT: break;
    }
}

static void emit_ops(struct emitter *e, const struct ir_block *block)
{
    for (const struct ir_op *op = block->first; op; op = op->next) emit_op(e, op);
    emit_at(e, block->at_end);
}

/* The inside of a block; the braces are the caller's. */
static void emit_block(struct emitter *e, const struct ir_block *block)
{
    const size_t mark = names_mark(&e->names);
    e->out->depth++;
    emit_ops(e, block);
    e->out->depth--;
    names_close(&e->names, mark);
}

void function_emit_body(struct emitter *e, const struct ir_function *f) { emit_ops(e, f->body); }
