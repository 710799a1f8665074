/* contraction_block.h - the block of contraction.c for one element type and level, which its macros say; NARROW is the
 * level whose vectors are half as wide, where that pays. */
#define vector  NAME(vector, LEVEL)
#define WIDTH   ((int64_t)(BYTES / sizeof(ELEMENT)))
#define COLUMNS (VECTORS * WIDTH)

typedef ELEMENT vector __attribute__((vector_size(BYTES), aligned(sizeof(ELEMENT)), may_alias));

/* Loops stand behind their pragmas. */
/* clang-format off */

/* `rows` rows by `vectors` vectors: into dense rows of `out`.  resume: `out` has the sums of the k before. */
TARGET static inline __attribute__((always_inline)) void
NAME(block, LEVEL)(const int rows, const int vectors, int64_t depth, const ELEMENT *a, int64_t a_row, int64_t a_depth,
                   const ELEMENT *b, int64_t b_depth, ELEMENT *out, int64_t out_row, bool add, bool resume)
{
    const vector zero = {0};
    vector sum[ROWS][VECTORS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
        sum[r][v] = resume ? *(const vector *)(out + r * out_row + v * WIDTH) : zero;
    for (int64_t k = 0; k < depth; k++) {
        vector column[VECTORS];
        UNROLL for (int v = 0; v < vectors; v++) column[v] = *(const vector *)(b + k * b_depth + v * WIDTH);
        UNROLL for (int r = 0; r < rows; r++)
        {
            const vector x = a[r * a_row + k * a_depth] - zero;
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = FMA(x, column[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
    {
        vector *to = (vector *)(out + r * out_row + v * WIDTH);
        if (add)
            *to = *to + sum[r][v];
        else
            *to = sum[r][v];
    }
}

/* The sums of a row whose block is wider than it, or whose elements lie apart. */
TARGET static inline __attribute__((always_inline)) void
NAME(store, LEVEL)(const ELEMENT *restrict sum, int64_t columns, bool add, ELEMENT *restrict c, int64_t c_column)
{
    if (c_column == 1)
        for (int64_t j = 0; j < columns; j++) c[j] = add ? c[j] + sum[j] : sum[j];
    else
        for (int64_t j = 0; j < columns; j++) c[j * c_column] = add ? c[j * c_column] + sum[j] : sum[j];
}

/* Asks for rows of b that the panel after this one packs, as many as is the share of the block at row i.  They lie far
 * apart, so the processor does not foresee them. */
TARGET static inline __attribute__((always_inline)) void
NAME(ask, LEVEL)(const PTOContraction *t, int64_t i, int64_t depth, const ELEMENT *next)
{
    const int64_t end = (i + ROWS) * depth / t->rows;
    for (int64_t k = i * depth / t->rows; k < end && k < depth; k++)
        UNROLL for (int64_t l = 0; l < COLUMNS * (int64_t)sizeof(ELEMENT); l += 64)
            __builtin_prefetch((const char *)(next + k * t->b_depth) + l, 0, 2);
}

/* All rows of a panel of `vectors` vectors, of whose columns the first `columns` are stored; k runs from `first`.
 * next: NULL, or b of the panel after it. */
TARGET static inline __attribute__((always_inline)) void
NAME(panel, LEVEL)(const int vectors, const PTOContraction *t, int64_t first, int64_t depth, const ELEMENT *b,
                   int64_t b_depth, ELEMENT *c, int64_t columns, const ELEMENT *next)
{
    const ELEMENT *a = (const ELEMENT *)t->a + first * t->a_depth;
    const bool in_place = t->c_column == 1 && columns == vectors * WIDTH;
    ELEMENT part[ROWS * COLUMNS];
    for (int64_t i = 0; i < t->rows;) {
        const int64_t left = t->rows - i, rows = left >= ROWS ? ROWS : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        ELEMENT *out = in_place ? c + i * t->c_row : part;
        const int64_t out_row = in_place ? t->c_row : COLUMNS;
        const bool add = in_place && t->add;
        if (next) NAME(ask, LEVEL)(t, i, depth, next);
        if (rows == ROWS)
            NAME(block, LEVEL)(ROWS, vectors, depth, a + i * t->a_row, t->a_row, t->a_depth, b, b_depth, out,
                               out_row, add, first > 0);
        else if (rows == 4) /* sums enough that none waits for the one before */
            NAME(block, LEVEL)(4, vectors, depth, a + i * t->a_row, t->a_row, t->a_depth, b, b_depth, out,
                               out_row, add, first > 0);
        else if (rows == 2)
            NAME(block, LEVEL)(2, vectors, depth, a + i * t->a_row, t->a_row, t->a_depth, b, b_depth, out,
                               out_row, add, first > 0);
        else
            NAME(block, LEVEL)(1, vectors, depth, a + i * t->a_row, t->a_row, t->a_depth, b, b_depth, out,
                               out_row, add, first > 0);
        for (int64_t r = 0; !in_place && r < rows; r++)
            NAME(store, LEVEL)(part + r * COLUMNS, columns, t->add, c + (i + r) * t->c_row, t->c_column);
        i += rows;
    }
}

/* packed[k * COLUMNS + l] = b[k * b_depth + l * b_column], 0 in the columns that are not there. */
TARGET static void NAME(pack, LEVEL)(int64_t depth, int64_t columns, int64_t filled, const ELEMENT *b, int64_t b_depth,
                                     int64_t b_column, ELEMENT *packed)
{
    if (b_depth < b_column) { /* along the memory */
        const int64_t whole = b_depth == 1 ? columns / SIDE * SIDE : 0;
        for (int64_t l = 0; l < whole; l += SIDE) {
            int64_t k = 0;
            for (; k <= depth - SIDE; k += SIDE)
                NAME(square, TYPE)(b + l * b_column + k, b_column, packed + k * COLUMNS + l, COLUMNS);
            for (; k < depth; k++)
                for (int64_t n = l; n < l + SIDE; n++) packed[k * COLUMNS + n] = b[k + n * b_column];
        }
        for (int64_t l = whole; l < columns; l++)
            for (int64_t k = 0; k < depth; k++) packed[k * COLUMNS + l] = b[k * b_depth + l * b_column];
    } else if (b_column == 1 && columns == COLUMNS)
        for (int64_t k = 0; k < depth; k++) memcpy(packed + k * COLUMNS, b + k * b_depth, COLUMNS * sizeof(ELEMENT));
    else if (b_column == 1)
        for (int64_t k = 0; k < depth; k++)
            for (int64_t l = 0; l < columns; l++) packed[k * COLUMNS + l] = b[k * b_depth + l];
    else
        for (int64_t k = 0; k < depth; k++)
            for (int64_t l = 0; l < columns; l++) packed[k * COLUMNS + l] = b[k * b_depth + l * b_column];
    for (int64_t k = 0; k < depth; k++)
        for (int64_t l = columns; l < filled; l++) packed[k * COLUMNS + l] = 0;
}

TARGET static void NAME(contract, LEVEL)(const PTOContraction *t, ELEMENT *packed)
{
    int64_t all = t->columns;
#ifdef NARROW
    const int64_t rest = all % WIDTH;
    if (rest > 0 && rest <= WIDTH / 2) { /* the last columns fill no more than half a vector */
        all -= rest;
        PTOContraction last = *t;
        last.columns = rest;
        last.b = (const ELEMENT *)t->b + all * t->b_column;
        last.c = (ELEMENT *)t->c + all * t->c_column;
        NAME(contract, NARROW)(&last, packed);
    }
#endif
    /* rows of b that lie far apart are read by several blocks, and meet each other in the cache */
    const bool is_far = t->rows >= 12 * ROWS && t->b_depth * (int64_t)sizeof(ELEMENT) >= FAR_BYTES;
    for (int64_t j = 0; j < all; j += COLUMNS) {
        const int64_t columns = all - j < COLUMNS ? all - j : COLUMNS;
        const int64_t vectors = (columns + WIDTH - 1) / WIDTH, filled = vectors * WIDTH;
        const bool packs = t->b_column != 1 || columns != filled || is_far;
        const bool in_place = t->c_column == 1 && columns == filled;
        const bool is_cut = in_place && !t->add && t->depth > PTOI_PANEL_DEPTH;
        const int64_t step = is_cut ? PTOI_PANEL_DEPTH : t->depth;
        ELEMENT *c = (ELEMENT *)t->c + j * t->c_column;
        int64_t first = 0;
        do {
            const int64_t depth = t->depth - first < step ? t->depth - first : step;
            const ELEMENT *b = (const ELEMENT *)t->b + first * t->b_depth + j * t->b_column;
            if (packs) NAME(pack, LEVEL)(depth, columns, filled, b, t->b_depth, t->b_column, packed);
            const ELEMENT *from = packs ? packed : b;
            const bool is_last = first + step >= t->depth && j + COLUMNS >= all;
            const ELEMENT *next = !is_far || is_last ? NULL
                                  : first + step < t->depth ? b + step * t->b_depth
                                                            : (const ELEMENT *)t->b + (j + COLUMNS) * t->b_column;
            const int64_t pitch = packs ? COLUMNS : t->b_depth;
            if (vectors == VECTORS)
                NAME(panel, LEVEL)(VECTORS, t, first, depth, from, pitch, c, columns, next);
            else if (VECTORS > 3 && vectors == 3)
                NAME(panel, LEVEL)(VECTORS > 3 ? 3 : 1, t, first, depth, from, pitch, c, columns, next);
            else if (VECTORS > 2 && vectors == 2)
                NAME(panel, LEVEL)(VECTORS > 2 ? 2 : 1, t, first, depth, from, pitch, c, columns, next);
            else
                NAME(panel, LEVEL)(1, t, first, depth, from, pitch, c, columns, next);
            first += step;
        } while (first < t->depth);
    }
}

/* clang-format on */
#undef vector
#undef WIDTH
#undef COLUMNS
#undef ELEMENT
#undef LEVEL
#undef TYPE
#undef SIDE
#undef TARGET
#undef BYTES
#undef ROWS
#undef VECTORS
#undef FMA
#undef NARROW
