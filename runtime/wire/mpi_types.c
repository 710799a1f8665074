/* mpi_types.c - see mpi_types.h. */
#include "mpi_types.h"
#include <stdio.h>

MPI_Datatype ptoi_mpi_element(const PTOArg *view)
{
    return view->type == PTO_U64   ? MPI_UINT64_T
           : view->type == PTO_U32 ? MPI_UINT32_T
           : view->type == PTO_U16 ? MPI_UINT16_T
                                   : MPI_UINT8_T;
}

static __attribute__((noinline)) void explain_error(struct wire *w, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(error, text, &length) == MPI_SUCCESS)
        snprintf(w->why, sizeof w->why, "%.*s", (int)sizeof w->why - 1, text);
}

bool ptoi_mpi_explain(struct wire *w, int error)
{
    if (error != MPI_SUCCESS) explain_error(w, error);
    return error == MPI_SUCCESS;
}

/* false: it has too many elements, or MPI failed. */
static bool make_type(struct wire *w, const PTOArg *view, MPI_Datatype *type)
{
    int unit;
    MPI_Type_size(ptoi_mpi_element(view), &unit);
    bool ok = ptoi_mpi_explain(w, MPI_Type_dup(ptoi_mpi_element(view), type));
    for (int d = view->rank - 1; d >= 0 && ok; d--) {
        MPI_Datatype inner = *type;
        const bool fits = view->shape[d] <= INT32_MAX;
        if (!fits) snprintf(w->why, sizeof w->why, "a dimension has more than 2147483647 elements");
        ok = fits && ptoi_mpi_explain(w, MPI_Type_create_hvector((int)view->shape[d], 1,
                                                                 (MPI_Aint)view->stride[d] * unit, inner, type));
        MPI_Type_free(&inner);
    }
    return ok;
}

bool ptoi_mpi_is_dense(const PTOArg *view, int *count)
{
    int64_t elements = 1;
    bool dense = true;
    for (int d = view->rank - 1; d >= 0 && dense; d--) {
        dense = view->stride[d] == elements && elements > 0 && view->shape[d] <= INT32_MAX / elements;
        elements *= view->shape[d];
    }
    *count = (int)elements;
    return dense;
}

/* Several views as one type, from absolute addresses. */
static bool join_types(struct wire *w, const PTOArg *view, int count, MPI_Datatype *type)
{
    MPI_Datatype one[PTO_MAX_PARAMS];
    MPI_Aint at[PTO_MAX_PARAMS];
    int length[PTO_MAX_PARAMS], made = 0;
    bool ok = count <= PTO_MAX_PARAMS;
    for (; ok && made < count; made++) {
        length[made] = 1;
        ok = ptoi_mpi_explain(w, MPI_Get_address(view[made].ptr, &at[made])) && make_type(w, &view[made], &one[made]);
    }
    ok = ok && ptoi_mpi_explain(w, MPI_Type_create_struct(count, length, at, one, type));
    for (int k = 0; k < (ok ? made : made - 1); k++) MPI_Type_free(&one[k]);
    return ok;
}

bool ptoi_mpi_type(struct wire *w, const PTOArg *view, int count, MPI_Datatype *type)
{
    return (count == 1 ? make_type(w, view, type) : join_types(w, view, count, type)) &&
           ptoi_mpi_explain(w, MPI_Type_commit(type));
}
