"""
Maps of an image that is cut across its last dimension into slabs, so that it need not fit in one memory:
[`summary`](@ref), [`merge`](@ref) and [`distance`](@ref) or [`voronoi`](@ref); [`parts`](@ref), [`join!`](@ref) and
[`components`](@ref); [`relax!`](@ref) and [`geodesic`](@ref); [`statistics`](@ref) and
[`contacts`](@ref); [`sums`](@ref) and [`measures`](@ref).

The results are those of the whole image in the slab, with the same options, indices too.  `start` is how many rows of the
image (in 3-D planes) are before a slab, and `extent` how many there are.  What slabs tell each other are arrays of `Int64` of
the size of a row, for maps of label images three rows.  Numbers in them are the library's, rows and indices from 0 on: programs
in other languages read them, too.
"""
module Slabs

using ..Apsis: Apsis, BORDER, CImage, COMPLEMENT, COptions, Component, Contact, LABELS, LENGTHS, Measure, SIGNED, as_given,
               as_grey, as_labels, as_set, check, check_dimensions, check_output, context_on, count_from_one, count_from_one!,
               device_of, flags, known_of, label_type, measures_mask, options, prepare, reference, results, symbol

struct CSlab
    start::Int64
    extent::Int64
    above::Ptr{Int64}
    below::Ptr{Int64}
    complement_above::Ptr{Int64}
    complement_below::Ptr{Int64}
end

struct CPaths
    start::Int64
    extent::Int64
    above::Ptr{Int64}
    below::Ptr{Int64}
    above_seeds::Ptr{Int64}
    below_seeds::Ptr{Int64}
    first::Ptr{Int64}
    last::Ptr{Int64}
    first_seeds::Ptr{Int64}
    last_seeds::Ptr{Int64}
end

"What is known of a component, or of its elements in a slab: all counted from 0 on; `sum` has those of its coordinates."
struct Part
    first::Int64
    area::Int64
    lower::NTuple{3,Int64}
    upper::NTuple{3,Int64}
    sum::NTuple{3,Int64}
    value::Int64
end

struct CLabels
    start::Int64
    rows::Int64
    count::Int64
    before::Int64
    first::Ptr{Int64}
    last::Ptr{Int64}
    parts::Ptr{Part}
    capacity::Int64
    numbers::Ptr{Int64}
end

# ---- Distance ----

"""
    summary(set, start; complement=false, labels=false, context)

The first and the last row of each column that is in the set; `typemax(Int64)` and -1 where there is none.

With `labels=true` the first and the last run of a label: their rows, then the nearest rows beyond the runs, and the labels, one
behind the other along a last dimension.
"""
function summary(set::AbstractArray, start; complement=false, labels=false, context=context_on(device_of(set)))
    set = as_slab(set, labels)
    first, last = fill(typemax(Int64), told_size(set, labels)), fill(Int64(-1), told_size(set, labels))
    asked = options(set; flags=flags(COMPLEMENT => complement, LABELS => labels))
    prepare(context, set)
    GC.@preserve set check(context, ccall(symbol(:apsis_slab_summary), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Int64, Ptr{Int64}, Ptr{Int64}, Ptr{COptions}),
        context.handle, reference(set), start, first, last, asked))
    return first, last
end

"""
    merge(summaries...; labels=false)

The first and the last rows of several slabs, in any order and grouping, as of one.  Slabs of label images must follow each
other, from the top or from the bottom.
"""
function merge(one, others...; labels=false)
    first, last = copy(one[1]), copy(one[2])
    labels && size(first)[end] != 3 &&
        throw(DimensionMismatch("summary 1 is $(size(first)), but with labels the last dimension has 3"))
    for (k, rows) in enumerate((one, others...)), array in rows
        check_row("summary $k", array, size(first))
    end
    name, columns = labels ? (:apsis_slab_merge_labels, div(length(first), 3)) : (:apsis_slab_merge, length(first))
    for other in others
        GC.@preserve first last other ccall(symbol(name), Cvoid,
            (Int64, Ptr{Int64}, Ptr{Int64}, Ptr{Int64}, Ptr{Int64}), columns, other[1], other[2], first, last)
    end
    return first, last
end

"""
    close_labels(one, all, extent)

Adds to what slabs above one, or below it, tell what lies behind the seam of a label image that closes on itself along the
dimension that is cut.  `all` is what all slabs tell, merged, and `extent` how many rows there are.
"""
function close_labels(one, all, extent)
    first, last = copy(one[1]), copy(one[2])
    size(first)[end] != 3 && throw(DimensionMismatch("one is $(size(first)), but the last dimension has 3"))
    foreach(array -> check_row("one", array, size(first)), one)
    foreach(array -> check_row("all", array, size(first)), all)
    GC.@preserve first last all ccall(symbol(:apsis_slab_close_labels), Cvoid,
        (Int64, Int64, Ptr{Int64}, Ptr{Int64}, Ptr{Int64}, Ptr{Int64}), div(length(first), 3), extent, all[1], all[2], first,
        last)
    return first, last
end

"""
    distance(set, start, extent; above=nothing, below=nothing, complement_above=nothing, complement_below=nothing,
             nearest=false, type=Float32, out=nothing, spacing=1, metric=:euclidean, max_distance=0, complement=false,
             signed=false, labels=false, border=false, context)

What `Apsis.distance` gives.  `above` is the last rows of all slabs before it, as [`merge`](@ref) gives them, and `below` the
first rows of those behind it; `nothing` if there is none.  With `signed` the same of the complement is needed.
"""
function distance(set::AbstractArray, start, extent; above=nothing, below=nothing, complement_above=nothing,
                  complement_below=nothing, nearest=false, type=Float32, out=nothing, complement=false, signed=false,
                  labels=false, border=false, context=context_on(device_of(set)), kw...)
    set = as_slab(set, labels)
    rows = (above=above, below=below, complement_above=complement_above, complement_below=complement_below)
    check_rows(rows, told_size(set, labels))
    out, site = outputs(set, extent, out, type, nearest)
    asked = options(set; flags=flags(COMPLEMENT => complement, SIGNED => signed, LABELS => labels, BORDER => border), kw...)
    prepare(context, set)
    GC.@preserve set rows out site check(context, ccall(symbol(:apsis_slab_distance), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CSlab}, Ptr{CImage}, Ptr{CImage}, Ptr{COptions}),
        context.handle, reference(set), Ref(CSlab(start, extent, map(address, Tuple(rows))...)), reference(out),
        reference(site), asked))
    return results(out, count_from_one!(site))
end

"""
    voronoi(set, start, extent; above=nothing, below=nothing, out=nothing, spacing=1, metric=:euclidean, max_distance=0,
            complement=false, labels=false, context)

What `Apsis.voronoi` gives: the complete map, with `labels=true` of the labels of sites.  As for [`distance`](@ref).
"""
function voronoi(set::AbstractArray, start, extent; above=nothing, below=nothing, out=nothing, complement=false, labels=false,
                 context=context_on(device_of(set)), kw...)
    set = as_slab(set, labels)
    rows = (above=above, below=below)
    check_rows(rows, told_size(set, labels))
    out = out === nothing ? similar(set, labels ? label_type(set) : index_type(set, extent)) : out
    check_output("out", out, set, (Int32, Int64))
    asked = options(set; flags=flags(COMPLEMENT => complement, LABELS => labels), kw...)
    prepare(context, set)
    GC.@preserve set rows out check(context, ccall(symbol(:apsis_slab_voronoi), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CSlab}, Ptr{CImage}, Ptr{COptions}), context.handle, reference(set),
        Ref(CSlab(start, extent, address(above), address(below), C_NULL, C_NULL)), reference(out), asked))
    return labels ? out : count_from_one!(out)
end

# ---- Geodesic ----

"""
    Paths(row; nearest=false)

What a slab tells of the shortest paths to its first row and to its last, of which the size is `row`: `first` and `last`,
lengths as whole numbers, `typemax(Int64)` where no path leads; with `nearest` their `first_seeds` and `last_seeds`, or -1.
"""
struct Paths{N}
    first::Array{Int64,N}
    last::Array{Int64,N}
    first_seeds::Union{Nothing,Array{Int64,N}}
    last_seeds::Union{Nothing,Array{Int64,N}}
end

function Paths(row::NTuple{N,Integer}; nearest=false) where {N}
    seeds() = nearest ? fill(Int64(-1), row) : nothing
    return Paths{N}(fill(typemax(Int64), row), fill(typemax(Int64), row), seeds(), seeds())
end

"""
    relax!(paths, set, seeds, start, extent; above=nothing, below=nothing, connectivity, spacing=1, metric=:euclidean,
           max_distance=0, complement=false, context)

Brings what a slab tells, `paths`, up to what the slabs before and behind it tell, `above` and `below`; gives how many elements
have changed.  Call it for the slabs in any order until it has changed nothing in any of them.
"""
relax!(paths::Paths, set::AbstractArray, seeds::AbstractArray, start, extent; kw...) =
    walk!(paths, set, seeds, start, extent, nothing, nothing; kw...)

"""
    geodesic(paths, set, seeds, start, extent; nearest=false, type=Float32, out=nothing, ...)

What `Apsis.geodesic` gives, when [`relax!`](@ref), of which the other arguments are, changes nothing any more in any slab.
"""
function geodesic(paths::Paths, set::AbstractArray, seeds::AbstractArray, start, extent; nearest=false, type=Float32,
                  out=nothing, kw...)
    set = as_slab(set)
    out, site = outputs(set, extent, out, type, nearest)
    changed = walk!(paths, set, seeds, start, extent, out, site; kw...)
    changed == 0 || throw(ArgumentError("paths has changed in $changed elements: relax the slabs until nothing changes"))
    return results(out, count_from_one!(site))
end

function walk!(paths, set, seeds, start, extent, out, site; above=nothing, below=nothing, complement=false,
               context=context_on(device_of(set)), kw...)
    set, seeds = as_slab(set), as_set(seeds)
    check_output("seeds", seeds, set, (Bool, UInt8))
    field(slab, name) = slab === nothing ? nothing : getfield(slab, name)
    told = (above=field(above, :last), below=field(below, :first), above_seeds=field(above, :last_seeds),
            below_seeds=field(below, :first_seeds), first=paths.first, last=paths.last, first_seeds=paths.first_seeds,
            last_seeds=paths.last_seeds)
    check_rows(told, size(set)[1:end-1])
    changed = Ref{Int64}(0)
    asked = options(set; flags=flags(COMPLEMENT => complement), kw...)
    prepare(context, set)
    GC.@preserve set seeds told out site check(context, ccall(symbol(:apsis_slab_geodesic), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{CPaths}, Ptr{CImage}, Ptr{CImage}, Ptr{Int64}, Ptr{COptions}),
        context.handle, reference(set), reference(seeds), Ref(CPaths(start, extent, map(address, Tuple(told))...)),
        reference(out), reference(site), changed, asked))
    return Int(changed[])
end

# ---- Components ----

"""
What a slab tells of its components, and is told by [`join!`](@ref): `start` and `rows`, its place; `count`, its own components;
`first` and `last`, the numbers in its first and last row, later those of the image; `parts`, what is known of them, if that is
wanted; `before`, the components of the image that begin in rows before it; `numbers`, those of its own components in the
image, 0 for what is left out, there with parts.
"""
mutable struct Labels{N}
    start::Int64
    rows::Int64
    count::Int64
    before::Int64
    first::Array{Int64,N}
    last::Array{Int64,N}
    parts::Union{Nothing,Vector{Part}}
    numbers::Union{Nothing,Vector{Int64}}
end

"""
    parts(set, start; statistics=false, connectivity=1, largest=0, min_area=0, max_area=0, border=true, inner=true,
          complement=false, labels=false, context)

Numbers the components of a slab: the [`Labels`](@ref) that [`join!`](@ref) takes, with `statistics` or `labels` with what is
known of each.  With `labels=true` every value other than 0 is a set of its own.
Options, the same in all three calls, leave none out here: the rest of a component may be in other slabs.
"""
function parts(set::AbstractArray, start; statistics=false, labels=false, context=context_on(device_of(set)), kw...)
    set = as_slab(set, labels)
    asked, selects = selection(set; labels=labels, kw...)
    first, last, told = row_of(set, 0), row_of(set, 0), Ref{CLabels}()
    prepare(context, set)
    is_wanted = statistics || selects || labels
    known = known_of(Part, is_wanted) do room, count
        GC.@preserve set first last room begin
            told[] = CLabels(start, 0, 0, 0, pointer(first), pointer(last), is_wanted ? pointer(room) : C_NULL, length(room),
                             C_NULL)
            check(context, ccall(symbol(:apsis_slab_parts), Cint, (Ptr{Cvoid}, Ptr{CImage}, Ptr{CLabels}, Ptr{COptions}),
                context.handle, reference(set), told, asked))
        end
        count[] = told[].count
    end
    return Labels{ndims(set) - 1}(start, told[].rows, told[].count, 0, first, last, is_wanted ? known : nothing, nothing)
end

"""
    join!(slabs, size; connectivity=1, ...)

Tells slabs, a vector of [`Labels`](@ref) from the top, each of which begins where the one before it ends, the numbers of their
components in the image of this size.  Unless options leave components out they may be some of its slabs.

Gives them as one, with the `count` of components, and their `parts` if the slabs have them.  It may be joined with others; then
[`renumber!`](@ref) passes on what it is told.
"""
function join!(slabs::AbstractVector{<:Labels}, size::NTuple{N,Integer}; context=context_on(:cpu), kw...) where {N}
    N in (2, 3) || throw(ArgumentError("size has $N numbers, but 2 or 3 are needed"))
    row = size[1:end-1]
    asked, _ = selection(falses(ntuple(_ -> 0, N)); kw...)
    for slab in slabs
        slab.numbers = slab.parts === nothing ? nothing : zeros(Int64, slab.count)
    end
    told = raw(slabs, row)
    known = any(slab -> slab.parts !== nothing, slabs) ? Vector{Part}(undef, sum(slab -> slab.count, slabs)) : nothing
    room, count = known === nothing ? 0 : length(known), Ref{Int64}(0)
    GC.@preserve slabs known check(context, ccall(symbol(:apsis_slab_join), Cint,
        (Ptr{Cvoid}, Int32, Ptr{Int64}, Ptr{CLabels}, Int64, Ptr{Part}, Int64, Ptr{Int64}, Ptr{COptions}),
        context.handle, N, collect(Int64, size), told, length(told), address(known), room, count, asked))
    take_before!(slabs, told)
    with_rows = filter(slab -> slab.rows > 0, slabs)
    first = isempty(with_rows) ? zeros(Int64, row) : copy(with_rows[1].first)
    last = isempty(with_rows) ? zeros(Int64, row) : copy(with_rows[end].last)
    return Labels{N - 1}(isempty(slabs) ? 0 : slabs[1].start, sum(Int64[slab.rows for slab in slabs]), count[], 0, first, last,
                         known === nothing ? nothing : resize!(known, count[]), nothing)
end

"""
    renumber!(slabs, joined)

Passes on to slabs what the one has been told that they became by [`join!`](@ref).
"""
function renumber!(slabs::AbstractVector{<:Labels}, joined::Labels; context=context_on(:cpu))
    row = size(joined.first)
    own, told = raw([joined], row), raw(slabs, row)
    GC.@preserve slabs joined check(context, ccall(symbol(:apsis_slab_renumber), Cint,
        (Ptr{Cvoid}, Int64, Ptr{CLabels}, Ptr{CLabels}, Int64), context.handle, prod(row), own, told, length(told)))
    take_before!(slabs, told)
    return slabs
end

"""
    components(set, slab; type=Int32, out=nothing, connectivity=1, ...)

The labels that `Apsis.components` gives, in a slab whose [`Labels`](@ref) have been joined.
"""
function components(set::AbstractArray, slab::Labels; type=Int32, out=nothing, labels=false,
                    context=context_on(device_of(set)), kw...)
    set = as_slab(set, labels)
    asked, _ = selection(set; labels=labels, kw...)
    out = out === nothing ? similar(set, type) : out
    check_output("out", out, set, (Int32, Int64, Bool, UInt8))
    told = raw([slab], size(set)[1:end-1])
    prepare(context, set)
    GC.@preserve set slab out check(context, ccall(symbol(:apsis_slab_components), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CLabels}, Ptr{CImage}, Ptr{COptions}),
        context.handle, reference(set), told, reference(out), asked))
    return out
end

"""
    measure(parts)

A vector of `Apsis.Component`, as `Apsis.components` gives it, from the parts of whole components.
"""
function measure(parts::Vector{Part})
    known = Vector{Component}(undef, length(parts))
    ccall(symbol(:apsis_slab_measure), Cvoid, (Int64, Ptr{Part}, Ptr{Component}), length(parts), parts, known)
    return map(count_from_one, known)
end

# ---- What they share ----

function as_slab(set, labels=false)
    check_dimensions(set)
    return as_given(set, labels)
end

row_of(set, value) = fill(Int64(value), size(set)[1:end-1])

"The size of what slabs of maps tell each way."
told_size(set, labels) = labels ? (size(set)[1:end-1]..., 3) : size(set)[1:end-1]

address(::Nothing) = C_NULL
address(array) = pointer(array)

function check_row(name, row, size_of_row)
    row isa Array{Int64} || throw(ArgumentError("$name is a $(typeof(row)), but must be an Array of Int64"))
    size(row) == size_of_row || throw(DimensionMismatch("$name is $(size(row)), but a row is $size_of_row"))
end

"Those that are given."
function check_rows(rows, size_of_row)
    for (name, row) in pairs(rows)
        row === nothing || check_row(name, row, size_of_row)
    end
end

"Maps of a slab that are asked for: that of lengths, and that of indices, which are those of the whole image."
function outputs(set, extent, out, type, nearest)
    out = out === nothing && type !== nothing ? similar(set, type) : out
    check_output("out", out, set, LENGTHS)
    nearest || return out, nothing
    return out, similar(set, index_type(set, extent))
end

"The type of indices in an image of so many rows."
index_type(set, extent) = Int128(extent) * prod(size(set)[1:end-1]) < typemax(Int32) ? Int32 : Int64

"The options of components, and whether they leave any out."
function selection(set; connectivity=1, largest=0, min_area=0, max_area=0, border=true, inner=true, complement=false,
                   labels=false)
    chosen = flags(COMPLEMENT => complement, Apsis.NO_BORDER => !border, Apsis.NO_INNER => !inner, LABELS => labels)
    asked = options(set; connectivity=connectivity, largest=largest, min_area=min_area, max_area=max_area, flags=chosen)
    return asked, !border || !inner || largest != 0 || min_area != 0 || max_area != 0
end

"The library's structures of slabs, which point to their arrays."
function raw(slabs, row)
    return map(slabs) do slab
        check_row("first", slab.first, row)
        check_row("last", slab.last, row)
        for (name, array) in (("parts", slab.parts), ("numbers", slab.numbers))
            array === nothing || length(array) == slab.count ||
                throw(DimensionMismatch("$name has $(length(array)) elements, but there are $(slab.count) components"))
        end
        CLabels(slab.start, slab.rows, slab.count, slab.before, pointer(slab.first), pointer(slab.last), address(slab.parts),
                slab.parts === nothing ? 0 : length(slab.parts), address(slab.numbers))
    end
end

function take_before!(slabs, told)
    for (slab, each) in zip(slabs, told)
        slab.before = each.before
    end
end

include("slab_values.jl")
include("slab_measures.jl")

end
