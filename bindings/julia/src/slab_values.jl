# Statistics and contacts of the values of label images that are cut into slabs.

"""
    statistics(labels, start; context)

What is known of each value of a slab of a label image: a vector of [`Part`](@ref) in ascending order.  [`measure`](@ref) makes of
what [`merge_parts`](@ref) gives for all slabs what `Apsis.statistics` says.
"""
function statistics(labels::AbstractArray, start; context=context_on(device_of(labels)))
    labels = as_slab(labels, true)
    asked = options(labels)
    prepare(context, labels)
    return known_of(Part, true) do room, count
        GC.@preserve labels check(context, ccall(symbol(:apsis_slab_statistics), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Int64, Ptr{Part}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(labels), start, room, length(room), count, asked))
    end
end

"""
    merge_parts(parts...)

The parts of several slabs, added up by value, in ascending order.
"""
function merge_parts(parts::Vector{Part}...)
    all = vcat(Part[], parts...)
    return resize!(all, ccall(symbol(:apsis_slab_merge_parts), Int64, (Int64, Ptr{Part}), length(all), all))
end

"""
    contacts(labels; before=nothing, connectivity=1, spacing=1, context)

Which values touch in a slab of a label image, and across the cut before it: a vector of `Apsis.Contact`.  `before` has the labels
in the row before the slab, in 3-D the plane; `nothing` if there is none.  Those of all slabs are for [`merge_contacts`](@ref).
"""
function contacts(labels::AbstractArray; before=nothing, connectivity=1, spacing=1, context=context_on(device_of(labels)))
    labels = as_slab(labels, true)
    row = before === nothing ? nothing : collect(Int64, before)
    check_rows((before=row,), size(labels)[1:end-1])
    asked = options(labels; connectivity=connectivity, spacing=spacing)
    prepare(context, labels)
    return known_of(Contact, true) do room, count
        GC.@preserve labels row check(context, ccall(symbol(:apsis_slab_contacts), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{Int64}, Ptr{Contact}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(labels), address(row), room, length(room), count, asked))
    end
end

"""
    merge_contacts(dimensions, contacts...; spacing=1, context)

The contacts of several slabs of an image of so many dimensions, added up by pair; of all slabs, those of `Apsis.contacts`.
"""
function merge_contacts(dimensions::Integer, contacts::Vector{Contact}...; spacing=1, context=context_on(:cpu))
    dimensions in (2, 3) || throw(ArgumentError("dimensions is $dimensions, but must be 2 or 3"))
    all = vcat(Contact[], contacts...)
    count, asked = Ref{Int64}(length(all)), options(falses(ntuple(_ -> 0, dimensions)); spacing=spacing)
    GC.@preserve all check(context, ccall(symbol(:apsis_slab_merge_contacts), Cint,
        (Ptr{Cvoid}, Int32, Ptr{Contact}, Ptr{Int64}, Ptr{COptions}), context.handle, dimensions, all, count, asked))
    return resize!(all, count[])
end
