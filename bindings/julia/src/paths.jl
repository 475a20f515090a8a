# Paths of least cost, and the longest of the shortest ones.

"What is known of a path: its ends are linear indices, and `seed` is 0 where there is none."
struct Path
    start::Int64
    seed::Int64
    first::Int64  # where its elements are among those of all paths, from 0 on
    count::Int64
    length::Float64
    cost::Float64
    straight::Float64
    tortuosity::Float64
end

"A cost image as an array that the library takes: other types become `Float32`, rounded."
as_costs(costs::StridedArray{T}) where {T<:Union{Bool,UInt8,UInt16,Float32}} = stands_still(costs) ? collect(costs) : costs
as_costs(costs::AbstractArray{T}) where {T<:Union{Bool,UInt8,UInt16,Float32}} = collect(T, costs)
as_costs(costs::AbstractArray{<:Real}) = convert(Array{Float32}, costs)
as_costs(::Nothing) = nothing

optional_set(set::AbstractArray) = as_set(set)
optional_set(::Nothing) = nothing

function check_sizes(seeds, others::Pair...)
    for (name, array) in others
        array === nothing || size(array) == size(seeds) ||
            throw(DimensionMismatch("$name is $(size(array)), but seeds is $(size(seeds))"))
    end
end

"The paths from 1 on, and the elements of each."
function told(paths, pixels)
    elements = [pixels[p.first+1:p.first+p.count] .+ 1 for p in paths]
    return [Path(p.start + 1, p.seed + 1, p.first, p.count, p.length, p.cost, p.straight, p.tortuosity) for p in paths], elements
end

"""
    cost_distance(costs, seeds; set=nothing, nearest=false, type=Float32, connectivity, spacing=1, metric=:euclidean,
                  max_distance=0, complement=false, slices=false, labels=false, context)

The least cost of a path from a seed to every element, and with `nearest=true` which seed that is.  A step costs the mean of
the costs of its two elements, times its length; through one that is 0 or less, infinite or not a number leads no path.  With a
`set` paths stay within it.
"""
function cost_distance(costs::AbstractArray, seeds::AbstractArray; set=nothing, type=Float32, nearest=false, complement=false,
                       slices=false, labels=false, context=context_on(:cpu), kw...)
    costs, seeds, set = as_costs(costs), as_given(seeds, labels), optional_set(set)
    check_dimensions(costs)
    check_sizes(seeds, "costs" => costs, "set" => set)
    out, site = new_map(costs, type), nearest ? similar(costs, labels ? label_type(seeds) : index_type(costs)) : nothing
    check_output("type", out, costs, LENGTHS)
    asked = options(costs; flags=flags(COMPLEMENT => complement, SLICES => slices, LABELS => labels), kw...)
    GC.@preserve set costs seeds out site check(context, ccall(symbol(:apsis_cost_distance), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{COptions}), context.handle,
        reference(set), reference(costs), reference(seeds), reference(out), reference(site), asked))
    return results(out, labels ? site : count_from_one!(site))
end

"""
    shortest_paths(starts, seeds; set=nothing, costs=nothing, connectivity, spacing=1, metric=:euclidean, max_distance=0,
                   complement=false, slices=false, context)

The shortest paths from some elements, of linear indices, to their nearest seeds; with `costs` those of least cost.  A vector of
[`Path`](@ref), and a vector of the linear indices of each, from the start to the seed.
"""
function shortest_paths(starts, seeds::AbstractArray; set=nothing, costs=nothing, complement=false, slices=false,
                        context=context_on(:cpu), kw...)
    set, costs, seeds = optional_set(set), as_costs(costs), as_set(seeds)
    check_dimensions(seeds)
    check_sizes(seeds, "costs" => costs, "set" => set)
    for start in starts
        start in 1:length(seeds) ||
            throw(ArgumentError("starts has $start, but must have linear indices from 1 to $(length(seeds))"))
    end
    from, count = Int64[start - 1 for start in starts], Ref{Int64}(0)
    paths, pixels = Vector{Path}(undef, length(from)), Vector{Int64}(undef, ROOM)
    asked = options(seeds; flags=flags(COMPLEMENT => complement, SLICES => slices), kw...)
    while true
        GC.@preserve set costs seeds check(context, ccall(symbol(:apsis_paths), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, Ptr{CImage}, Ptr{Int64}, Int64, Ptr{Path}, Ptr{Int64}, Int64, Ptr{Int64},
             Ptr{COptions}), context.handle, reference(set), reference(costs), reference(seeds), from, length(from), paths, pixels,
            length(pixels), count, asked))
        count[] <= length(pixels) && return told(paths, pixels)
        resize!(pixels, count[])
    end
end

"""
    longest_paths(set; connectivity, spacing=1, metric=:euclidean, complement=false, slices=false, labels=false, context)

The longest of the shortest paths in each component, likewise.  With `labels=true` steps go to equal values only.
"""
function longest_paths(set::AbstractArray; complement=false, slices=false, labels=false, context=context_on(:cpu), kw...)
    set = as_given(set, labels)
    check_dimensions(set)
    most = length(set)  # paths of different components have no element in common
    paths, pixels = Vector{Path}(undef, cld(most, 2)), Vector{Int64}(undef, most)
    path_count, pixel_count = Ref{Int64}(0), Ref{Int64}(0)
    asked = options(set; flags=flags(COMPLEMENT => complement, SLICES => slices, LABELS => labels), kw...)
    GC.@preserve set check(context, ccall(symbol(:apsis_longest_paths), Cint,
        (Ptr{Cvoid}, Ptr{CImage}, Ptr{Path}, Int64, Ptr{Int64}, Ptr{Int64}, Int64, Ptr{Int64}, Ptr{COptions}), context.handle,
        reference(set), paths, length(paths), path_count, pixels, length(pixels), pixel_count, asked))
    return told(resize!(paths, path_count[]), pixels)
end
