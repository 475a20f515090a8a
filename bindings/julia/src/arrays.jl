# Arrays as images of the library, without a copy.  Another kind of array has methods of its own: ext/ApsisCUDAExt.jl.

const PIXELS = Dict{DataType,Cint}(Bool => 2, UInt8 => 2, UInt16 => 7, Int32 => 3, Int64 => 4, Float32 => 5, Float64 => 6)

"Where an array is, and so the work."
device_of(::AbstractArray) = :cpu

"Prepares a context for arrays of this kind."
prepare(::Context, ::AbstractArray) = nothing

memory_of(::StridedArray) = HOST
pointer_of(array::StridedArray) = Ptr{Cvoid}(pointer(array))

"A set as an array of bytes or integers that has an address."
as_set(set::StridedArray{T}) where {T<:Union{Bool,UInt8,UInt16,Int32,Int64}} = stands_still(set) ? collect(set) : set
as_set(set::AbstractArray{Bool}) = collect(Bool, set)
as_set(set::AbstractArray) = map(!iszero, set)

"Whether a step along some axis leads to the same element: to the library a stride of 0 is one that is not told."
stands_still(array) = !isempty(array) && any(axis -> size(array, axis) > 1 && stride(array, axis) == 0, 1:ndims(array))

"Whether no two elements are one: each axis, in the order of strides, steps over all that lies before it."
function lies_apart(array)
    reach = 1
    for (step, extent) in sort!([(abs(stride(array, axis)), size(array, axis)) for axis in 1:ndims(array)])
        extent > 1 && step < reach && return isempty(array)
        reach += step * (extent - 1)
    end
    return true
end

"The image of an array, which must be kept while it is used; that of `nothing` is left out."
function image(array)
    stands_still(array) && throw(ArgumentError("an array has strides $(strides(array)), but one of 0 is not taken"))
    data = isempty(array) ? C_NULL : pointer_of(array)
    extent(axis) = axis <= ndims(array) ? Int64(size(array, axis)) : Int64(0)
    step(axis) = extent(axis) > 1 ? Int64(stride(array, axis)) * sizeof(eltype(array)) : Int64(0)
    return CImage(data, PIXELS[eltype(array)], ndims(array), ntuple(extent, 3), ntuple(step, 3), memory_of(array), 0)
end

reference(array) = Ref(image(array))
reference(::Nothing) = Ptr{CImage}(C_NULL)

function check_output(name, array, set, types)
    array === nothing && return
    eltype(array) in types ||
        throw(ArgumentError("$name has elements of $(eltype(array)), but must be of $(join(types, ", ", " or "))"))
    size(array) == size(set) || throw(DimensionMismatch("$name is $(size(array)), but the set is $(size(set))"))
    array isa StridedArray || throw(ArgumentError("$name is a $(typeof(array)), but must be a strided array"))
    lies_apart(array) || throw(ArgumentError("$name has strides $(strides(array)), with which elements overlap"))
end

check_dimensions(set) = ndims(set) in (2, 3) ||
    throw(ArgumentError("the set has $(ndims(set)) dimensions, but 2 or 3 are needed"))

"The smallest type for the indices of an array."
index_type(set) = length(set) < typemax(Int32) ? Int32 : Int64

"Indices from 0 on become those of Julia; -1, no pixel, becomes 0."
function count_from_one!(indices)
    indices === nothing || (indices .+= one(eltype(indices)))
    return indices
end
