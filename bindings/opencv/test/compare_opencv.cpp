// OpenCV's functions beside those of apsis_opencv.hpp: milliseconds (the least of five), and how many pixels are wrong.
// compare_opencv [SIDE [THREADS]]
#include <apsis_opencv.hpp>

#include <cstdio>

#include "oracle.hpp"

template <class Call>
static double milliseconds(Call call) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
        const int64_t start = cv::getTickCount();
        call();
        best = std::min(best, 1e3 * double(cv::getTickCount() - start) / cv::getTickFrequency());
    }
    return best;
}

/// Distances that are off by more than a thousandth of a pixel.
static int wrong_distances(const cv::Mat &out, const cv::Mat &squares) {
    cv::Mat exact;
    squares.convertTo(exact, CV_32F);
    cv::sqrt(exact, exact);
    return cv::countNonZero(cv::abs(out - exact) > 1e-3);
}

/// Labels of zero pixels that are not nearest; they are numbered in the order of rows, from 1 on.
static int wrong_labels(const cv::Mat &image, const cv::Mat &labels, const cv::Mat &squares) {
    std::vector<cv::Point> zeros;
    int wrong = 0;
    for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x)
            if (!image.at<uchar>(y, x)) zeros.push_back(cv::Point(x, y));
    for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x) {
            const cv::Point to = zeros[static_cast<size_t>(labels.at<int>(y, x)) - 1] - cv::Point(x, y);
            wrong += to.dot(to) != squares.at<int>(y, x);
        }
    return wrong;
}

static void line(const char *image, const char *what, double theirs, double ours) {
    std::printf("| %s | %s | %.1f | %.1f | %.1f |", image, what, theirs, ours, theirs / ours);
}

static void errors(int theirs, int ours) { std::printf(" %d | %d |\n", theirs, ours); }

static void compare(const char *name, const cv::Mat &image) {
    const cv::Mat squares = squares_to_zero(image);
    cv::Mat out, ours, labels, our_labels, stats, centroids;
    const double exact = milliseconds([&] { apsis::distanceTransform(image, ours, cv::DIST_L2, cv::DIST_MASK_PRECISE); });
    const int our_errors = wrong_distances(ours, squares);
    const double five = milliseconds([&] { cv::distanceTransform(image, out, cv::DIST_L2, cv::DIST_MASK_5); });
    line(name, "distanceTransform, 5 × 5", five, exact);
    errors(wrong_distances(out, squares), our_errors);
    const double precise = milliseconds([&] { cv::distanceTransform(image, out, cv::DIST_L2, cv::DIST_MASK_PRECISE); });
    line(name, "distanceTransform, precise", precise, exact);
    errors(wrong_distances(out, squares), our_errors);
    const int of_pixels = cv::DIST_LABEL_PIXEL;
    const double theirs = milliseconds([&] { cv::distanceTransform(image, out, labels, cv::DIST_L2, 5, of_pixels); });
    const double mine = milliseconds([&] { apsis::distanceTransform(image, ours, our_labels, cv::DIST_L2, 5, of_pixels); });
    line(name, "distanceTransform, labels of pixels", theirs, mine);
    errors(wrong_labels(image, labels, squares), wrong_labels(image, our_labels, squares));
    for (const int connectivity : {4, 8}) {
        const double before =
            milliseconds([&] { cv::connectedComponentsWithStats(image, labels, stats, centroids, connectivity); });
        const double after =
            milliseconds([&] { apsis::connectedComponentsWithStats(image, our_labels, stats, centroids, connectivity); });
        line(name, connectivity == 4 ? "connectedComponentsWithStats, 4" : "connectedComponentsWithStats, 8", before, after);
        std::printf(" | |\n");
    }
}

int main(int argc, char **argv) {
    const int side = argc > 1 ? std::atoi(argv[1]) : 4096;
    if (argc > 2) cv::setNumThreads(std::atoi(argv[2]));
    std::printf(
        "%d² pixels, %d threads\n| image | function | OpenCV ms | apsis ms | ratio | wrong, OpenCV | wrong, apsis |\n"
        "|---|---|---|---|---|---|---|\n",
        side, cv::getNumThreads());
    cv::RNG rng(1);
    compare("noise, 1 % zeros", noise(side, side, .01, rng));
    compare("noise, 50 % zeros", noise(side, side, .5, rng));
    cv::Mat disc = cv::Mat::zeros(side, side, CV_8U);
    cv::circle(disc, cv::Point(side / 2, side / 2), side * 9 / 20, cv::Scalar(255), -1);
    compare("disc", disc);
}
