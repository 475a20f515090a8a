/* What the apsis command says: its reports, as words and as JSON, its help, and what is wrong with a line. */
#include "tool_tiff.h"

#include <stdio.h>
#include <string.h>

static const char *const kReport[] = {
    "{\"command\": \"distance\", \"input\": \"in.tif\", \"width\": 37, \"height\": 23, \"pages\": 1",
    "\"volume\": false",
    "\"pixels\": 851",
    "\"sites\": ",
    "\"sites_are\": \"white\"",
    "\"threshold\": null",
    "\"spacing\": [1, 2]",
    "\"metric\": \"euclidean\"",
    "\"type\": \"f64\"",
    "\"max_distance\": null",
    "\"device\": {\"number\": ",
    "\"why\": \"",
    "\"threads\": 2",
    "\"minimum\": 0",
    "\"maximum\": ",
    "\"mean\": ",
    "\"seconds\": {\"prepare\": ",
    "\"read\": ",
    "\"transform\": ",
    "\"write\": ",
    "\"picture\": ",
    "\"total\": ",
    "\"outputs\": {\"distance\": \"o \\\"u\\u0009t.tif\", \"nearest\": null",
    "}}\n"};

static void test_words(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    succeed("distance in.tif out.tif");
    assert_in(out_text, "in.tif: 37 x 23 pixels");
    assert_in(out_text, "out.tif: distance 0 to ");
    succeed("distance in.tif out.tif -q --overwrite");
    assert_string_equal(out_text, "");

    succeed("distance in.tif 'o \"u\tt.tif' --json --spacing 1,2 --type f64 --threads 2 --sites white");
    for (size_t i = 0; i < sizeof kReport / sizeof *kReport; ++i) assert_in(out_text, kReport[i]);
    succeed("info in.tif --json");
    assert_in(out_text, "\"nonzero_is\": \"white\"");
    assert_in(out_text, "\"resolution\": {\"x\": 300, \"y\": 150, \"unit\": \"centimetre\"}");
    succeed("devices");
    assert_in(out_text, "cpu  ");
    succeed("devices --json");
    assert_in(out_text,
              "{\"command\": \"devices\", "
              "\"devices\": [{\"device\": \"cpu\", \"usable\": true, \"name\": \"");
    succeed("--version");
    assert_in(out_text, "apsis ");

    assert_int_equal(run("distance in.tif out.tif --overwrite -q --progress always"), 0);
    assert_string_equal(err_text, "");
    assert_int_equal(run("distance in.tif out.tif --overwrite --progress always"), 0);
    assert_in(err_text, "\rapsis: reading");
    assert_string_equal(err_text + strlen(err_text) - 4, "\r\033[K");
}

static const char *const kHelp[] = {"--nearest",
                                    "--sites",
                                    "--threshold",
                                    "--signed",
                                    "--squared",
                                    "--spacing",
                                    "--metric",
                                    "--max-distance",
                                    "--device",
                                    "--devices",
                                    "--threads",
                                    "--type",
                                    "--picture",
                                    "--json",
                                    "--progress",
                                    "--overwrite",
                                    "-q",
                                    "--volume",
                                    "--tiled",
                                    "--compress",
                                    "--bigtiff",
                                    "--picture-nearest",
                                    "--method",
                                    "--help",
                                    "black",
                                    "MinIsWhite",
                                    "APSIS_ERROR_RANGE",
                                    "  16 ",
                                    "130",
                                    "141",
                                    "SIGPIPE",
                                    "--max-pixels",
                                    "--memory",
                                    "3/8 byte",
                                    "--tolerate",
                                    "1,5"};

static void test_help(void **state) {
    (void)state;
    succeed("distance --help");
    for (size_t i = 0; i < sizeof kHelp / sizeof *kHelp; ++i) assert_in(out_text, kHelp[i]);
    char first[sizeof out_text];
    strcpy(first, out_text);
    succeed("help distance");
    assert_string_equal(out_text, first);
    succeed("distance in.tif -h");
    assert_string_equal(out_text, first);
    static const char *const ways[] = {"--help", "-h", "help"};
    for (int i = 0; i < 3; ++i) {
        succeed(ways[i]);
        assert_in(out_text, "distance");
        assert_in(out_text, "voronoi");
        assert_in(out_text, "devices");
        assert_in(out_text, "info");
        assert_in(out_text, "Exit codes");
    }
    succeed("info --help");
    assert_in(out_text, "--json");
    succeed("devices --help");
    assert_in(out_text, "--json");
}

static const struct {
    const char *words, *sentence;
} kUsage[] = {
    {"", "a verb is missing; see apsis --help"},
    {"distanse", "unknown verb 'distanse'"},
    {"--wat", "unknown option '--wat'"},
    {"help distanse", "unknown verb 'distanse'"},
    {"help distance x", "unexpected argument 'x'"},
    {"--version x", "unexpected argument 'x'"},
    {"--help x", "unexpected argument 'x'"},
    {"distance", "IN.tif is missing; see apsis distance --help"},
    {"distance in.tif", "OUT.tif is missing"},
    {"distance in.tif out.tif more.tif", "unexpected argument 'more.tif'"},
    {"distance in.tif ''", "OUT.tif is empty"},
    {"distance in.tif out.tif --wat", "unknown option '--wat'"},
    {"distance in.tif out.tif -z", "unknown option '-z'"},
    {"distance in.tif out.tif --nearest", "--nearest needs a value: OUT2.tif"},
    {"distance in.tif out.tif --signed=yes", "--signed takes no value, but got '--signed=yes'"},
    {"distance in.tif out.tif --sites ink", "--sites is 'ink', but must be one of nonzero|zero|black|white"},
    {"distance in.tif out.tif --threshold many", "--threshold is 'many', but must be a whole number"},
    {"distance in.tif out.tif --threshold 1.5", "--threshold is '1.5'"},
    {"distance in.tif out.tif --threads -1", "--threads is '-1', but must be a whole number, at least 0"},
    {"distance in.tif out.tif --device gpu", "--device is 'gpu', but must be auto, cpu or the number"},
    {"distance in.tif out.tif --max-distance -3", "--max-distance is '-3', but must be a number above 0"},
    {"distance in.tif out.tif --max-distance nan", "--max-distance is 'nan'"},
    {"distance in.tif out.tif --spacing 1,", "--spacing is '1,', but must be numbers above 0"},
    {"distance in.tif out.tif --spacing 1,0", "--spacing is '1,0'"},
    {"distance in.tif out.tif --spacing 1,1,1", "--spacing has 3 numbers, but must have 2 without --volume"},
    {"distance in.tif out.tif --spacing 1,1 --volume", "--spacing has 2 numbers, but must have 3 with --volume"},
    {"distance in.tif out.tif --spacing 2 --squared", "--spacing must be 1 for --type i32"},
    {"distance in.tif out.tif --spacing 1,2 --metric chessboard", "--spacing must be the same for every axis"},
    {"distance in.tif out.tif --metric chamfer", "--metric chamfer is for --method sequential-scan"},
    {"geodesic in.tif seeds.tif out.tif --weights 2,3", "--weights is for --metric chamfer"},
    {"geodesic in.tif seeds.tif out.tif --metric chamfer --weights 2", "--weights has 1 number, but must have 2 or 3"},
    {"geodesic in.tif seeds.tif out.tif --metric chamfer --volume --weights 3,4",
     "--weights has 2 numbers, but must have 3 with --volume"},
    {"geodesic in.tif seeds.tif out.tif --metric chamfer --weights 2,2.5", "--weights must be whole numbers from 1 to 1048576"},
    {"distance in.tif out.tif --metric beeline", "--metric is 'beeline', but must be one of euclidean|city-block|chessboard"},
    {"distance in.tif out.tif --type u8", "--type is 'u8', but must be one of f32|f64|i32|i64"},
    {"distance in.tif out.tif --type i32", "--type i32 cannot hold Euclidean distances; add --squared"},
    {"distance in.tif out.tif --squared --type f32", "--squared gives whole numbers, but --type is f32"},
    {"distance in.tif out.tif --squared --metric city-block", "--squared is for --metric euclidean"},
    {"distance in.tif out.tif --picture far.gif", "--picture is 'far.gif', but must end in .png or .tif"},
    {"distance in.tif far.png", "OUT.tif is 'far.png', but must end in .tif: maps are TIFF, and --picture draws a PNG"},
    {"components in.tif labels.PNG --type u8", "OUT.tif is 'labels.PNG', but must end in .tif"},
    {"voronoi in.tif cells.npy", "OUT.tif is 'cells.npy', but must end in .tif"},
    {"distance in.tif out.tif --nearest near.png", "--nearest is 'near.png', but must end in .tif"},
    {"distance in.tif out.tif --nearest ''", "--nearest is empty, but must be a file name"},
    {"geodesic in.tif in.tif far.jpg", "OUT.tif is 'far.jpg', but must end in .tif"},
    {"eccentricity in.tif far.tif --farthest far.csv", "--farthest is 'far.csv', but must end in .tif"},
    {"distance in.tif out.tif --nearest out.tif", "'out.tif' is named for two outputs"},
    {"distance in.tif out.tif --nearest ./out.tif", "'./out.tif' is named for two outputs"},
    {"info", "IN.tif is missing"},
    {"devices 0", "unexpected argument '0'"},
};

static void test_usage(void **state) {
    (void)state;
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    for (size_t i = 0; i < sizeof kUsage / sizeof *kUsage; ++i) {
        const int code = run("%s", kUsage[i].words);
        if (code != 2) fail_msg("apsis %s: exit code %d, but should be 2", kUsage[i].words, code);
        assert_in(err_text, kUsage[i].sentence);
        assert_in(err_text, "--help\n");
        assert_ptr_equal(strchr(err_text, '\n') + 1, err_text + strlen(err_text)); /* one line */
        assert_string_equal(out_text, "");
    }
    assert_files(1);
}

/** A map may have any name but that of another format. */
static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"far", "far.TIFF", "far.btf", "far.2", "png"};
    make_samples(1, 5);
    write_tiff("in.tif", &kBits, WIDTH, HEIGHT, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) assert_int_equal(run("distance in.tif %s", names[i]), 0);
    assert_files(6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_words, start),
        cmocka_unit_test_setup(test_help, start),
        cmocka_unit_test_setup(test_usage, start),
        cmocka_unit_test_setup(test_names, start),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
