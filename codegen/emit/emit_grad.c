/* emit_grad.c - --emit=grad: the main file as it is compiled, gradients included.
 * Tests      test/lit/grad/layers.pto
 */
#include "codegen.h"
#include "grad/grad.h"

void codegen_grad(struct front *front, const struct checked *checked, const struct codegen_options *options,
                  struct strbuf *out)
{
    (void)options;
    grad_print_module(front, checked->modules[0], out);
}
