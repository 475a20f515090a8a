# Stands in for CUDA.jl, as far as ext/ApsisCUDAExt.jl calls it: its arrays are the host's, on device 3.
module CUDA

export CuArray, CuPtr, StridedCuArray

struct CuArray{T,N} <: DenseArray{T,N}
    host::Array{T,N}
end
const StridedCuArray{T,N} = Union{CuArray{T,N},SubArray{T,N,<:CuArray}}

primitive type CuPtr{T} 64 end

struct CuDevice
    number::Int
end

Base.size(array::CuArray) = size(array.host)
Base.strides(array::CuArray) = strides(array.host)
Base.similar(array::CuArray, T::Type, size::Dims) = CuArray(similar(array.host, T, size))
Base.unsafe_convert(::Type{CuPtr{T}}, array::CuArray{T}) where {T} = reinterpret(CuPtr{T}, pointer(array.host))
Base.pointer(array::CuArray{T}) where {T} = Base.unsafe_convert(CuPtr{T}, array)
Base.pointer(array::SubArray{T,N,<:CuArray}) where {T,N} =
    reinterpret(CuPtr{T}, reinterpret(UInt, pointer(parent(array))) + sizeof(T) * (Base.first_index(array) - 1))

device(::CuArray) = CuDevice(3)
deviceid(device::CuDevice) = device.number
stream() = (handle=Ptr{Cvoid}(7),)

end
