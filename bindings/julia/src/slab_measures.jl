# Measures of the values of label images that are cut into slabs.

"What is counted of a value in a slab, in whole numbers: see apsis_sums."
struct Sums
    part::Part
    wanted::Int64
    products_low::NTuple{6,Int64}
    products_high::NTuple{6,Int64}
    faces::NTuple{3,Int64}
    diagonals::Int64
    euler::Int64
    steps::NTuple{3,Int64}
    intensity_low::NTuple{8,Int64}
    intensity_high::NTuple{8,Int64}
    least::Int64
    largest::Int64
    special::Int64
    reserved::NTuple{4,Int64}
end

"""
    sums(labels, start, wanted...; grey=nothing, before=nothing, connectivity=1, context)

What is counted of each value of a slab of a label image but 0, for what is wanted, as in `Apsis.measures`: a vector of
[`Sums`](@ref) in ascending order.  `before` has the last rows of the image before the slab, in 3-D planes: 4 for
`:perimeter`, 1 for `:surface` or `:euler`, fewer where the image begins, or more.  [`measures`](@ref) makes of what
[`merge_sums`](@ref) gives for all slabs what `Apsis.measures` says.
"""
function sums(labels::AbstractArray, start, wanted::Symbol...; grey=nothing, before=nothing, connectivity=1,
              context=context_on(device_of(labels)))
    labels, mask = as_slab(labels, true), measures_mask(wanted)
    image, rows = grey === nothing ? nothing : as_grey(grey), before === nothing ? nothing : as_labels(before)
    asked = options(labels; connectivity=connectivity)
    prepare(context, labels)
    return known_of(Sums, true) do room, count
        GC.@preserve labels image rows check(context, ccall(symbol(:apsis_slab_sums), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Int64, UInt32, Ptr{Sums}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(labels), reference(image), reference(rows), start, mask, room, length(room), count,
            asked))
    end
end

"""
    merge_sums(sums...)

The sums of several slabs, added up by value, in ascending order.
"""
function merge_sums(sums::Vector{Sums}...)
    all = vcat(Sums[], sums...)
    return resize!(all, ccall(symbol(:apsis_slab_merge_sums), Int64, (Int64, Ptr{Sums}), length(all), all))
end

"""
    measures(sums, extents; spacing=1, context)

Makes of the merged sums of all slabs what `Apsis.measures` says of the image, whose size is `extents`.
"""
function measures(sums::Vector{Sums}, extents::Dims; spacing=1, context=context_on(:cpu))
    dimensions = length(extents)
    dimensions in (2, 3) || throw(ArgumentError("extents has $dimensions numbers, but must have 2 or 3"))
    image, asked = collect(Int64, extents), options(falses(ntuple(_ -> 0, dimensions)); spacing=spacing)
    found = Vector{Measure}(undef, length(sums))
    GC.@preserve sums found check(context, ccall(symbol(:apsis_slab_measures), Cint,
        (Ptr{Cvoid}, Int32, Ptr{Int64}, Ptr{Sums}, Int64, Ptr{Measure}, Ptr{COptions}),
        context.handle, dimensions, image, sums, length(sums), found, asked))
    return map(count_from_one, found)
end
