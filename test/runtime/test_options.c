/* test_options.c - the run options: values taken exactly, everything else refused in one line. */
#include "unit.h"

#include "host/options.h"

#include <math.h>
#include <string.h>

static struct host_options o;
static struct host_error error;

/* Parses the words, which end with NULL. */
static int parse(char **words)
{
    int count = 1;
    char *argv[32] = {(char *)"program"};
    for (; words[count - 1]; count++) argv[count] = words[count - 1];
    memset(&error, 0, sizeof error);
    return ptoi_options_parse(&o, count, argv, &error);
}
#define PARSE(...) parse((char *[]){__VA_ARGS__, NULL})

static void refuse(char **words, const char *why)
{
    int code = parse(words);
    ptoi_options_free(&o);
    if (code != HOST_USAGE || !strstr(error.text, why))
        print_message("code %d, '%s' is not in: %s\n", code, why, error.text);
    EXPECT_EQ(code, HOST_USAGE);
    EXPECT(strstr(error.text, why) != NULL);
    EXPECT(strchr(error.text, '\n') == NULL);
}
#define REFUSE(why, ...) refuse((char *[]){__VA_ARGS__, NULL}, why)

TEST(nothing_asked_for_is_all_defaults)
{
    EXPECT_EQ(parse((char *[]){NULL}), HOST_OK);
    EXPECT(o.config.engine == PTO_ENGINE_THREADS && o.config.task_window == 0 && o.config.heap_bytes == 0);
    EXPECT(!o.check && !o.stats && !o.quiet && o.entry == NULL);
    ptoi_options_free(&o);
}

TEST(both_forms_of_every_option)
{
    EXPECT_EQ(PARSE("--window", "64", "--heap=2M", "--rings", "2", "--deps=1k", "--tensormap", "0x100",
                    "--recursion=1_000", "--engine", "serial", "--backend=sim", "--entry", "main", "--check", "--stats",
                    "--quiet", "--progress", "--workers", "cube=4,vector=0"),
              HOST_OK);
    EXPECT_EQ(o.config.task_window, 64);
    EXPECT_EQ(o.config.heap_bytes, 2 << 20);
    EXPECT_EQ(o.config.heap_rings, 2);
    EXPECT_EQ(o.config.deplist_entries, 1024);
    EXPECT_EQ(o.config.tensormap_entries, 256);
    EXPECT_EQ(o.config.recursion_limit, 1000);
    EXPECT(o.config.engine == PTO_ENGINE_SERIAL);
    EXPECT_STR(o.config.backend, "sim");
    EXPECT_STR(o.entry, "main");
    EXPECT(o.check && o.stats && o.quiet && o.progress);
    EXPECT_EQ(o.config.workers[PTO_WORKER_CUBE], 4);
    EXPECT_EQ(o.config.workers[PTO_WORKER_VECTOR], 0);
    EXPECT_EQ(o.config.workers[PTO_WORKER_AI_CPU], 1); /* not named: one */
    ptoi_options_free(&o);
}

TEST(settings_keep_what_was_given)
{
    EXPECT_EQ(PARSE("--set", "n=4", "--set=vec.n=-1", "--input", "A=a=b.npy", "--input=B=random:0x10", "--output",
                    "C=c.npy", "--dim", "M=512"),
              HOST_OK);
    EXPECT_EQ(o.set_count, 2);
    EXPECT(ptoi_setting_is(&o.sets[0], "n") && strcmp(o.sets[0].value, "4") == 0);
    EXPECT(ptoi_setting_is(&o.sets[1], "vec.n") && !ptoi_setting_is(&o.sets[1], "vec"));
    EXPECT(o.inputs[0].fill.kind == FILL_NONE && strcmp(o.inputs[0].setting.value, "a=b.npy") == 0);
    EXPECT(o.inputs[1].fill.kind == FILL_RANDOM && o.inputs[1].fill.seed == 16);
    EXPECT(o.output_count == 1 && o.dim_count == 1);
    ptoi_options_free(&o);
}

TEST(unknown_options_say_what_is_near)
{
    REFUSE("did you mean '--window'?", "--windw=4");
    REFUSE("did you mean '--input'?", "--imput", "A=a.npy");
    REFUSE("unknown option '--zzzzzzzz'; --help", "--zzzzzzzz");
    REFUSE("unexpected argument 'foo'", "foo");
    REFUSE("unexpected argument '-x'", "-x");
    REFUSE("unexpected argument '--check'", "--", "--check");
    REFUSE("a number of seconds above 0", "--watchdog", "0");
    REFUSE("above 0, and at most 1000000000, is expected", "--grace", "1e10");
    REFUSE("--submit-cycles must be at least 0, not -1", "--submit-cycles", "-1");
    REFUSE("--dispatch-cycles must be at most 1099511627776, not 2048G", "--dispatch-cycles", "2048G");
    REFUSE("takes no value", "--check=yes");
    REFUSE("unknown option '--'", "--=3");
}

TEST(values_that_are_missing)
{
    REFUSE("--window needs N", "--window");
    REFUSE("--window needs N", "--window", "--check");
    REFUSE("not nothing", "--window=");
    REFUSE("takes name=value", "--set", "n");
    REFUSE("takes name=value", "--set", "=4");
    REFUSE("takes name=value", "--input", "A=");
    REFUSE("twice", "--set", "n=1", "--set", "n=2");
    REFUSE("twice", "--input", "A=zeros", "--input", "A=ones");
    REFUSE("--graph is given twice", "--graph", "a", "--graph=b");
    REFUSE("--workers is given twice", "--workers", "cube=2", "--workers", "vector=2");
    REFUSE("--engine is given twice", "--engine", "serial", "--engine", "serial");
    REFUSE("two arrays", "--output", "A=x.npy", "--output", "B=x.npy");
}

TEST(sizes_are_checked)
{
    REFUSE("power of two", "--window=3");
    REFUSE("at least 2", "--window=1");
    REFUSE("at least 2", "--window=0");
    REFUSE("at least 2", "--window=-4");
    REFUSE("at least 64", "--heap=0");
    REFUSE("at least 64", "--heap=63");
    REFUSE("takes a number", "--heap=nan");
    REFUSE("takes a number", "--heap=inf");
    REFUSE("takes a number", "--heap=1.5K");
    REFUSE("takes a number", "--heap=64KB");
    REFUSE("takes a number", "--heap=64T");
    REFUSE("takes a number", "--heap=1e6");
    REFUSE("takes a number", "--heap= 64");
    REFUSE("takes a number", "--heap=0x");
    REFUSE("takes a number", "--heap=_1");
    REFUSE("takes a number", "--heap=1_");
    REFUSE("takes a number", "--heap=K");
    REFUSE("--heap must be at most 1099511627776, not ", "--heap=9223372036854775808");
    REFUSE("--heap must be at most 1099511627776, not ", "--heap=9007199254740992K");
    REFUSE("--heap must be at most 1099511627776, not ", "--heap=99999999999999999999999999G");
    REFUSE("at most 64", "--rings=65");
    REFUSE("at least 1", "--rings=0");
    REFUSE("at least 2", "--deps=1");
    REFUSE("at least 2", "--tensormap=0");
    REFUSE("at least 1", "--recursion=0");
    REFUSE("at most 1048576", "--recursion=4G");
}

TEST(dimensions_are_integers_from_0)
{
    REFUSE("takes an integer, not 'nan'", "--dim=M=nan");
    REFUSE("negative", "--dim=M=-1");
    REFUSE("64 bits", "--dim=M=9223372036854775808");
    REFUSE("takes an integer", "--dim=M=4K");
    EXPECT_EQ(PARSE("--dim=M=0"), HOST_OK);
    ptoi_options_free(&o);
}

TEST(names_of_engines_backends_and_workers)
{
    REFUSE("did you mean 'serial'?", "--engine=serail");
    REFUSE("there are threads", "--engine=warp");
    REFUSE("there are sim (default), ascend", "--backend=elsewhere");
    REFUSE("did you mean 'sim'?", "--backend=sm");
    REFUSE("did you mean 'vector'?", "--workers=vectr=2");
    REFUSE("there is no worker type 'warp'; --workers takes cube=N,", "--workers=warp=2");
    REFUSE("takes cube=N", "--workers=4");
    REFUSE("takes cube=N", "--workers=cube=1,,vector=1");
    REFUSE("takes cube=N", "--workers=cube=1,");
    REFUSE("a number from 0 to 1024, not '-1'", "--workers=cube=-1");
    REFUSE("a number from 0 to 1024, not ''", "--workers=cube=");
    REFUSE("a number from 0 to 1024, not 'nan'", "--workers=cube=nan");
    REFUSE("a number from 0", "--workers=cube=99999999999999999999");
    REFUSE("twice", "--workers=cube=1,cube=2");
    REFUSE("no worker at all", "--workers=cube=0,vector=0,cpu=0,accel=0");
    REFUSE("random:SEED takes an integer", "--input=A=random:x");
    REFUSE("random:SEED takes an integer", "--input=A=random:");
}

static void scalar(const char *text, PTOType type, const char *why)
{
    PTOScalar value;
    EXPECT_EQ(ptoi_parse_scalar("n", text, type, &value, &error), HOST_USAGE);
    EXPECT(strstr(error.text, why) != NULL);
    EXPECT_STR(error.id, "E16");
}

TEST(scalars_are_taken_exactly_or_refused)
{
    PTOScalar v;
    EXPECT(ptoi_parse_scalar("n", "-9223372036854775808", PTO_I64, &v, &error) == HOST_OK && v.i64 == INT64_MIN);
    EXPECT(ptoi_parse_scalar("n", "9_223_372_036_854_775_807", PTO_I64, &v, &error) == HOST_OK && v.i64 == INT64_MAX);
    EXPECT(ptoi_parse_scalar("n", "-0xFf", PTO_I64, &v, &error) == HOST_OK && v.i64 == -255);
    EXPECT(ptoi_parse_scalar("n", "0.1", PTO_F32, &v, &error) == HOST_OK && v.f32 == 0.1f);
    EXPECT(ptoi_parse_scalar("n", "-inf", PTO_F64, &v, &error) == HOST_OK && v.f64 == -(double)INFINITY);
    EXPECT(ptoi_parse_scalar("n", "nan", PTO_F64, &v, &error) == HOST_OK && isnan(v.f64));
    EXPECT(ptoi_parse_scalar("n", "1e-400", PTO_F64, &v, &error) == HOST_OK && v.f64 == 0);
    EXPECT(ptoi_parse_scalar("n", "true", PTO_BOOL, &v, &error) == HOST_OK && v.b);
    EXPECT(ptoi_parse_scalar("n", "0", PTO_BOOL, &v, &error) == HOST_OK && !v.b);
    scalar("9223372036854775808", PTO_I64, "does not fit");
    scalar("-9223372036854775809", PTO_I64, "does not fit");
    scalar("nan", PTO_I64, "not an integer");
    scalar("1.0", PTO_I64, "not an integer");
    scalar("1e3", PTO_I64, "not an integer");
    scalar("", PTO_I64, "not an integer");
    scalar("-", PTO_I64, "not an integer");
    scalar("--1", PTO_I64, "not an integer");
    scalar("1__0x", PTO_I64, "not an integer");
    scalar("12a", PTO_I64, "not an integer");
    scalar("true", PTO_I64, "not an integer");
    scalar("1e400", PTO_F64, "does not fit");
    scalar("1e39", PTO_F32, "does not fit");
    scalar("one", PTO_F32, "not a number");
    scalar(" 1", PTO_F64, "not a number");
    scalar("1 ", PTO_F64, "not a number");
    scalar("nan(1)", PTO_F64, "not a number");
    scalar("", PTO_F64, "not a number");
    scalar("yes", PTO_BOOL, "not true, false, 1 or 0");
    scalar("2", PTO_BOOL, "not true, false, 1 or 0");
}

TEST(the_nearest_name_is_near)
{
    static const char *const names[] = {"alpha", "beta", "n"};
    EXPECT_STR(ptoi_nearest_name("alhpa", 5, (const char *const[]){"alphaa", "alpha"}, 2), "alpha");
    EXPECT(ptoi_nearest_name("gamma", 5, names, 3) == NULL);
    EXPECT_STR(ptoi_nearest_name("alpa", 4, names, 3), "alpha");
    EXPECT(ptoi_nearest_name("m", 1, names, 3) == NULL);
    EXPECT(ptoi_nearest_name("", 0, names, 3) == NULL);
    char longer[200];
    memset(longer, 'a', sizeof longer);
    EXPECT(ptoi_nearest_name(longer, sizeof longer, names, 3) == NULL);
}
