// Options of GDALComputeProximity: see request.h, and GDAL's documentation of that function.
#include "request.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace apsis_gdal {
namespace {

/// The number that an option is, if it is there.
std::optional<double> number(char **options, const char *name) {
    const char *text = CSLFetchNameValue(options, name);
    if (!text) return {};
    return CPLAtof(text);
}

std::vector<int> read_values(char **options) {
    std::vector<int> values;
    char **const words = CSLTokenizeString2(CSLFetchNameValueDef(options, "VALUES", ""), ",", 0);
    for (int i = 0; i < CSLCount(words); ++i) values.push_back(std::atoi(words[i]));
    CSLDestroy(words);
    return values;
}

/// Whether distances are in georeferenced units.
bool is_geo(char **options) {
    const char *unit = CSLFetchNameValueDef(options, "DISTUNITS", "PIXEL");
    if (EQUAL(unit, "GEO")) return true;
    if (EQUAL(unit, "PIXEL")) return false;
    fail(CPLE_AppDefined, (std::string("DISTUNITS is '") + unit + "', but must be GEO or PIXEL").c_str());
}

/// Square pixels are counted, and their number is multiplied, as GDAL does.  Others have two sizes, which GDAL warns of, and
/// which are no matter here: also those of a raster that is turned.
void measure_pixels(GDALRasterBandH source, Request &request) {
    double g[6] = {0, 1, 0, 0, 0, 1};
    if (const GDALDatasetH dataset = GDALGetBandDataset(source)) GDALGetGeoTransform(dataset, g);
    const double width = std::hypot(g[1], g[4]), height = std::hypot(g[2], g[5]);
    if (std::abs(g[1] * g[2] + g[4] * g[5]) > 1e-9 * width * height)
        CPLError(CE_Warning, CPLE_AppDefined, "Pixels are no rectangles, distances will be inaccurate.");
    if (width == height) {
        request.scale = width;
    } else {
        request.spacing[0] = width;
        request.spacing[1] = height;
    }
}

}  // namespace

void fail(CPLErrorNum error, const char *sentence) {
    CPLError(CE_Failure, error, "%s", sentence);
    throw Failure();
}

bool Request::is_target(int value) const {
    return values.empty() ? value != 0 : std::find(values.begin(), values.end(), value) != values.end();
}

Request read_request(GDALRasterBandH source, GDALRasterBandH target, char **options) {
    Request request;
    request.values = read_values(options);
    if (is_geo(options)) measure_pixels(source, request);
    if (const auto distance = number(options, "MAXDIST")) request.max_distance = std::abs(*distance) / request.scale;
    request.fixed = number(options, "FIXED_BUF_VAL");
    int has_nodata = FALSE;
    const double input_nodata = GDALGetRasterNoDataValue(source, &has_nodata);
    if (has_nodata && CPLFetchBool(options, "USE_INPUT_NODATA", false)) request.input_nodata = input_nodata;
    const double target_nodata = GDALGetRasterNoDataValue(target, &has_nodata);
    if (const auto nodata = number(options, "NODATA"))
        request.nodata = static_cast<float>(*nodata);
    else if (has_nodata)
        request.nodata = static_cast<float>(target_nodata);
    return request;
}

}  // namespace apsis_gdal
