/* tokens.h - the kinds of names that an editor colours, as the protocol names them. */
#ifndef PTOC_LSP_TOKENS_H
#define PTOC_LSP_TOKENS_H

/* In the order of the legend. */
enum token_type {
    TYPE_NAMESPACE,
    TYPE_OF_STRUCT,
    TYPE_PROPERTY,
    TYPE_KERNEL,
    TYPE_FUNCTION,
    TYPE_CONSTANT,
    TYPE_DIMENSION,
    TYPE_SCALAR,
    TYPE_OF_TENSOR,
    TYPE_OF_VIEW,
    TYPE_INDEX,
    TYPE_MARKER
};
enum { IS_DECLARATION = 1 };

#define TOKENS_LEGEND                                                                                                  \
    "\"tokenTypes\":[\"namespace\",\"struct\",\"property\",\"kernel\",\"function\",\"enumMember\","                    \
    "\"typeParameter\",\"variable\",\"tensor\",\"view\",\"parameter\",\"modifier\"],\"tokenModifiers\":["              \
    "\"declaration\"]"

#endif
