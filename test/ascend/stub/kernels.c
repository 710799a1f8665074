/* kernels.c - kernels: an object that is loaded, its functions, and their launches. */
#include "stub.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Kernels of the AI CPU: the library beside the description, if it is loaded in the mode for that. */
static const char *library_of(const char *path, const aclrtBinaryLoadOptions *options, char *text, size_t size)
{
    const size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".json") != 0) return path;
    const aclrtBinaryLoadOption *o = options && options->numOpt == 1 ? options->options : NULL;
    if (!o || o->type != ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE || o->value.cpuKernelMode != 1) return NULL;
    snprintf(text, size, "%.*s.so", (int)(length - 5), path);
    return text;
}

aclError aclrtBinaryLoadFromFile(const char *path, aclrtBinaryLoadOptions *options, aclrtBinHandle *binary)
{
    char text[4096];
    int error = stub_enter("aclrtBinaryLoadFromFile", true);
    if (!error && path[0] != '/')
        error = stub_mistake(ERROR_PARAM, "aclrtBinaryLoadFromFile of a path that is not absolute");
    const char *file = error ? NULL : library_of(path, options, text, sizeof text);
    if (!error && !file)
        error = stub_mistake(ERROR_PARAM, "aclrtBinaryLoadFromFile of AI CPU kernels in another mode than 1");
    if (error) return stub_leave(error);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(stub_message, sizeof stub_message, "%s", dlerror());
        stub_say("aclrtBinaryLoadFromFile: not an object");
        return stub_leave(ERROR_LOAD);
    }
    struct object *o = stub_make(BINARY);
    o->library = library;
    const char *slash = strrchr(path, '/');
    stub_say("aclrtBinaryLoadFromFile(%s) binary %d", slash ? slash + 1 : path, o->number);
    *binary = o;
    return stub_leave(0);
}

aclError aclrtBinaryGetFunction(aclrtBinHandle binary, const char *name, aclrtFuncHandle *function)
{
    int error = stub_enter("aclrtBinaryGetFunction", true);
    struct object *b = stub_find(BINARY, binary);
    if (!error && !b) error = stub_mistake(ERROR_PARAM, "aclrtBinaryGetFunction of something that is no binary");
    if (error) return stub_leave(error);
    void *found = dlsym(b->library, name);
    if (!found) {
        snprintf(stub_message, sizeof stub_message, "no kernel '%s'", name);
        stub_say("aclrtBinaryGetFunction(%s): not found", name);
        return stub_leave(ERROR_LOAD);
    }
    struct object *o = stub_make(FUNCTION);
    o->binary = b;
    memcpy(&o->function, &found, sizeof found);
    stub_say("aclrtBinaryGetFunction(binary %d, %s) function %d", b->number, name, o->number);
    *function = o;
    return stub_leave(0);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binary)
{
    const int error = stub_enter("aclrtBinaryUnLoad", true);
    return stub_leave(stub_give_back(error, BINARY, binary, "aclrtBinaryUnLoad"));
}

static int launch(const char *name, int error, const void *function, uint32_t blocks, const void *stream,
                  const aclrtLaunchKernelCfg *config, const uint64_t *block, size_t bytes)
{
    struct object *s = error ? NULL : stub_stream_of(stream, name, &error), *f = stub_find(FUNCTION, function);
    if (!error && !f) error = stub_mistake(ERROR_PARAM, "%s of something that is no function", name);
    if (!error && stub_is_device(block))
        error = stub_mistake(ERROR_PARAM, "%s: the arguments are to be in host memory", name);
    if (!error && (bytes % sizeof *block || (bytes > 0 && !block) || blocks == 0))
        error = stub_mistake(ERROR_PARAM, "%s: a bad block", name);
    if (!error && config && (config->numAttrs != 1 || config->attrs->id != ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE))
        error = stub_mistake(ERROR_PARAM, "%s: a bad configuration", name);
    if (error) return error;
    struct work *w = calloc(1, sizeof *w + bytes);
    *w = (struct work){.kind = ++stub.launches == stub_setting("PTO_STUB_HANG", 0) ? WORK_HANG : WORK_KERNEL,
                       .function = f->function,
                       .blocks = blocks,
                       .bytes = bytes};
    if (bytes > 0) memcpy(w->block, block, bytes);
    stub_say("%s(function %d, blocks %u, stream %d, words %zu%s)", name, f->number, blocks, s->number,
             bytes / sizeof *block,
             !config                                                     ? ""
             : config->attrs->value.engineType == ACL_RT_ENGINE_TYPE_AIC ? ", AIC"
                                                                         : ", AIV");
    stub_enqueue(s, w);
    return 0;
}

#ifndef STUB_OLD
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg *config, void *args, size_t bytes,
                                       aclrtPlaceHolderInfo *placeholders, size_t placeholder_count)
{
    static const char name[] = "aclrtLaunchKernelWithHostArgs";
    int error = stub_enter(name, true);
    if (!error && (placeholders || placeholder_count))
        error = stub_mistake(ERROR_PARAM, "%s with placeholders, which nobody here uses", name);
    return stub_leave(launch(name, error, function, blocks, stream, config, args, bytes));
}
#else
aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle *args)
{
    int error = stub_enter("aclrtKernelArgsInit", true);
    if (!error && !stub_find(FUNCTION, function))
        error = stub_mistake(ERROR_PARAM, "aclrtKernelArgsInit of something that is no function");
    if (error) return stub_leave(error);
    *args = stub_make(ARGUMENTS);
    stub_say("aclrtKernelArgsInit()");
    return stub_leave(0);
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle args, void *value, size_t bytes, aclrtParamHandle *param)
{
    int error = stub_enter("aclrtKernelArgsAppend", true);
    struct object *a = stub_find(ARGUMENTS, args);
    if (!error && (!a || a->is_ending || bytes != sizeof(uint64_t) || stub_is_device(value)))
        error = stub_mistake(ERROR_PARAM, "aclrtKernelArgsAppend");
    if (error) return stub_leave(error);
    memcpy(&a->words[a->word_count++], value, bytes);
    *param = &a->words[a->word_count - 1];
    stub_say("aclrtKernelArgsAppend()");
    return stub_leave(0);
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle args)
{
    int error = stub_enter("aclrtKernelArgsFinalize", true);
    struct object *a = stub_find(ARGUMENTS, args);
    if (!error && !a)
        error = stub_mistake(ERROR_PARAM, "aclrtKernelArgsFinalize of something that is no list of arguments");
    if (error) return stub_leave(error);
    a->is_ending = true;
    stub_say("aclrtKernelArgsFinalize()");
    return stub_leave(0);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *config, aclrtArgsHandle args, void *reserved)
{
    static const char name[] = "aclrtLaunchKernelWithConfig";
    int error = stub_enter(name, true);
    struct object *a = stub_find(ARGUMENTS, args);
    if (!error && (!a || !a->is_ending || reserved))
        error = stub_mistake(ERROR_PARAM, "%s with arguments that are not finished", name);
    error = launch(name, error, function, blocks, stream, config, a ? a->words : NULL,
                   a ? a->word_count * sizeof a->words[0] : 0);
    if (!error) stub_drop(a);
    return stub_leave(error);
}
#endif
