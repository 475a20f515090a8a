// apsis for OpenCV: distanceTransform, connectedComponents and connectedComponentsWithStats with the arguments of OpenCV's own
// functions, exact, on cv::Mat and cv::cuda::GpuMat as they lie; and view(), for every other call of apsis.h.
//
// A cv::Mat is worked on by the CPU, with as many threads as cv::setNumThreads allows; a cv::cuda::GpuMat by the device that it
// is on.  Failures are cv::Exceptions.  Header-only; C++11, OpenCV 3.4 or later, and libapsis.
#ifndef APSIS_OPENCV_HPP
#define APSIS_OPENCV_HPP

#include <apsis.h>
#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>
#include <opencv2/imgproc.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace apsis {

/** A further type of labels, for distanceTransform: the index x + cols * y of the nearest zero pixel, -1 if there is none. */
enum { DIST_LABEL_INDEX = 2 };

/** Throws what a failed call has to say. */
inline void check(apsis_status status, const apsis_context *context) {
    if (status == APSIS_OK) return;
    const int code = status == APSIS_ERROR_MEMORY   ? cv::Error::StsNoMem
                     : status == APSIS_ERROR_RANGE  ? cv::Error::StsOutOfRange
                     : status == APSIS_ERROR_DEVICE ? cv::Error::GpuApiCallError
                                                    : cv::Error::StsBadArg;
    CV_Error(code, apsis_message(context));
}

/** A context of the library, which ends with its block. */
class Context {
  public:
    explicit Context(int device = APSIS_CPU) { check(apsis_create(APSIS_VERSION, device, &handle_), nullptr); }
    ~Context() { apsis_destroy(handle_); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    operator apsis_context *() const { return handle_; }

  private:
    apsis_context *handle_ = nullptr;
};

namespace detail {

inline apsis_type pixel(int type) {
    switch (type) {
        case CV_8UC1:
        case CV_8SC1: return APSIS_U8;
        case CV_32SC1: return APSIS_I32;
        case CV_32FC1: return APSIS_F32;
        case CV_64FC1: return APSIS_F64;
    }
    CV_Error(cv::Error::StsUnsupportedFormat, "apsis takes one channel of 8u, 8s, 32s, 32f or 64f");
}

/// Inputs are views too: they are never written to.
template <class Matrix>
apsis_image image(const Matrix &m, apsis_memory memory) {
    if (m.rows > 1 && m.cols > 0 && static_cast<size_t>(m.step) == 0)  // to the library a stride of 0 is one that is not told
        CV_Error(cv::Error::BadStep, "apsis takes no matrix whose rows are all in one place");
    apsis_image view = {};
    view.data = m.data;
    view.type = pixel(m.type());
    view.ndim = 2;
    view.size[0] = m.cols;
    view.size[1] = m.rows;
    view.stride[0] = static_cast<int64_t>(m.elemSize());
    view.stride[1] = static_cast<int64_t>(static_cast<size_t>(m.step));
    view.memory = memory;
    return view;
}

}  // namespace detail

/** What the library sees of a matrix of one channel and two dimensions: the very pixels. */
inline apsis_image view(const cv::Mat &m) {
    CV_Assert(m.dims <= 2);
    return detail::image(m, APSIS_HOST);
}
inline apsis_image view(const cv::cuda::GpuMat &m) { return detail::image(m, APSIS_DEVICE); }

namespace detail {

/// The calling thread's context for the CPU, or for a device.
inline apsis_context *context(apsis_memory memory) {
    static thread_local std::map<int, Context> all;
    const int device = memory == APSIS_HOST ? int(APSIS_CPU) : cv::cuda::getDevice();
    Context &mine = all.emplace(std::piecewise_construct, std::make_tuple(device), std::make_tuple(device)).first->second;
    if (memory == APSIS_HOST) check(apsis_set_threads(mine, std::max(1, cv::getNumThreads())), mine);
    return mine;
}

template <class Matrix>
Matrix get(cv::InputArray array);
template <>
inline cv::Mat get(cv::InputArray array) {
    return array.getMat();
}
template <>
inline cv::cuda::GpuMat get(cv::InputArray array) {
    return array.getGpuMat();
}

inline apsis_metric metric(int distance_type) {
    switch (distance_type) {
        case cv::DIST_L1: return APSIS_CITY_BLOCK;
        case cv::DIST_L2: return APSIS_EUCLIDEAN;
        case cv::DIST_C: return APSIS_CHESSBOARD;
    }
    CV_Error(cv::Error::StsBadArg, "distanceType must be DIST_L1, DIST_L2 or DIST_C");
}

/// The distance of every pixel to the zero ones, and where the nearest one is, if that is wanted.
template <class Matrix>
void distance(const Matrix &zeros, const Matrix &out, const Matrix *nearest, int distance_type) {
    apsis_options options = APSIS_OPTIONS_INIT;
    options.flags = APSIS_COMPLEMENT;
    options.metric = metric(distance_type);
    const apsis_image set = view(zeros), map = view(out), index = nearest ? view(*nearest) : apsis_image();
    apsis_context *const on = context(set.memory);
    check(apsis_distance(on, &set, &map, nearest ? &index : nullptr, &options), on);
}

/// Of 8 bits there are no maps in the library: such are squeezed from wider ones.
template <class Matrix>
void distance_as(const Matrix &zeros, cv::OutputArray dst, int distance_type, int type) {
    dst.create(zeros.size(), type);
    const Matrix out = get<Matrix>(dst);
    if (type != CV_8U) return distance<Matrix>(zeros, out, nullptr, distance_type);
    Matrix wide(zeros.size(), CV_32S);
    distance<Matrix>(zeros, wide, nullptr, distance_type);
    wide.convertTo(dst, CV_8U);
}

/// The number of every zero pixel, or of its component (8 neighbours), in the order of rows; at other pixels there is anything.
inline cv::Mat numbered(const cv::Mat &zeros, int label_type) {
    cv::Mat numbers(zeros.size(), CV_32S);
    if (label_type == cv::DIST_LABEL_CCOMP) {
        apsis_options options = APSIS_OPTIONS_INIT;
        options.flags = APSIS_COMPLEMENT;
        options.connectivity = 2;
        const apsis_image set = view(zeros), labels = view(numbers);
        apsis_context *const on = context(APSIS_HOST);
        check(apsis_components(on, &set, &labels, nullptr, 0, nullptr, &options), on);
        return numbers;
    }
    for (int y = 0, last = 0; y < zeros.rows; ++y) {
        const uchar *const row = zeros.ptr(y);
        int *const number = numbers.ptr<int>(y);
        for (int x = 0; x < zeros.cols; ++x) number[x] = last += !row[x];
    }
    return numbers;
}

/// Puts the number of a pixel where its index is.
inline void look_up(cv::Mat &indices, const cv::Mat &numbers) {
    const int *const number = numbers.ptr<int>();  // packed: it is a matrix of ours
    cv::parallel_for_(cv::Range(0, indices.rows), [&](const cv::Range &rows) {
        for (int y = rows.start; y < rows.end; ++y) {
            int *const row = indices.ptr<int>(y);
            for (int x = 0; x < indices.cols; ++x) row[x] = row[x] < 0 ? 0 : number[row[x]];
        }
    });
}

inline apsis_options joined(int connectivity) {
    CV_Assert(connectivity == 4 || connectivity == 8);
    apsis_options options = APSIS_OPTIONS_INIT;
    options.connectivity = connectivity == 8 ? 2 : 1;
    return options;
}

/// Labels, and what is known of each component if that is wanted; returns how many there are.
template <class Matrix>
int64_t components(const Matrix &image, cv::OutputArray labels, int connectivity, int ltype,
                   std::unique_ptr<apsis_component[]> *known) {
    CV_Assert(image.type() == CV_8UC1 || image.type() == CV_8SC1);
    CV_Assert(ltype == CV_32S || ltype == CV_16U);
    labels.create(image.size(), ltype);
    Matrix wide = ltype == CV_32S ? get<Matrix>(labels) : Matrix(image.size(), CV_32S);
    const apsis_options options = joined(connectivity);
    const apsis_image set = view(image), map = view(wide);
    apsis_context *const on = context(set.memory);

    // Memory that is not written to costs nothing, a second call much; noise has a component for every 15 pixels.
    int64_t count = 0, room = known ? 4096 + set.size[0] * set.size[1] / 12 : 0;
    if (known) known->reset(new apsis_component[room]);
    check(apsis_components(on, &set, &map, known ? known->get() : nullptr, room, &count, &options), on);
    if (known && count > room) {
        known->reset(new apsis_component[count]);
        check(apsis_components(on, &set, nullptr, known->get(), count, &count, &options), on);
    }
    if (ltype == CV_16U) {
        if (count > 0xffff) CV_Error(cv::Error::StsOutOfRange, "there are more components than labels of 16 bits");
        wide.convertTo(labels, CV_16U);
    }
    return count;
}

inline bool has_zero(const cv::Mat &line) { return static_cast<size_t>(cv::countNonZero(line)) < line.total(); }
inline bool has_zero(const cv::cuda::GpuMat &line) { return has_zero(cv::Mat(line)); }

/// The smallest box round the zero pixels, of which there are some: sides move in to the first of them.
template <class Matrix>
cv::Rect box_of_zeros(const Matrix &image) {
    int top = 0, bottom = image.rows - 1, left = 0, right = image.cols - 1;
    while (!has_zero(image.row(top))) ++top;
    while (!has_zero(image.row(bottom))) --bottom;
    while (!has_zero(image.col(left))) ++left;
    while (!has_zero(image.col(right))) --right;
    return cv::Rect(left, top, right - left + 1, bottom - top + 1);
}

inline void write(const cv::Rect &box, int64_t area, const cv::Point2d &centroid, int row, cv::Mat &stats, cv::Mat &centroids) {
    const int line[cv::CC_STAT_MAX] = {box.x, box.y, box.width, box.height, cv::saturate_cast<int>(area)};
    std::copy(line, line + cv::CC_STAT_MAX, stats.ptr<int>(row));
    centroids.at<double>(row, 0) = centroid.x;
    centroids.at<double>(row, 1) = centroid.y;
}

/// Row 0 is the background.  Its sums are those of all pixels without those of the components: these are whole numbers, which
/// a centroid times an area comes near enough to tell.
template <class Matrix>
void describe(const Matrix &image, const apsis_component *known, int count, cv::OutputArray stats, cv::OutputArray centroids) {
    stats.create(count + 1, cv::CC_STAT_MAX, CV_32S);
    centroids.create(count + 1, 2, CV_64F);
    cv::Mat lines = stats.getMat(), centres = centroids.getMat();
    const double width = image.cols, height = image.rows, nan = std::numeric_limits<double>::quiet_NaN();
    int64_t area = static_cast<int64_t>(image.cols) * image.rows;
    double x = width * height * (width - 1) / 2, y = width * height * (height - 1) / 2;
    for (int i = 0; i < count; ++i) {
        const apsis_component &c = known[i];
        const int left = int(c.lower[0]), top = int(c.lower[1]);
        const cv::Rect box(left, top, int(c.upper[0]) - left + 1, int(c.upper[1]) - top + 1);
        write(box, c.area, cv::Point2d(c.centroid[0], c.centroid[1]), i + 1, lines, centres);
        area -= c.area;
        x -= std::round(c.centroid[0] * double(c.area));
        y -= std::round(c.centroid[1] * double(c.area));
    }
    const double n = double(area);
    if (area)
        write(box_of_zeros(image), area, cv::Point2d(x / n, y / n), 0, lines, centres);
    else  // a box as OpenCV has it
        write(cv::Rect(-1, std::numeric_limits<int>::max(), 0, 0), area, cv::Point2d(nan, nan), 0, lines, centres);
}

template <class Matrix>
int with_stats(const Matrix &image, cv::OutputArray labels, cv::OutputArray stats, cv::OutputArray centroids, int connectivity,
               int ltype) {
    const void *const outputs[] = {labels.getObj(), stats.getObj(), centroids.getObj()};
    CV_Assert(outputs[0] != outputs[1] && outputs[1] != outputs[2] && outputs[2] != outputs[0]);
    std::unique_ptr<apsis_component[]> known;
    const int count = static_cast<int>(components(image, labels, connectivity, ltype, &known));
    describe(image, known.get(), count, stats, centroids);
    return count + 1;
}

}  // namespace detail

/**
 * The distance of every pixel to the nearest zero pixel, infinite if there is none: cv::distanceTransform.
 *
 * @param src           8u, one channel.
 * @param distanceType  DIST_L1, DIST_L2 or DIST_C.
 * @param maskSize      Taken, and without a meaning: every distance is exact.
 * @param dstType       CV_32F; CV_8U, with DIST_L1, up to 255; and beyond OpenCV's, CV_64F, or CV_32S: exact squares (DIST_L2).
 */
inline void distanceTransform(cv::InputArray src, cv::OutputArray dst, int distanceType, int maskSize, int dstType = CV_32F) {
    (void)maskSize;
    CV_Assert(src.type() == CV_8UC1 && (dstType != CV_8U || distanceType == cv::DIST_L1));
    if (src.isGpuMat())
        detail::distance_as(src.getGpuMat(), dst, distanceType, dstType);
    else
        detail::distance_as(src.getMat(), dst, distanceType, dstType);
}

/**
 * The same, and the label of the nearest zero pixel, the first of several; 0 if there is none.
 *
 * @param labels     32s: the discrete Voronoi diagram.
 * @param labelType  DIST_LABEL_PIXEL: zero pixels have labels 1, 2, 3 ...; DIST_LABEL_CCOMP: so have their components, with 8
 *                   neighbours; DIST_LABEL_INDEX, the only one for a GpuMat: where the pixel is.
 */
inline void distanceTransform(cv::InputArray src, cv::OutputArray dst, cv::OutputArray labels, int distanceType, int maskSize,
                              int labelType = cv::DIST_LABEL_CCOMP) {
    (void)maskSize;
    CV_Assert(src.type() == CV_8UC1);
    CV_Assert(labelType == cv::DIST_LABEL_CCOMP || labelType == cv::DIST_LABEL_PIXEL || labelType == DIST_LABEL_INDEX);
    CV_Assert(dst.getObj() != labels.getObj());
    if (src.isGpuMat()) {
        CV_Assert(labelType == DIST_LABEL_INDEX);
        const cv::cuda::GpuMat zeros = src.getGpuMat();
        dst.create(zeros.size(), CV_32F);
        labels.create(zeros.size(), CV_32S);
        return detail::distance(zeros, dst.getGpuMat(), &labels.getGpuMatRef(), distanceType);
    }
    const cv::Mat zeros = src.getMat();
    dst.create(zeros.size(), CV_32F);
    labels.create(zeros.size(), CV_32S);
    cv::Mat nearest = labels.getMat();
    detail::distance(zeros, dst.getMat(), &nearest, distanceType);
    if (labelType != DIST_LABEL_INDEX) detail::look_up(nearest, detail::numbered(zeros, labelType));
}

/**
 * Labels 1, 2, 3 ... of the components of the non-zero pixels, by their first pixel, and 0: cv::connectedComponents.  Returns
 * how many labels there are, 0 among them.
 *
 * @param image  8u or 8s, one channel.
 * @param ltype  CV_32S or CV_16U.
 */
inline int connectedComponents(cv::InputArray image, cv::OutputArray labels, int connectivity = 8, int ltype = CV_32S) {
    return static_cast<int>(image.isGpuMat() ? detail::components(image.getGpuMat(), labels, connectivity, ltype, nullptr)
                                             : detail::components(image.getMat(), labels, connectivity, ltype, nullptr)) +
           1;
}

/** The same, and box, area and centroid of each label, of the background as row 0: cv::connectedComponentsWithStats.  `stats`
 *  and `centroids` are on the host. */
inline int connectedComponentsWithStats(cv::InputArray image, cv::OutputArray labels, cv::OutputArray stats,
                                        cv::OutputArray centroids, int connectivity = 8, int ltype = CV_32S) {
    return image.isGpuMat() ? detail::with_stats(image.getGpuMat(), labels, stats, centroids, connectivity, ltype)
                            : detail::with_stats(image.getMat(), labels, stats, centroids, connectivity, ltype);
}

}  // namespace apsis

#endif  // APSIS_OPENCV_HPP
