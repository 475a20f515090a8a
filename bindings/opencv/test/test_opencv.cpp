// apsis_opencv.hpp against brute force, and against OpenCV's own functions where these are exact.
#include <apsis_opencv.hpp>

#include <climits>
#include <cstdio>

#include "oracle.hpp"

static int failures = 0;
#define CHECK(what) ((what) ? (void)0 : (void)(++failures, std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what)))

static bool same(const cv::Mat &a, const cv::Mat &b) {
    return a.size() == b.size() && a.type() == b.type() && (a.empty() || cv::norm(a, b, cv::NORM_INF) == 0);
}

template <class Call>
static bool throws(Call call) {
    try {
        call();
    } catch (const cv::Exception &) {
        return true;
    }
    return false;
}

/// A root of the exact square, rounded once.
static cv::Mat roots(const cv::Mat &squares) {
    cv::Mat out(squares.size(), CV_32F);
    for (int y = 0; y < out.rows; ++y)
        for (int x = 0; x < out.cols; ++x) out.at<float>(y, x) = static_cast<float>(std::sqrt(double(squares.at<int>(y, x))));
    return out;
}

static void distances(const cv::Mat &image) {
    const cv::Mat squares = squares_to_zero(image);
    cv::Mat out, theirs;
    apsis::distanceTransform(image, out, cv::DIST_L2, cv::DIST_MASK_5, CV_32S);
    CHECK(same(out, squares));
    apsis::distanceTransform(image, out, cv::DIST_L2, cv::DIST_MASK_PRECISE);
    CHECK(same(out, roots(squares)));
    for (const int type : {cv::DIST_L1, cv::DIST_C}) {
        apsis::distanceTransform(image, out, type, 3);
        cv::distanceTransform(image, theirs, type, 3);
        CHECK(same(out, theirs));
    }
    apsis::distanceTransform(image, out, cv::DIST_L1, 3, CV_8U);
    cv::distanceTransform(image, theirs, cv::DIST_L1, 3, CV_8U);
    CHECK(same(out, theirs));
}

/// The pixels of a label are at distance 0 from it, so OpenCV's labels there tell what each of ours must be.
static void voronoi_labels(const cv::Mat &image) {
    const cv::Mat squares = squares_to_zero(image);
    cv::Mat out, index, labels, theirs, theirs_out;
    apsis::distanceTransform(image, out, index, cv::DIST_L2, 5, apsis::DIST_LABEL_INDEX);
    CHECK(same(out, roots(squares)));
    for (const int type : {cv::DIST_LABEL_PIXEL, cv::DIST_LABEL_CCOMP}) {
        apsis::distanceTransform(image, out, labels, cv::DIST_L2, 5, type);
        cv::distanceTransform(image, theirs_out, theirs, cv::DIST_L2, 5, type);
        CHECK(same(out, roots(squares)));
        bool right = true;
        for (int y = 0; y < image.rows; ++y)
            for (int x = 0; x < image.cols; ++x) {
                const int at = index.at<int>(y, x), dx = at % image.cols - x, dy = at / image.cols - y;
                right = right && at >= 0 && dx * dx + dy * dy == squares.at<int>(y, x) &&
                        labels.at<int>(y, x) == theirs.at<int>(at / image.cols, at % image.cols);
            }
        CHECK(right);
    }
}

/// Ours and theirs are the same but for names: by 8 neighbours OpenCV numbers blocks of 2 x 2.
static void components(const cv::Mat &image, int connectivity) {
    cv::Mat labels, stats, centroids, labels16, theirs, theirs_stats, theirs_centroids;
    const int count = apsis::connectedComponentsWithStats(image, labels, stats, centroids, connectivity);
    CHECK(count == cv::connectedComponentsWithStats(image, theirs, theirs_stats, theirs_centroids, connectivity));
    CHECK(apsis::connectedComponents(image, labels16, connectivity, CV_16U) == count);
    cv::Mat narrow;
    labels.convertTo(narrow, CV_16U);
    CHECK(same(labels16, narrow));
    std::vector<int> name(static_cast<size_t>(count), -1);
    int last = 0;
    bool right = stats.rows == count && centroids.rows == count;
    for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x) {
            const int mine = labels.at<int>(y, x);
            int &theirs_name = name[static_cast<size_t>(mine)];
            right = right && mine <= last + 1;
            last = std::max(last, mine);
            if (theirs_name < 0) theirs_name = theirs.at<int>(y, x);
            right = right && theirs_name == theirs.at<int>(y, x);
        }
    for (int i = 0; i < count && right; ++i) {
        const int k = name[static_cast<size_t>(i)];
        if (k < 0) continue;  // no background
        right =
            same(stats.row(i), theirs_stats.row(k)) && cv::norm(centroids.row(i), theirs_centroids.row(k), cv::NORM_INF) < 1e-9;
    }
    CHECK(right);
}

static void shapes(cv::RNG &rng) {
    for (const cv::Size size : {cv::Size(1, 1), cv::Size(1, 40), cv::Size(40, 1), cv::Size(33, 65), cv::Size(257, 130)})
        for (const double density : {.001, .05, .5, .99}) {
            cv::Mat image = noise(size.height, size.width, density, rng);
            image.at<uchar>(size.height / 2, size.width / 2) = 0;
            distances(image);
            voronoi_labels(image);
            for (const int connectivity : {4, 8}) components(image, connectivity);
        }
}

/// A part of a larger matrix is taken where it lies, and nothing beside it is touched.
static void parts_of_matrices(cv::RNG &rng) {
    const cv::Mat whole = noise(60, 80, .05, rng);
    const cv::Rect part(7, 5, 41, 33);
    cv::Mat out(60, 80, CV_32F, cv::Scalar(-7)), expected, copy = whole(part).clone();
    apsis::distanceTransform(whole(part), out(part), cv::DIST_L2, 5);
    apsis::distanceTransform(copy, expected, cv::DIST_L2, 5);
    CHECK(same(out(part), expected));
    out(part).setTo(-7);
    CHECK(cv::countNonZero(out != -7) == 0);
    components(whole(part), 8);
}

static void borders_of_the_background() {
    cv::Mat image(20, 30, CV_8U, cv::Scalar(1));
    image(cv::Rect(4, 3, 11, 9)).setTo(0);
    components(image, 4);
    image.setTo(1);
    cv::Mat labels, stats, centroids, out;
    CHECK(apsis::connectedComponentsWithStats(image, labels, stats, centroids) == 2);
    cv::Mat theirs_stats, theirs_centroids;
    cv::connectedComponentsWithStats(image, out, theirs_stats, theirs_centroids);
    CHECK(same(stats, theirs_stats) && same(centroids.row(1), theirs_centroids.row(1)));
    CHECK(stats.at<int>(0, cv::CC_STAT_LEFT) == -1 && stats.at<int>(0, cv::CC_STAT_TOP) == INT_MAX);
    for (const int axis : {0, 1})
        CHECK(std::isnan(centroids.at<double>(0, axis)) && std::isnan(theirs_centroids.at<double>(0, axis)));
    apsis::distanceTransform(image, out, labels, cv::DIST_L2, 5, cv::DIST_LABEL_PIXEL);
    CHECK(std::isinf(out.at<float>(0, 0)) && cv::countNonZero(labels) == 0);
    components(cv::Mat::zeros(5, 6, CV_8U), 8);
}

static void empty_ones() {
    cv::Mat out, stats, centroids;
    apsis::distanceTransform(cv::Mat(), out, cv::DIST_L2, 5);
    CHECK(out.empty());
    CHECK(apsis::connectedComponentsWithStats(cv::Mat(0, 4, CV_8U), out, stats, centroids) == 1);
}

/// More components than there is room for at first.
static void many_components() {
    cv::Mat image = cv::Mat::zeros(600, 600, CV_8U), labels;
    for (int y = 0; y < 600; y += 2)
        for (int x = 0; x < 600; x += 2) image.at<uchar>(y, x) = 1;
    CHECK(throws([&] { apsis::connectedComponents(image, labels, 8, CV_16U); }));
    components(image(cv::Rect(0, 0, 500, 500)), 4);
}

static void mistakes() {
    const cv::Mat good(3, 3, CV_8U, cv::Scalar(1)), wide(3, 3, CV_16U, cv::Scalar(1)), bgr(3, 3, CV_8UC3, cv::Scalar(1));
    cv::Mat out;
    CHECK(throws([&] { apsis::distanceTransform(wide, out, cv::DIST_L2, 3); }));
    CHECK(throws([&] { apsis::distanceTransform(bgr, out, cv::DIST_L2, 3); }));
    CHECK(throws([&] { apsis::distanceTransform(good, out, cv::DIST_HUBER, 3); }));
    CHECK(throws([&] { apsis::distanceTransform(good, out, cv::DIST_L2, 3, CV_8U); }));
    CHECK(throws([&] { apsis::distanceTransform(good, out, out, cv::DIST_L2, 3, 7); }));
    CHECK(throws([&] { apsis::connectedComponents(good, out, 6); }));
    CHECK(throws([&] { apsis::connectedComponents(wide, out); }));
    CHECK(throws([&] { apsis::connectedComponents(good, out, 8, CV_8U); }));
}

/// Rows that are one row, and outputs that are one matrix, are refused before anything is written.
static void overlaps() {
    const cv::Mat image(5, 6, CV_8U, cv::Scalar(1));
    cv::Mat row(1, 6, CV_32F, cv::Scalar(-7)), out = row, labels, stats;
    out.rows = 5;
    out.step = 0;
    CHECK(throws([&] { apsis::distanceTransform(image, out, cv::DIST_L2, 5); }));
    CHECK(throws([&] { apsis::view(out); }));
    CHECK(cv::countNonZero(row != -7) == 0);
    labels = cv::Mat(5, 6, CV_32S, cv::Scalar(-7));
    stats = cv::Mat(5, 6, CV_32S, cv::Scalar(-7));
    CHECK(throws([&] { apsis::distanceTransform(image, labels, labels, cv::DIST_L2, 5); }));
    CHECK(throws([&] { apsis::connectedComponentsWithStats(image, labels, stats, stats); }));
    CHECK(throws([&] { apsis::connectedComponentsWithStats(image, labels, labels, stats); }));
    CHECK(throws([&] { apsis::connectedComponentsWithStats(image, labels, stats, labels); }));
    CHECK(cv::countNonZero(labels != -7) == 0 && cv::countNonZero(stats != -7) == 0);
}

/// A build of OpenCV without CUDA knows GpuMat, but not how to fill one: what the library sees of it is all that is tried.
static void device_views() {
    int pixels[12];
    const cv::cuda::GpuMat m(3, 2, CV_32S, pixels, 16);
    const apsis_image seen = apsis::view(m);
    CHECK(seen.data == pixels && seen.memory == APSIS_DEVICE && seen.type == APSIS_I32 && seen.ndim == 2);
    CHECK(seen.size[0] == 2 && seen.size[1] == 3 && seen.stride[0] == 4 && seen.stride[1] == 16);
}

int main() {
    cv::RNG rng(42);
    shapes(rng);
    parts_of_matrices(rng);
    borders_of_the_background();
    empty_ones();
    many_components();
    mistakes();
    overlaps();
    device_views();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
