/* breaks.c - where lines end, and how deep they begin.
 * Idea       a line that a person ended at a sensible place stays ended; a block stands on one line, or its brace ends
 *            a line and its statements have their own; what is too long is opened at its outermost block, then between
 *            statements, then at commas.
 * Invariant  a break that is made here is one that is kept the next time.
 * Tests      test/lit/fmt/
 */
#include "grammar.h"
#include "pieces.h"

enum { INDENT = 2, CONTINUED = 4 };

/* Of the token before i, comments left out; NULL at the beginning. */
static const struct piece *token_before(const pieces *list, size_t i)
{
    while (i-- > 0)
        if (!piece_is_comment(&list->data[i])) return &list->data[i];
    return NULL;
}

static bool is_in_generics(const pieces *list, size_t i)
{
    while (i-- > 0 && list->data[i].kind != TOK_GT) {
        if (list->data[i].is_generic) return true;
        if (list->data[i].kind != TOK_NAME && list->data[i].kind != TOK_COMMA && !piece_is_comment(&list->data[i]))
            return false;
    }
    return false;
}

/* May a line end before piece i, in the middle of a statement?  0: no; else the smaller, the rather. */
static int break_class(const pieces *list, size_t i)
{
    const struct piece *p = &list->data[i], *before = token_before(list, i);
    if (before == NULL || piece_is_comment(p)) return 0;
    if (p->begins_attribute) return 1;
    if (is_in_generics(list, i)) return 0;
    if (p->kind == TOK_RPAREN || p->kind == TOK_RBRACKET || p->kind == TOK_COMMA || p->kind == TOK_SEMICOLON ||
        p->kind == TOK_LBRACE)
        return 0;
    if (before->kind == TOK_COMMA || before->kind == TOK_AND || before->kind == TOK_OR) return 2;
    if (piece_is_operator(before)) return 3;
    return before->kind == TOK_ASSIGN || before->kind == TOK_PLUSASSIGN ? 4 : 0;
}

static bool keeps_break(const pieces *list, size_t i)
{
    const struct piece *p = &list->data[i], *before = token_before(list, i);
    if (break_class(list, i) > 0 || p->kind == TOK_C_BODY) return true;
    if (before == NULL) return false;
    if (before->kind == TOK_LPAREN || before->kind == TOK_LBRACKET)
        return p->kind != TOK_RPAREN && p->kind != TOK_RBRACKET;
    if (p->kind == TOK_RPAREN || p->kind == TOK_RBRACKET) return true;
    return piece_is_operator(p);
}

static void find_blocks(pieces *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct piece *p = &list->data[i];
        if (p->kind != TOK_LBRACE) continue;
        size_t end = (size_t)p->partner;
        for (size_t k = i + 1; k <= end && end > i + 1; k++)
            p->opens_many |= list->data[k].newlines > 0 || list->data[k].is_many_lines;
        list->data[end].opens_many = p->opens_many;
    }
}

static void open_if_not_empty(pieces *list, size_t brace)
{
    size_t end = (size_t)list->data[brace].partner;
    if (end > brace + 1) list->data[brace].opens_many = list->data[end].opens_many = true;
}

/* The blocks of one if stand on one line each, or none of them does.  */
static void open_chains(pieces *list, bool forward)
{
    for (size_t n = 1; n < list->count; n++) {
        size_t i = forward ? n : list->count - n, next = i + 1;
        if (list->data[i].kind != TOK_ELSE || !list->data[i].is_joined || list->data[i - 1].kind != TOK_RBRACE)
            continue;
        while (next < list->count &&
               (list->data[next].kind != TOK_LBRACE || list->data[next].blocks != list->data[i].blocks))
            next++;
        size_t before = (size_t)list->data[i - 1].partner;
        if (forward && list->data[before].opens_many) open_if_not_empty(list, next);
        if (!forward && list->data[next].opens_many) open_if_not_empty(list, before);
    }
}

static int wanted_break(const pieces *list, size_t i)
{
    const struct piece *p = &list->data[i], *last = &list->data[i - 1], *before = token_before(list, i);
    int kept = p->newlines > 1 ? 2 : p->newlines;
    bool is_comment = piece_is_comment(p);
    if (last->kind == PIECE_LINE_COMMENT) return kept == 2 && p->kind != TOK_RBRACE && p->begins_statement ? 2 : 1;
    if (is_comment && kept == 0) return 0;
    bool behind_open = last->kind == TOK_LBRACE, behind_close = before && before->kind == TOK_RBRACE;
    if (behind_open && p->kind == TOK_RBRACE) return 0;
    if (behind_open && last->opens_many) return 1;
    if (p->kind == TOK_RBRACE) return p->opens_many;
    if (p->is_joined) return is_comment ? 1 : piece_is_comment(last) && kept > 0;
    if (p->begins_statement) {
        bool is_behind_marks = before && before->kind == TOK_RPAREN, marks_kernel = p->kind == TOK_AT && p->blocks == 0;
        bool is_large = marks_kernel || p->kind == TOK_KERNEL || p->kind == TOK_EXPORT || p->kind == TOK_ORCH ||
                        p->kind == TOK_STRUCT;
        bool is_forced = (behind_close && before->opens_many) || (before && before->kind == TOK_C_BODY) ||
                         (is_large && !is_behind_marks && !piece_is_comment(last));
        return kept > 0 ? kept : is_forced;
    }
    if (is_comment) return kept > 0;
    if (piece_is_comment(last) && last->is_many_lines) return kept > 0;
    return kept > 0 && keeps_break(list, i);
}

int pieces_indent(const pieces *list, size_t i)
{
    const struct piece *p = &list->data[i];
    if (p->kind == TOK_C_BODY) return p->blocks * INDENT;
    if (p->lined_up_with >= 0) return list->data[p->lined_up_with].out_column;
    bool is_closing = (p->kind == TOK_RPAREN || p->kind == TOK_RBRACKET) && p->depth == 0;
    return p->blocks * INDENT +
           (p->begins_statement || p->is_joined || p->kind == TOK_RBRACE || is_closing ? 0 : CONTINUED);
}

/* ---- lines that are too long ---- */

struct line {
    size_t begin, end; /* pieces [begin, end) */
    int columns;       /* without a comment at its end */
};

static struct line line_at(pieces *list, size_t begin)
{
    struct line l = {begin, begin, pieces_indent(list, begin)};
    int at = l.columns;
    for (; l.end < list->count && (l.end == begin || !list->data[l.end].break_before); l.end++) {
        struct piece *p = &list->data[l.end];
        if (l.end > begin) at += p->space_before;
        p->out_column = at;
        if (p->is_many_lines) {
            l.end++;
            break; // what is behind it stands in a column that does not depend on this line
        }
        at += p->length;
        if (!piece_is_comment(p)) l.columns = at;
    }
    while (l.end < list->count && !list->data[l.end].break_before) l.end++;
    return l;
}

static void need_break(pieces *list, size_t i)
{
    if (i < list->count && !list->data[i].break_before && list->data[i - 1].kind != PIECE_LINE_COMMENT)
        list->data[i].break_before = 1;
}

/* A statement with a block of several lines begins a line, and so does a declaration. */
static void need_own_line(pieces *list, size_t brace)
{
    size_t i = brace;
    while (i > 0 && !(list->data[i].begins_statement && list->data[i].blocks == list->data[brace].blocks &&
                      !piece_is_comment(&list->data[i])))
        i--;
    // behind its attributes
    while (i > 0 && list->data[i - 1].kind == TOK_RPAREN && !list->data[i].break_before &&
           list->data[i].kind != TOK_AT) {
        size_t mark = i - 1;
        while (mark > 0 && list->data[mark].kind != TOK_AT) mark--;
        i = mark;
    }
    bool is_commented = i > 0 && list->data[i - 1].kind == PIECE_BLOCK_COMMENT;
    if (i > 0 && !is_commented) need_break(list, i);
}

/* A block of several lines: its statements have lines of their own. */
static void open_block(pieces *list, size_t brace)
{
    need_own_line(list, brace);
    size_t end = (size_t)list->data[brace].partner;
    list->data[brace].opens_many = list->data[end].opens_many = true;
    need_break(list, brace + 1);
    for (size_t i = brace + 2; i < end; i++)
        if (list->data[i].begins_statement && list->data[i].blocks == list->data[brace].blocks + 1 &&
            !piece_is_comment(&list->data[i]) &&
            !(list->data[i - 1].kind == TOK_RPAREN && token_before(list, i)->kind == TOK_RPAREN))
            need_break(list, i);
    need_break(list, end);
    size_t behind = end + 1;
    if (behind < list->count && list->data[behind].begins_statement && !piece_is_comment(&list->data[behind]))
        need_break(list, behind);
}

/* A comment that begins a line belongs to the statement behind it, which begins no line then. */
static bool is_behind_own_comment(const pieces *list, size_t i)
{
    while (i-- > 0 && piece_is_comment(&list->data[i]))
        if (list->data[i].break_before) return true;
    return false;
}

/* Does the statement that begins at piece i have a block? */
static bool has_block(const pieces *list, size_t i)
{
    const int blocks = list->data[i].blocks;
    while (i < list->count && list->data[i].kind != TOK_SEMICOLON && list->data[i].kind != TOK_RBRACE) {
        if (list->data[i].kind == TOK_LBRACE && list->data[i].blocks == blocks) return true;
        i++;
    }
    return false;
}

struct open_block {
    bool opens_many, is_behind_block; /* the statement before has one */
};

/* In a block of several lines a statement with a block has its lines to itself.  Attributes begin a statement. */
static void part_blocks(pieces *list)
{
    VEC(struct open_block) open = {0};
    for (size_t i = 0; i < list->count; i++) {
        const struct piece *p = &list->data[i];
        struct open_block *around = open.count > 0 ? &open.data[open.count - 1] : NULL;
        if (p->kind == TOK_RBRACE) {
            if (--open.count > 0) open.data[open.count - 1].is_behind_block = true;
            continue;
        }
        if (around && p->begins_statement && !piece_is_comment(p) && token_before(list, i)->kind != TOK_RPAREN) {
            if (around->opens_many && (around->is_behind_block || has_block(list, i)) &&
                !is_behind_own_comment(list, i))
                need_break(list, i);
            around->is_behind_block = false;
        }
        if (p->kind == TOK_LBRACE) vec_push(&open, ((struct open_block){.opens_many = p->opens_many}));
    }
    vec_free(&open);
}

static bool open_a_block(pieces *list, struct line l)
{
    for (size_t i = l.begin; i < l.end; i++) {
        const struct piece *p = &list->data[i];
        if (p->kind != TOK_LBRACE || (size_t)p->partner >= l.end || p->partner == (int)i + 1) continue;
        open_block(list, i);
        return true;
    }
    return false;
}

static bool part_statements(pieces *list, struct line l)
{
    for (size_t i = l.begin + 1; i < l.end; i++) {
        const struct piece *before = token_before(list, i);
        if (!list->data[i].begins_statement || piece_is_comment(&list->data[i]) || list->data[i].kind == TOK_RBRACE ||
            !before)
            continue;
        if (before->kind != TOK_SEMICOLON && before->kind != TOK_RBRACE) continue;
        need_break(list, i);
        return list->data[i].break_before > 0;
    }
    return false;
}

static bool wrap(pieces *list, struct line l)
{
    size_t best = 0;
    int best_class = 0, at = pieces_indent(list, l.begin);
    for (size_t i = l.begin; i < l.end; i++) {
        const struct piece *p = &list->data[i];
        int class = i > l.begin ? break_class(list, i) : 0;
        if (class > 0 && at <= MAX_COLUMNS) {
            bool is_better =
                best_class == 0 || class < best_class || (class == best_class && p->depth <= list->data[best].depth);
            if (is_better) best = i, best_class = class;
        }
        at += (i > l.begin ? p->space_before : 0) + p->length;
        if (at > MAX_COLUMNS && best_class > 0) break;
    }
    if (best_class == 0) return false;
    need_break(list, best);
    return list->data[best].break_before > 0;
}

void pieces_break(pieces *list)
{
    find_blocks(list);
    open_chains(list, false);
    open_chains(list, true);
    for (size_t i = 1; i < list->count; i++) list->data[i].break_before = wanted_break(list, i);
    for (size_t i = 1; i < list->count; i++)
        if (list->data[i].kind == TOK_LBRACE && list->data[i].opens_many) need_own_line(list, i);
    part_blocks(list);
    for (size_t i = 0; i < list->count;) {
        struct line l = line_at(list, i);
        bool is_changed =
            l.columns > MAX_COLUMNS && (open_a_block(list, l) || part_statements(list, l) || wrap(list, l));
        if (!is_changed) i = l.end;
    }
}
