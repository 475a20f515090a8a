# The C library as it is: its structures and constants, and calls of its functions by name.  apsis.h describes them.

const AUTO_METHODS = (auto=0, raster_scan=1, sweep=2, jump_flood=3, tile_fill=4, every_source=5, sweep_blocks=6,
                      sweep_rows=7, sequential_scan=8)
const METRICS = (euclidean=0, city_block=1, chessboard=2, chamfer=3)
const METRIC_NAMES = merge(METRICS, (cityblock=METRICS.city_block, taxicab=METRICS.city_block, manhattan=METRICS.city_block))
const OPERATIONS = (dilate=0, erode=1, open=2, close=3)
const SURFACES = (pixels=0, all=1, corners=2)
const DEVICES = (cpu=-1, best=-2)
const HOST, DEVICE = Cint(0), Cint(1)
const COMPLEMENT, SIGNED, CONNECTED, SLICES, NO_BORDER, NO_INNER, MIXED, LABELS, BORDER, DENSE = UInt32.(1 .<< (0:9))
const PERIODIC_X, PERIODIC_Y, PERIODIC_Z = UInt32.(1 .<< (10:12))
const OK, ERROR_BUDGET = Cint(0), Cint(10)

"The version of the header that this package is written for."
const VERSION_NUMBER = v"0.5.0"

struct CImage
    data::Ptr{Cvoid}
    type::Cint
    ndim::Int32
    size::NTuple{3,Int64}
    stride::NTuple{3,Int64}
    memory::Cint
    reserved::Int32
end

struct COptions
    struct_size::UInt32
    flags::UInt32
    spacing::NTuple{3,Float64}
    max_distance::Float64
    metric::Cint
    method::Cint
    connectivity::Int32
    largest::Int32
    min_area::Int64
    max_area::Int64
    budget::Int64
    delta::Float64
    weights::NTuple{4,Int32}
end

"What is known of a component: pixels are linear indices and coordinates indices of the array, from 1 on."
struct Component
    first::Int64
    area::Int64
    lower::NTuple{3,Int64}
    upper::NTuple{3,Int64}
    centroid::NTuple{3,Float64}
    value::Int64
end

"How far a component reaches: pixels are linear indices; `gap` is 0, but where the budget has run out."
struct Extent
    first::Int64
    ends::NTuple{2,Int64}
    centre::Int64
    diameter::Float64
    radius::Float64
    gap::Float64
end

"How two values of a label image touch: faces are those across each dimension, corners pairs that share no face."
struct Contact
    a::Int64
    b::Int64
    faces::NTuple{3,Int64}
    corners::Int64
    area::Float64
end

"How far two surfaces are apart.  Of two numbers the first is of the first surface."
struct SurfaceDistances
    value::Int64
    points::NTuple{2,Int64}
    area::NTuple{2,Float64}
    within::NTuple{2,Float64}
    largest::NTuple{2,Float64}
    percentile::NTuple{2,Float64}
    mean::NTuple{2,Float64}
    hausdorff::Float64
    hausdorff_percentile::Float64
    average::Float64
    dice::Float64
end

"What is measured of a value: see apsis_measures.h.  What was not asked for is 0."
struct Measure
    component::Component
    border::Int64
    euler::Int64
    filled::Int64
    convex::Int64
    faces::NTuple{3,Int64}
    surface::Float64
    moments::NTuple{6,Float64}
    axes::NTuple{3,Float64}
    orientation::Float64
    eccentricity::Float64
    perimeter::Float64
    crofton::NTuple{2,Float64}
    convex_area::Float64
    feret::NTuple{2,Float64}
    feret_contour::Float64
    intensity_sum::Float64
    intensity_mean::Float64
    intensity_min::Float64
    intensity_max::Float64
    reserved::NTuple{8,Float64}
end

const library = Ref{Ptr{Cvoid}}(C_NULL)

function load_library()
    name = get(ENV, "APSIS_LIBRARY", "libapsis.so.$(VERSION_NUMBER.major)")
    # Not RTLD_DEEPBIND, which is the default: C++ exceptions, and what they pass through, would be of two different unwinders.
    library[] = dlopen(name, RTLD_LAZY | RTLD_LOCAL; throw_error=false)
    library[] == C_NULL && error("Apsis: there is no library $name: install apsis, or name its file in APSIS_LIBRARY")
    found = ccall(symbol(:apsis_version), Cint, ())
    div(found, 100) == 100VERSION_NUMBER.major + VERSION_NUMBER.minor ||
        error("Apsis: the library $name has version $found, but this package is for $VERSION_NUMBER")
end

symbol(name) = dlsym(library[], name)
