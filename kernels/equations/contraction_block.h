/* contraction_block.h - the block of contraction.c for one element type and level, which its macros say. */
#define vector  NAME(vector, LEVEL)
#define WIDTH   ((int64_t)(BYTES / sizeof(ELEMENT)))
#define COLUMNS (VECTORS * WIDTH)

typedef ELEMENT vector __attribute__((vector_size(BYTES), aligned(sizeof(ELEMENT)), may_alias));

/* Loops stand behind their pragmas. */
/* clang-format off */

/* `rows` rows by `vectors` vectors: into dense rows of `out`. */
TARGET static inline __attribute__((always_inline)) void
NAME(block, LEVEL)(const int rows, const int vectors, int64_t depth, const ELEMENT *a, int64_t a_row, int64_t a_depth,
                   const ELEMENT *b, int64_t b_depth, ELEMENT *out, int64_t out_row, bool add)
{
    const vector zero = {0};
    vector sum[ROWS][VECTORS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = zero;
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

/* All rows of a panel of `vectors` vectors, of whose columns the first `columns` are stored. */
TARGET static inline __attribute__((always_inline)) void
NAME(panel, LEVEL)(const int vectors, const PTOContraction *t, const ELEMENT *b, int64_t b_depth, ELEMENT *c,
                   int64_t columns)
{
    const ELEMENT *a = t->a;
    const bool in_place = t->c_column == 1 && columns == vectors * WIDTH;
    ELEMENT part[ROWS * COLUMNS];
    for (int64_t i = 0; i < t->rows;) {
        const int64_t rows = t->rows - i >= ROWS ? ROWS : t->rows - i >= 2 ? 2 : 1;
        ELEMENT *out = in_place ? c + i * t->c_row : part;
        const int64_t out_row = in_place ? t->c_row : COLUMNS;
        const bool add = in_place && t->add;
        if (rows == ROWS)
            NAME(block, LEVEL)(ROWS, vectors, t->depth, a + i * t->a_row, t->a_row, t->a_depth, b, b_depth, out,
                               out_row, add);
        else if (rows == 2)
            NAME(block, LEVEL)(2, vectors, t->depth, a + i * t->a_row, t->a_row, t->a_depth, b, b_depth, out, out_row,
                               add);
        else
            NAME(block, LEVEL)(1, vectors, t->depth, a + i * t->a_row, t->a_row, t->a_depth, b, b_depth, out, out_row,
                               add);
        for (int64_t r = 0; !in_place && r < rows; r++)
            for (int64_t j = 0; j < columns; j++) {
                ELEMENT *to = c + (i + r) * t->c_row + j * t->c_column;
                *to = t->add ? *to + part[r * COLUMNS + j] : part[r * COLUMNS + j];
            }
        i += rows;
    }
}

TARGET static void NAME(contract, LEVEL)(const PTOContraction *t, ELEMENT *packed)
{
    for (int64_t j = 0; j < t->columns; j += COLUMNS) {
        const int64_t columns = t->columns - j < COLUMNS ? t->columns - j : COLUMNS;
        const int64_t vectors = (columns + WIDTH - 1) / WIDTH;
        const ELEMENT *b = (const ELEMENT *)t->b + j * t->b_column;
        ELEMENT *c = (ELEMENT *)t->c + j * t->c_column;
        int64_t b_depth = t->b_depth;
        if (t->b_column != 1 || columns != vectors * WIDTH) {
            if (t->b_depth < t->b_column) /* along the memory */
                for (int64_t l = 0; l < columns; l++)
                    for (int64_t k = 0; k < t->depth; k++)
                        packed[k * COLUMNS + l] = b[k * t->b_depth + l * t->b_column];
            else
                for (int64_t k = 0; k < t->depth; k++)
                    for (int64_t l = 0; l < columns; l++)
                        packed[k * COLUMNS + l] = b[k * t->b_depth + l * t->b_column];
            for (int64_t k = 0; k < t->depth; k++)
                for (int64_t l = columns; l < vectors * WIDTH; l++) packed[k * COLUMNS + l] = 0;
            b = packed;
            b_depth = COLUMNS;
        }
        if (vectors == VECTORS)
            NAME(panel, LEVEL)(VECTORS, t, b, b_depth, c, columns);
        else if (VECTORS > 3 && vectors == 3)
            NAME(panel, LEVEL)(VECTORS > 3 ? 3 : 1, t, b, b_depth, c, columns);
        else if (VECTORS > 2 && vectors == 2)
            NAME(panel, LEVEL)(VECTORS > 2 ? 2 : 1, t, b, b_depth, c, columns);
        else
            NAME(panel, LEVEL)(1, t, b, b_depth, c, columns);
    }
}

/* clang-format on */
#undef vector
#undef WIDTH
#undef COLUMNS
#undef ELEMENT
#undef LEVEL
#undef TARGET
#undef BYTES
#undef ROWS
#undef VECTORS
#undef FMA
