"""
Exact maps of binary images, on the CPU or on an NVIDIA GPU: [`distance`](@ref), [`voronoi`](@ref), [`components`](@ref),
[`geodesic`](@ref) and [`eccentricity`](@ref), [`morphology`](@ref) by distance, [`thickness`](@ref) and [`medial_axis`](@ref).

    using Apsis
    d = Apsis.distance(mask)                         # to the nearest element that is not zero
    d, which = Apsis.distance(mask; nearest=true)    # and its linear index
    labels, n = Apsis.components(mask; connectivity=2)

Of label images, such as segmentations, every value but 0 is a set of its own, with `labels=true`; [`statistics`](@ref) and
[`contacts`](@ref) tell of their values, and [`measures`](@ref) of their shape and intensity.  [`Slabs`](@ref) is for images
that are cut.  [`cost_distance`](@ref), [`shortest_paths`](@ref) and [`longest_paths`](@ref) are for paths.

Arrays have two or three dimensions, and are taken as they lie, views too.  An index is a linear one, from 1 on, and 0 is none.
"""
module Apsis

using Libdl: RTLD_LAZY, RTLD_LOCAL, dlopen, dlsym

include("library.jl")
include("context.jl")
include("arrays.jl")
include("transforms.jl")
include("labels.jl")
include("paths.jl")
include("slabs.jl")

__init__() = load_library()

end
