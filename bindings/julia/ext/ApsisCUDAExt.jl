# Arrays of CUDA.jl: the work is queued on their device, and on the stream of the task.
module ApsisCUDAExt

using Apsis, CUDA

Apsis.device_of(array::StridedCuArray) = Int(CUDA.deviceid(CUDA.device(parent_array(array))))
Apsis.prepare(context::Apsis.Context, ::StridedCuArray) = Apsis.set_stream(context, Ptr{Cvoid}(UInt(CUDA.stream().handle)))
Apsis.memory_of(::StridedCuArray) = Apsis.DEVICE
Apsis.pointer_of(array::StridedCuArray) = reinterpret(Ptr{Cvoid}, pointer(array))
Apsis.as_set(set::StridedCuArray{T}) where {T<:Union{Bool,UInt8}} = set
Apsis.as_set(set::StridedCuArray) = set .!= 0
Apsis.as_labels(array::StridedCuArray{T}) where {T<:Union{Bool,UInt8,UInt16,Int32,Int64}} = array
Apsis.as_grey(array::StridedCuArray{T}) where {T<:Union{Bool,UInt8,UInt16,Int32}} = array
Apsis.as_grey(array::StridedCuArray{Float32}) = array
Apsis.as_labels(array::StridedCuArray{T}) where {T<:Integer} = Apsis.taken_as(T).(array)

parent_array(array::CuArray) = array
parent_array(array) = parent_array(parent(array))

end
