# Label images: what is known of their values, and which of them touch.

"An array as a label image, or as a set."
as_given(array, labels) = labels ? as_labels(array) : as_set(array)

"A label image as an array of integers that has an address, and that the library takes."
as_labels(array::StridedArray{T}) where {T<:Union{Bool,UInt8,UInt16,Int32,Int64}} = stands_still(array) ? collect(array) : array
as_labels(array::AbstractArray{T}) where {T<:Integer} = collect(taken_as(T), array)
as_labels(array::AbstractArray) =
    throw(ArgumentError("the label image has elements of $(eltype(array)), but labels are integers or bools"))

"A grey image as an array that has an address, of a type that holds its values and that the library takes."
as_grey(array::StridedArray{T}) where {T<:Union{Bool,UInt8,UInt16,Int32}} = stands_still(array) ? collect(array) : array
as_grey(array::StridedArray{Float32}) = stands_still(array) ? collect(array) : array
as_grey(array::AbstractArray{T}) where {T<:Integer} = held_as(T in (Bool, UInt8, UInt16) ? T : Int32, array)
as_grey(array::AbstractArray{<:AbstractFloat}) = held_as(Float32, array)
as_grey(array::AbstractArray) =
    throw(ArgumentError("the grey image has elements of $(eltype(array)), but values are integers, floats or bools"))

function held_as(T, array)
    fits(x) = T === Float32 ? T(x) == x || isnan(x) : typemin(T) <= x <= typemax(T)
    first = findfirst(!fits, array)
    first === nothing || throw(ArgumentError("the grey image has the value $(array[first]), but values are those of $T"))
    return T.(array)
end

taken_as(T) = T in (Bool, UInt8, UInt16, Int32) ? T : T in (Int8, Int16) ? Int32 : Int64

"The type of a map of labels."
label_type(labels) = eltype(labels) === Int64 ? Int64 : Int32

"""
    statistics(labels; dense=false, context)

What is known of each value of a label image, wherever its elements are, 0 among them: a vector of [`Component`](@ref) in
ascending order.  With `dense=true` element `i + 1` is what is known of value `i`, up to the greatest; of one that does not
occur the area is 0.  Nothing is labelled.
"""
function statistics(labels::AbstractArray; dense=false, context=context_on(device_of(labels)))
    labels = as_labels(labels)
    check_dimensions(labels)
    asked = options(labels; flags=flags(DENSE => dense))
    prepare(context, labels)
    extent = dense && !isempty(labels) ? Int(maximum(labels)) + 1 : 0
    extent < 0 && throw(ArgumentError("labels has the value $(extent - 1), but a dense table begins with 0"))
    known = known_of(Component, true, dense ? extent : ROOM) do room, count
        GC.@preserve labels check(context, ccall(symbol(:apsis_statistics), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{Component}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(labels), room, length(room), count, asked))
    end
    return map(c -> c.area == 0 ? nothing_known(c.value) : count_from_one(c), known)
end

nothing_known(value) = Component(0, 0, (0, 0, 0), (0, 0, 0), (0.0, 0.0, 0.0), value)

const MEASURES = (:moments, :perimeter, :surface, :euler, :filled, :hull, :feret, :intensity)

"""
    measures(labels, wanted...; grey=nothing, connectivity=1, spacing=1, context)

What is wanted of each value of a label image but 0: a vector of [`Measure`](@ref) in ascending order.  It may be `:moments`,
`:perimeter`, `:surface`, `:euler`, `:filled`, `:hull`, `:feret` and, in an array `grey` of `UInt8`, `UInt16` or `Float32`,
`:intensity`: see apsis_measures.h.
"""
function measures(labels::AbstractArray, wanted::Symbol...; grey=nothing, connectivity=1, spacing=1,
                  context=context_on(device_of(labels)))
    labels, mask = as_labels(labels), measures_mask(wanted)
    check_dimensions(labels)
    image = grey === nothing ? nothing : as_grey(grey)
    asked = options(labels; connectivity=connectivity, spacing=spacing)
    prepare(context, labels)
    found = known_of(Measure, true) do room, count
        GC.@preserve labels image check(context, ccall(symbol(:apsis_measures), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{CImage}, UInt32, Ptr{Measure}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(labels), reference(image), mask, room, length(room), count,
            asked))
    end
    return map(count_from_one, found)
end

"What is wanted of measures, as the library has it."
function measures_mask(wanted)
    for name in wanted
        name in MEASURES || throw(ArgumentError("measures is asked for :$name, but has $(join(MEASURES, ", "))"))
    end
    return reduce(|, UInt32(1) << (k - 1) for k in eachindex(MEASURES) if MEASURES[k] in wanted; init=UInt32(0))
end

count_from_one(m::Measure) = Measure(count_from_one(m.component), (getfield(m, k) for k in 2:fieldcount(Measure))...)

"""
    contacts(labels; connectivity=1, spacing=1, slices=false, periodic=false, context)

Which values of a label image touch, and how much: a vector of [`Contact`](@ref) in ascending order.  0, the background, touches
nothing.
"""
function contacts(labels::AbstractArray; connectivity=1, spacing=1, slices=false, periodic=false,
                  context=context_on(device_of(labels)))
    labels = as_labels(labels)
    check_dimensions(labels)
    asked = options(labels; connectivity=connectivity, spacing=spacing, periodic=periodic,
                    flags=flags(SLICES => slices))
    prepare(context, labels)
    return known_of(Contact, true) do room, count
        GC.@preserve labels check(context, ccall(symbol(:apsis_contacts), Cint,
            (Ptr{Cvoid}, Ptr{CImage}, Ptr{Contact}, Int64, Ptr{Int64}, Ptr{COptions}),
            context.handle, reference(labels), room, length(room), count, asked))
    end
end
