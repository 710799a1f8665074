/* methods.c - the requests that the server answers, and how it announces them to the client.
 * Tests      test/lsp/session.py, requests.py
 */
#include "methods.h"
#include "tokens.h"
#include <string.h>

static const struct {
    const char *method;
    request_function *request;
    const char *capability; /* or NULL: another row has it */
} methods[] = {
    {"textDocument/codeAction", actions_request,
     "\"codeActionProvider\":{\"codeActionKinds\":[\"quickfix\",\"source.fixAll\",\"source.format\"]}"},
    {"textDocument/formatting", formatting_request, "\"documentFormattingProvider\":true"},
    {"textDocument/onTypeFormatting", formatting_request,
     "\"documentOnTypeFormattingProvider\":{\"firstTriggerCharacter\":\"}\"}"},
    {"textDocument/definition", definition_request, "\"definitionProvider\":true"},
    {"textDocument/references", references_request, "\"referencesProvider\":true"},
    {"textDocument/prepareRename", prepare_rename_request, NULL},
    {"textDocument/rename", rename_request, "\"renameProvider\":{\"prepareProvider\":true}"},
    {"textDocument/documentSymbol", document_symbols_request, "\"documentSymbolProvider\":true"},
    {"workspace/symbol", workspace_symbols_request, "\"workspaceSymbolProvider\":true"},
    {"textDocument/hover", hover_request, "\"hoverProvider\":true"},
    {"textDocument/completion", completion_request, "\"completionProvider\":{\"triggerCharacters\":[\".\",\"@\"]}"},
    {"textDocument/signatureHelp", signature_request,
     "\"signatureHelpProvider\":{\"triggerCharacters\":[\"(\",\",\"]}"},
    {"textDocument/inlayHint", hints_request, "\"inlayHintProvider\":true"},
    {"textDocument/semanticTokens/full", tokens_request,
     "\"semanticTokensProvider\":{\"legend\":{" TOKENS_LEGEND "},\"full\":true}"},
    {"textDocument/codeLens", lens_request, "\"codeLensProvider\":{}"},
};
enum { METHODS = sizeof methods / sizeof *methods };

request_function *methods_find(const char *method)
{
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i].method, method) == 0) return methods[i].request;
    return NULL;
}

void methods_capabilities(struct strbuf *out)
{
    strbuf_puts(out, "\"textDocumentSync\":{\"openClose\":true,\"change\":2,\"save\":true}");
    for (size_t i = 0; i < METHODS; i++)
        if (methods[i].capability) strbuf_printf(out, ",%s", methods[i].capability);
}
