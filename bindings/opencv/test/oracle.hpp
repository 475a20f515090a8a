// The exact answer the slow way, for tests: the square of the distance to the nearest zero pixel, from columns and then outward
// along each row.
#pragma once
#include <opencv2/core.hpp>

#include <algorithm>
#include <cstdlib>

inline cv::Mat squares_to_zero(const cv::Mat &image) {
    const int none = 1 << 15;  // farther than any pixel of these images
    cv::Mat up(image.size(), CV_32S), out(image.size(), CV_32S);
    for (int x = 0; x < image.cols; ++x) {
        for (int y = 0, d = none; y < image.rows; ++y) up.at<int>(y, x) = d = image.at<uchar>(y, x) ? std::min(d + 1, none) : 0;
        for (int y = image.rows - 1, d = none; y >= 0; --y) {
            d = image.at<uchar>(y, x) ? std::min(d + 1, none) : 0;
            up.at<int>(y, x) = std::min(up.at<int>(y, x), d);
        }
    }
    for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x) {
            const int *const column = up.ptr<int>(y);
            int best = column[x] * column[x];
            for (int dx = 1; dx * dx < best && dx < image.cols; ++dx)
                for (const int at : {x - dx, x + dx})
                    if (at >= 0 && at < image.cols) best = std::min(best, dx * dx + column[at] * column[at]);
            out.at<int>(y, x) = best;
        }
    return out;
}

inline cv::Mat noise(int rows, int cols, double zeros, cv::RNG &rng) {
    cv::Mat image(rows, cols, CV_8U);
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < cols; ++x)
            image.at<uchar>(y, x) = rng.uniform(0., 1.) < zeros ? 0 : static_cast<uchar>(rng.uniform(1, 256));
    return image;
}
