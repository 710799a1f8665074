/* test_verify.c - the verifier of the IR finds each kind of fault, and nothing in what lowering makes.
 * Idea       one program is lowered; a test breaks one operation of it and reads the verifier's sentence.
 */
#include "unit.h"

#include "codegen.h"
#include "ir/ir.h"
#include "plan.h"
#include "support/arena.h"
#include "support/intern.h"
#include <string.h>

static const char program[] =
    "kernel make(out a: f32[8]) on vector { for (int i = 0; i < 8; i++) a[i] = 1; }\n"
    "kernel add(in a: f32[8], inout b: f32[8]) on vector { for (int i = 0; i < 8; i++) b[i] += a[i]; }\n"
    "orch part(inout y: f32[8], z: f32[16], n: i64) {\n"
    "  let t: f32[8];\n"
    "  make(out t);\n"
    "  add(t, inout y);\n"
    "  for i in 0 .. n {\n"
    "    let s: f32[8];\n"
    "    make(out s);\n"
    "    if i > 3 { break; }\n"
    "    add(s, inout y);\n"
    "    let u: f32[8];\n"
    "    make(out u);\n"
    "    add(u, inout y);\n"
    "  }\n"
    "  var k = n * 2;\n"
    "  while k > 0 { k = k - 1; add(z[8 .. 16], inout y); }\n"
    "  var m = n + 1;\n"
    "  @priority(m) add(z[0 .. 8], inout y);\n"
    "  var p = n + 2;\n"
    "  print \"\\0\", p;\n"
    "}\n"
    "export orch main(inout y: f32[8], z: f32[16]) { part(inout y, z, 3); }\n";

static struct front front;
static const struct checked *checked;
static struct plan *plan;
static struct ir_function *f;

static void open_program(void)
{
    struct source_map *sources = source_map_create();
    front = (struct front){
        .mem = arena_create(), .names = interner_create(), .sources = sources, .diag = diag_create(sources, stderr)};
    source_map_add(sources, "verify.pto", program, strlen(program));
    const struct sema_options options = {0};
    const struct memory_plan memory = {.kind = PLAN_RING};
    checked = codegen_check(&front, "verify.pto", &options);
    assert_int_equal(diag_error_count(front.diag), 0);
    plan = plan_create(&front, checked, &memory, false, NULL);
    f = plan->functions.data[0];
    assert_string_equal(f->orch->name, "part");
}

static void close_program(void)
{
    plan_destroy(plan);
    diag_destroy(front.diag);
    source_map_destroy(front.sources);
    interner_destroy(front.names);
    arena_destroy(front.mem);
}

/* ---- finding and changing operations ---- */

struct spot {
    struct ir_block *block;
    struct ir_op *before, *op;
};

static bool find_in(struct ir_block *block, enum ir_op_kind kind, int *nth, struct spot *found)
{
    struct ir_op *before = NULL;
    for (struct ir_op *op = block->first; op; before = op, op = op->next) {
        struct ir_block *blocks[3];
        if (op->kind == kind && (*nth)-- == 0) {
            *found = (struct spot){block, before, op};
            return true;
        }
        const int count = ir_blocks(op, blocks);
        for (int i = 0; i < count; i++)
            if (find_in(blocks[i], kind, nth, found)) return true;
    }
    return false;
}

static struct spot find(enum ir_op_kind kind, int nth)
{
    struct spot p = {0};
    if (!find_in(f->body, kind, &nth, &p)) fail_msg("the program has too few operations '%s'", ir_op_name(kind));
    return p;
}

static struct ir_op *take(struct spot p)
{
    if (p.before)
        p.before->next = p.op->next;
    else
        p.block->first = p.op->next;
    if (p.block->last == p.op) p.block->last = p.before;
    p.op->next = NULL;
    return p.op;
}

static void put_after(struct spot p, const struct ir_op *op)
{
    struct ir_op *copy = arena_new(front.mem, struct ir_op);
    *copy = *op;
    copy->next = p.op->next;
    p.op->next = copy;
    if (p.block->last == p.op) p.block->last = copy;
}

static struct ir_op *release_of(const struct symbol *tensor)
{
    struct ir_op *op = arena_new(front.mem, struct ir_op);
    op->kind = IR_RELEASE;
    op->release.symbol = tensor;
    return op;
}

static const struct symbol *tensor(int nth) { return find(IR_TENSOR, nth).op->tensor.symbol; }

static void expect_fault(const char *sentence)
{
    const char *fault = ir_verify(&front, f);
    assert_non_null(fault);
    if (!strstr(fault, sentence)) fail_msg("expected '%s', got '%s'", sentence, fault);
    close_program();
}

/* ---- tests ---- */

TEST(what_lowering_makes_has_no_fault)
{
    open_program();
    assert_null(ir_verify(&front, f));
    close_program();
}

TEST(a_scalar_is_used_before_it_is_defined)
{
    open_program();
    take(find(IR_LET, 0));
    expect_fault("k is used before it is defined");
}

TEST(a_priority_is_used_before_it_is_defined)
{
    open_program();
    take(find(IR_LET, 1));
    expect_fault("m is used before it is defined");
}

TEST(a_printed_value_is_used_before_it_is_defined)
{
    open_program();
    take(find(IR_LET, 2));
    expect_fault("p is used before it is defined");
}

TEST(a_tensor_is_used_before_it_is_defined)
{
    open_program();
    take(find(IR_TENSOR, 0));
    expect_fault("t is used before it is defined");
}

TEST(a_scope_is_not_ended)
{
    open_program();
    take(find(IR_SCOPE_END, 2));
    expect_fault("scope");
}

TEST(a_scope_is_ended_twice)
{
    open_program();
    const struct spot end = find(IR_SCOPE_END, 0);
    put_after(end, end.op);
    expect_fault("ends a scope that is not the innermost one");
}

TEST(a_jump_leaves_a_scope_open)
{
    open_program();
    take(find(IR_SCOPE_END, 0));
    expect_fault("break: leaves scopes open");
}

TEST(a_tensor_is_released_twice)
{
    open_program();
    const struct spot first = find(IR_SUBMIT, 1);
    put_after(first, release_of(tensor(0)));
    put_after(first, release_of(tensor(0)));
    expect_fault("t is released twice");
}

TEST(a_tensor_is_used_after_its_release)
{
    open_program();
    put_after(find(IR_SUBMIT, 0), release_of(tensor(0)));
    expect_fault("t is used after its release");
}

TEST(a_tensor_is_released_on_one_path_and_then_used)
{
    open_program();
    struct ir_op *branch = arena_new(front.mem, struct ir_op);
    branch->kind = IR_IF;
    branch->branch.cond.value = ir_boolean(front.mem, true);
    branch->branch.then = arena_new(front.mem, struct ir_block);
    *ir_append(branch->branch.then, front.mem, IR_RELEASE, (struct span){0}) = *release_of(tensor(0));
    put_after(find(IR_SUBMIT, 0), branch);
    expect_fault("t is used after its release");
}

TEST(a_tensor_from_outside_is_released_in_a_loop)
{
    open_program();
    take(find(IR_RELEASE, 0));
    put_after(find(IR_SUBMIT, 4), release_of(tensor(0)));
    expect_fault("releases in one iteration");
}

TEST(a_view_is_outside_of_its_tensor)
{
    open_program();
    const struct ir_view *view = find(IR_SUBMIT, 0).op->call->arguments[0].view;
    struct region *r = arena_new(front.mem, struct region);
    *r = *find(IR_SUBMIT, 5).op->call->arguments[0].view->region; /* a piece: it has coordinates */
    r->base = (struct symbol *)tensor(0);
    r->low[0] = size_const(checked->sizes, 4);
    ((struct ir_view *)view)->region = r;
    expect_fault("is viewed outside of its extents");
}

TEST(an_output_goes_to_a_scope_that_is_not_open)
{
    open_program();
    ((struct ir_argument *)find(IR_SUBMIT, 0).op->call->arguments)->scope = find(IR_SCOPE_BEGIN, 1).op;
    expect_fault("t is given to a scope that is not open");
}

TEST(a_function_ends_without_a_return)
{
    open_program();
    take(find(IR_RETURN, 0));
    expect_fault("ends without a return");
}

TEST(a_function_is_submitted_as_a_task)
{
    open_program();
    ((struct ir_call *)find(IR_SUBMIT, 0).op->call)->callee = f->orch;
    expect_fault("part is submitted and is no kernel");
}

TEST(a_condition_is_no_bool)
{
    open_program();
    find(IR_IF, 0).op->branch.cond.value = ir_integer(front.mem, 1);
    expect_fault("has a condition that is no bool");
}

TEST(a_jump_is_outside_of_every_loop)
{
    open_program();
    struct ir_op *jump = arena_new(front.mem, struct ir_op);
    jump->kind = IR_BREAK;
    put_after(find(IR_SUBMIT, 0), jump);
    expect_fault("is outside of every loop");
}

/* ---- plans ---- */

TEST(a_plan_has_functions_of_its_own)
{
    const struct memory_plan memory = {.kind = PLAN_RING};
    open_program();
    struct plan *second = plan_create(&front, checked, &memory, false, NULL);
    struct strbuf before = {0}, after = {0};
    ir_print(&front, f, &before);
    ir_print(&front, second->functions.data[0], &after);
    assert_ptr_not_equal(second->functions.data[0], f);
    assert_string_equal(strbuf_text(&before), strbuf_text(&after));
    assert_null(ir_verify(&front, f));
    strbuf_free(&before);
    strbuf_free(&after);
    plan_destroy(second);
    close_program();
}

/* ---- functions with uses ---- */

/* Two uses of one tensor, and a return. */
static void uses_of_a_tensor(enum ir_use_kind first, enum ir_use_kind second)
{
    static struct tensor_note note;
    static struct tensor_note *tensors[] = {&note};
    static struct ir_function uses;
    const enum ir_use_kind kinds[] = {first, second};
    open_program();
    note = (struct tensor_note){.symbol = (struct symbol *)tensor(0)};
    uses = (struct ir_function){
        .orch = f->orch, .body = arena_new(front.mem, struct ir_block), .tensors = tensors, .tensor_count = 1};
    for (int i = 0; i < 2; i++)
        ir_append(uses.body, front.mem, IR_USE, f->orch->decl->at)->use =
            (struct ir_use){.kind = kinds[i], .symbol = note.symbol, .tensor = &note};
    ir_append(uses.body, front.mem, IR_RETURN, f->orch->decl->at);
    f = &uses;
}

TEST(uses_of_a_tensor_are_valid)
{
    uses_of_a_tensor(IR_USE_BEGIN, IR_USE_WRITE);
    assert_null(ir_verify(&front, f));
    close_program();
}

TEST(a_use_comes_before_its_tensor_begins)
{
    uses_of_a_tensor(IR_USE_READ, IR_USE_BEGIN);
    expect_fault("t is used before it begins");
}

TEST(a_use_has_the_number_of_another_tensor)
{
    uses_of_a_tensor(IR_USE_BEGIN, IR_USE_READ);
    f->tensors[0]->number = 1;
    expect_fault("t has the number of another");
}

TEST(a_use_is_in_a_function_that_is_settled)
{
    uses_of_a_tensor(IR_USE_BEGIN, IR_USE_READ);
    f->tensors = NULL;
    expect_fault("is no operation of a settled function");
}

TEST(a_condition_has_no_value)
{
    open_program();
    find(IR_IF, 0).op->branch.cond.value = NULL;
    expect_fault("has no value");
}
