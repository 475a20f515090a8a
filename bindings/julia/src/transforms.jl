# The transforms.

function options(set; spacing=1, metric=:euclidean, max_distance=0, method=:auto, flags=0, connectivity=0, largest=0,
                 min_area=0, max_area=0, budget=0, delta=0, periodic=false, weights=())
    sizes = spacing isa Number ? ntuple(_ -> Float64(spacing), 3) : ntuple(i -> i <= length(spacing) ? Float64(spacing[i]) : 1.0, 3)
    spacing isa Number || length(spacing) == ndims(set) ||
        throw(ArgumentError("spacing has $(length(spacing)) numbers, but the set has $(ndims(set)) dimensions"))
    return Ref(COptions(sizeof(COptions), flags | closing(set, periodic, flags), sizes, max_distance,
                        chosen("metric", metric, METRIC_NAMES), chosen("method", method, AUTO_METHODS), connectivity,
                        largest, min_area, max_area, budget, delta, step_weights(weights)))
end

"The weights of chamfer steps: none, two or three."
function step_weights(weights)
    length(weights) in (0, 2, 3) || throw(ArgumentError("weights has $(length(weights)) numbers, but must have 2 or 3"))
    return ntuple(i -> i <= length(weights) ? Int32(weights[i]) : Int32(0), 4)
end

"The flags of the dimensions along which an array closes on itself: their numbers, or `true` for all but that of slices."
function closing(set, periodic, flags)
    dimensions = periodic === true ? (1:(flags & SLICES == 0 ? ndims(set) : 2)) : periodic === false ? () : periodic
    for d in dimensions
        1 <= d <= ndims(set) ||
            throw(ArgumentError("periodic has the dimension $d, but the set has $(ndims(set)) dimensions"))
    end
    return reduce(|, (PERIODIC_X << (d - 1) for d in dimensions); init=UInt32(0))
end

flags(choices::Pair...) = reduce(|, (flag for (flag, chosen) in choices if chosen); init=UInt32(0))

"What is given, alone if it is one thing, without what is left out."
function results(maps...)
    left = filter(m -> m !== nothing, maps)
    return length(left) == 1 ? left[1] : left
end

new_map(set, type) = type === nothing ? nothing : similar(set, type)

const LENGTHS = (Float32, Float64, Int32, Int64)
const INDICES = (Int32, Int64)

"""
    distance(set; nearest=false, type=Float32, spacing=1, metric=:euclidean, max_distance=0, complement=false,
             signed=false, slices=false, labels=false, border=false, periodic=false, method=:auto, context)

How far every element is from the nearest one that is not zero; with `nearest=true` also which one that is.  `type` is
`Float32` or `Float64`; `Int32` or `Int64` for the square (Euclidean) or the distance itself; or `nothing`.  `metric` is
`:euclidean`, `:city_block` (also `:cityblock`, `:taxicab` or `:manhattan`) or `:chessboard`.  With `labels=true` it is from
every element that is not zero to the nearest one of another value.  With `border=true` what lies outside is zero.  The array
closes on itself along the dimensions of `periodic`, such as `1` or `(1, 2)`, or with `true` along all, as it does for
[`voronoi`](@ref), [`components`](@ref), [`contacts`](@ref), [`geodesic`](@ref) and [`eccentricity`](@ref).
"""
function distance(set::AbstractArray; type=Float32, nearest=false, labels=false, kw...)
    set = as_given(set, labels)
    site = nearest ? similar(set, index_type(set)) : nothing
    return distance!(new_map(set, type), set; nearest=site, labels=labels, kw...)
end

"""
    distance!(out, set; nearest=nothing, ...)

The same into arrays that are given; `out` may be `nothing`.
"""
function distance!(out, set::AbstractArray; nearest=nothing, complement=false, signed=false, slices=false, labels=false,
                   border=false, context=context_on(device_of(set)), kw...)
    set = as_given(set, labels)
    check_dimensions(set)
    check_output("out", out, set, LENGTHS)
    check_output("nearest", nearest, set, INDICES)
    asked = options(set; flags=flags(COMPLEMENT => complement, SIGNED => signed, SLICES => slices, LABELS => labels,
                                     BORDER => border), kw...)
    prepare(context, set)
    GC.@preserve set out nearest check(context, ccall(symbol(:apsis_distance), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{COptions}),
        context.handle, reference(set), reference(out), reference(nearest), asked))
    return results(out, count_from_one!(nearest))
end

"""
    voronoi(set; connected=false, mixed=false, spacing=1, metric=:euclidean, max_distance=0, complement=false,
            slices=false, labels=false, periodic=false, method=:auto, context)

For every element the linear index of the site, an element that is not zero, in whose cell it is; 0 if there is none.
`connected` hides exclaves, so that every cell is connected.  With `labels=true` it is the label of the site, so that labels
grow, as far as `max_distance`.
"""
function voronoi(set::AbstractArray; out=nothing, connected=false, mixed=false, complement=false, slices=false, labels=false,
                 context=context_on(device_of(set)), kw...)
    set = as_given(set, labels)
    check_dimensions(set)
    out = out === nothing ? similar(set, labels ? label_type(set) : index_type(set)) : out
    check_output("out", out, set, INDICES)
    asked = options(set; flags=flags(COMPLEMENT => complement, CONNECTED => connected, SLICES => slices, MIXED => mixed,
                                     LABELS => labels), kw...)
    prepare(context, set)
    GC.@preserve set out check(context, ccall(symbol(:apsis_voronoi), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{COptions}), context.handle, reference(set), reference(out), asked))
    return labels ? out : count_from_one!(out)
end

"""
    morphology(set, operation, radius; type=Bool, spacing=1, metric=:euclidean, complement=false, slices=false, border=false,
               labels=false, context)

The set by a ball of `radius`: `operation` is `:dilate`, `:erode`, `:open` or `:close`.  `type` is `Bool` or `UInt8`.  With
`border=true` what lies outside is zero.  With `labels=true` the set is a label image, and so is the result: elements of 0 get
the nearest label in the ball around them, every label is eroded or opened as the set of its elements, and the set of all labels
is closed.
"""
function morphology(set::AbstractArray, operation, radius::Real; type=Bool, out=nothing, complement=false, slices=false,
                    border=false, labels=false, context=context_on(device_of(set)), kw...)
    set = as_given(set, labels)
    check_dimensions(set)
    out = out !== nothing ? out : labels ? similar(set, label_type(set)) : new_map(set, type)
    check_output("out", out, set, labels ? INDICES : (Bool, UInt8))
    asked = options(set; flags=flags(COMPLEMENT => complement, SLICES => slices, BORDER => border, LABELS => labels), kw...)
    prepare(context, set)
    GC.@preserve set out check(context, ccall(symbol(:apsis_morphology), Cint,
        (Ptr{Cvoid}, Cint, Cdouble, Ptr{CImage}, Ptr{CImage}, Ptr{COptions}), context.handle,
        chosen("operation", operation, OPERATIONS), radius, reference(set), reference(out), asked))
    return out
end

"""
    thickness(set; type=Float32, spacing=1, complement=false, slices=false, border=false, context)

The local thickness: the radius of the largest ball in the set that covers the element, and 0 outside of the set.  `type` is
`Float32` or `Float64`; `Int32` or `Int64`: its square, for spacing 1.  With `border=true` what lies outside is zero.
"""
thickness(set::AbstractArray; kw...) = balls(:apsis_thickness, set; kw...)

"""
    medial_axis(set; type=Float32, spacing=1, complement=false, slices=false, border=false, context)

The radii of the balls that make up the set, at their centres, and 0 elsewhere.  Types are those of [`thickness`](@ref).
"""
medial_axis(set::AbstractArray; kw...) = balls(:apsis_medial_axis, set; kw...)

function balls(name, set; type=Float32, out=nothing, complement=false, slices=false, border=false,
               context=context_on(device_of(set)), kw...)
    set = as_set(set)
    check_dimensions(set)
    out = out === nothing ? new_map(set, type) : out
    check_output("out", out, set, (Float32, Float64, Int32, Int64))
    asked = options(set; flags=flags(COMPLEMENT => complement, SLICES => slices, BORDER => border), kw...)
    prepare(context, set)
    GC.@preserve set out check(context, ccall(symbol(name), Cint, (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{COptions}),
        context.handle, reference(set), reference(out), asked))
    return out
end

"""
    surface_distance(first, second; surface=:pixels, percentile=95, tolerance=0, labels=false, spacing=1, metric=:euclidean,
                     context)

Compares two sets by their surfaces: [`SurfaceDistances`](@ref).  `surface` is `:pixels`, those with a neighbour outside of the
set (MONAI), `:all` of them (scikit-image), or `:corners`, weighted (DeepMind's surface-distance).  With `labels=true` every
value other than 0 is a set of its own: a vector, in ascending order of the values.
"""
function surface_distance(first::AbstractArray, second::AbstractArray; surface=:pixels, percentile=95, tolerance=0,
                          labels=false, context=context_on(device_of(first)), kw...)
    first, second = as_given(first, labels), as_given(second, labels)
    check_dimensions(first)
    size(first) == size(second) ||
        throw(DimensionMismatch("second has size $(size(second)), but first has $(size(first))"))
    asked = options(first; flags=flags(LABELS => labels), kw...)
    prepare(context, first)
    known = known_of(SurfaceDistances, true, labels ? ROOM : 1) do room, count
        GC.@preserve first second check(context, ccall(symbol(:apsis_surface_distance), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Cint, Cdouble, Cdouble, Ptr{SurfaceDistances}, Int64, Ptr{Int64},
             Ptr{COptions}), context.handle, reference(first), reference(second), chosen("surface", surface, SURFACES),
            percentile, tolerance, room, length(room), count, asked))
    end
    return labels ? known : only(known)
end

"""
    components(set; connectivity=1, type=Int32, statistics=false, largest=0, min_area=0, max_area=0, border=true,
               inner=true, complement=false, labels=false, delta=nothing, slices=false, periodic=false, method=:auto, context)

Numbers the connected components 1, 2, 3, ... by their lowest index, 0 outside, and says how many there are: `(labels, n)`, and
with `statistics=true` a vector of [`Component`](@ref) too.  `connectivity` is the number of axes along which neighbours may
differ.  With `labels=true` every value other than 0 is a set of its own.  With `delta` the set is a grey image, of
integers or floats: neighbours are connected where neither is 0 and their values differ by at most that.  `type` is `Int32` or `Int64`; `Bool` or `UInt8` for
the set alone, without what is left out; or `nothing`.
"""
function components(set::AbstractArray; type=Int32, out=nothing, connectivity=1, statistics=false, border=true, inner=true,
                    complement=false, labels=false, delta=nothing, slices=false, context=context_on(device_of(set)), kw...)
    set = delta === nothing ? as_given(set, labels) : as_grey(set)
    check_dimensions(set)
    out = out === nothing ? new_map(set, type) : out
    check_output("out", out, set, (Int32, Int64, Bool, UInt8))
    asked = options(set; connectivity=connectivity, delta=something(delta, 0),
                    flags=flags(COMPLEMENT => complement, LABELS => labels || delta !== nothing, SLICES => slices,
                                NO_BORDER => !border, NO_INNER => !inner), kw...)
    prepare(context, set)
    known = known_of(Component, statistics) do room, count
        GC.@preserve set out check(context, ccall(symbol(:apsis_components), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{Component}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(set), reference(out), room, length(room), count, asked))
    end
    return statistics ? (out, length(known), map(count_from_one, known)) : (out, known)
end

"""
    geodesic(set, seeds; nearest=false, type=Float32, connectivity, spacing=1, metric=:euclidean, max_distance=0,
             complement=false, slices=false, labels=false, periodic=false, context)

The length of the shortest path within the set to the nearest seed, and with `nearest=true` which seed that is; -1 and 0
outside.  With `labels=true` the seeds are a label image, and it is the label of the nearest.  With `metric=:chamfer` steps have
`weights`, such as `(2, 3)`, or in 2-D, with the knight's move, `(5, 7, 11)`.
"""
function geodesic(set::AbstractArray, seeds::AbstractArray; type=Float32, nearest=false, complement=false, slices=false,
                  labels=false, context=context_on(device_of(set)), kw...)
    set, seeds = as_set(set), as_given(seeds, labels)
    check_dimensions(set)
    size(seeds) == size(set) || throw(DimensionMismatch("seeds is $(size(seeds)), but the set is $(size(set))"))
    out, site = new_map(set, type), nearest ? similar(set, labels ? label_type(seeds) : index_type(set)) : nothing
    check_output("type", out, set, LENGTHS)
    asked = options(set; flags=flags(COMPLEMENT => complement, SLICES => slices, LABELS => labels), kw...)
    prepare(context, set)
    GC.@preserve set seeds out site check(context, ccall(symbol(:apsis_geodesic), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{COptions}),
        context.handle, reference(set), reference(seeds), reference(out), reference(site), asked))
    return results(out, labels ? site : count_from_one!(site))
end

"""
    eccentricity(set; farthest=false, extents=false, type=Float32, connectivity, spacing=1, metric=:euclidean, budget=0,
                 complement=false, slices=false, labels=false, periodic=false, method=:auto, context)

The length of the shortest path to the farthest element of the component; with `farthest=true` which element that is, and with
`extents=true` a vector of [`Extent`](@ref).  With `labels=true` every value other than 0 is a set of its own.
Where `budget`, in distance fields for a component, runs out, a warning says so.
"""
function eccentricity(set::AbstractArray; type=Float32, farthest=false, extents=false, complement=false, slices=false,
                      labels=false, context=context_on(device_of(set)), kw...)
    set = as_given(set, labels)
    check_dimensions(set)
    out, far = new_map(set, type), farthest ? similar(set, index_type(set)) : nothing
    check_output("type", out, set, LENGTHS)
    asked = options(set; flags=flags(COMPLEMENT => complement, SLICES => slices, LABELS => labels), kw...)
    prepare(context, set)
    known = known_of(Extent, extents) do room, count
        GC.@preserve set out far check(context, ccall(symbol(:apsis_eccentricity), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{Extent}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(set), reference(out), reference(far), room, length(room), count, asked))
    end
    return results(out, count_from_one!(far), extents ? map(count_from_one, known) : nothing)
end

# ---- What is known of components ----

const ROOM = 4096  # for how many there is room at first; if there are more, the call is made again

"A vector of what a call tells of components, if that is wanted; otherwise how many there are."
function known_of(call, kind, is_wanted, extent=ROOM)
    room, count = Vector{kind}(undef, is_wanted ? extent : 0), Ref{Int64}(0)
    call(room, count)
    is_wanted || return Int(count[])
    if count[] > extent
        resize!(room, count[])
        call(room, count)
    end
    return resize!(room, count[])
end

count_from_one(c::Component) = Component(c.first + 1, c.area, c.lower .+ 1, c.upper .+ 1, c.centroid .+ 1, c.value)
count_from_one(e::Extent) = Extent(e.first + 1, e.ends .+ 1, e.centre + 1, e.diameter, e.radius, e.gap)
