# Contexts: where work runs.

"A failed call: which status, and why."
struct ApsisError <: Exception
    status::Symbol
    message::String
end
Base.showerror(io::IO, e::ApsisError) = print(io, "Apsis: ", e.message)

"What callbacks are told through: C has a pointer to it."
mutable struct Callbacks
    progress::Any
    log::Any
    thrown::Any  # what a callback threw, which must not pass through C
end

function tell_progress(user::Ptr{Cvoid}, done::Cdouble)
    callbacks = unsafe_pointer_to_objref(user)::Callbacks
    try
        return Cint(callbacks.progress(done) === true)
    catch thrown
        callbacks.thrown = thrown
        return Cint(1)
    end
end

function tell_log(user::Ptr{Cvoid}, line::Cstring)
    callbacks = unsafe_pointer_to_objref(user)::Callbacks
    try
        callbacks.log(unsafe_string(line))
    catch thrown
        callbacks.thrown = thrown
    end
    return nothing
end

"""
    Context(device=:best; threads=0, progress=nothing, log=nothing)

Where work runs: `:cpu`, `:best` (the first usable GPU, otherwise the CPU) or the number of a CUDA device.  A vector of numbers
spreads distance maps, complete Voronoi maps, components, statistics and contacts of arrays of the host over these devices; other
calls run on the first.  Use one from one task at a time; functions without a `context` have one for each task.

`progress` is told how much is done, 0 to 1, and stops the call by returning `true`; `log` is told a line now and then.
"""
mutable struct Context
    handle::Ptr{Cvoid}
    callbacks::Callbacks

    function Context(device=:best; threads=0, progress=nothing, log=nothing)
        handle = Ref{Ptr{Cvoid}}(C_NULL)
        version = 10000VERSION_NUMBER.major + 100VERSION_NUMBER.minor + VERSION_NUMBER.patch
        if device isa AbstractVector
            isempty(device) && throw(ArgumentError("device is $device, but must have the number of a CUDA device"))
            status = ccall(symbol(:apsis_create_devices), Cint, (Cint, Ptr{Cint}, Cint, Ref{Ptr{Cvoid}}), version,
                           collect(Cint, device), length(device), handle)
        else
            number = device isa Symbol ? chosen("device", device, DEVICES) : Int(device)
            status = ccall(symbol(:apsis_create), Cint, (Cint, Cint, Ref{Ptr{Cvoid}}), version, number, handle)
        end
        status == OK || throw(failure(status, C_NULL))
        context = new(handle[], Callbacks(progress, log, nothing))
        finalizer(close, context)
        user = pointer_from_objref(context.callbacks)
        told = progress === nothing ? C_NULL : @cfunction(tell_progress, Cint, (Ptr{Cvoid}, Cdouble))
        heard = log === nothing ? C_NULL : @cfunction(tell_log, Cvoid, (Ptr{Cvoid}, Cstring))
        check(context, ccall(symbol(:apsis_set_progress), Cint, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context.handle, told, user))
        check(context, ccall(symbol(:apsis_set_log), Cint, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context.handle, heard, user))
        check(context, ccall(symbol(:apsis_set_threads), Cint, (Ptr{Cvoid}, Cint), context.handle, threads))
        return context
    end
end

"Waits for the context's work, and frees it: what it is asked for afterwards throws.  It may be closed again."
function Base.close(context::Context)
    ccall(symbol(:apsis_destroy), Cvoid, (Ptr{Cvoid},), context.handle)
    context.handle = C_NULL
    return nothing
end

"One more than the highest number of a usable CUDA device; 0 if there is none."
device_count() = Int(ccall(symbol(:apsis_device_count), Cint, ()))

"The number of a context's CUDA device, the first of several, or -1 for the CPU."
device(context::Context) = Int(ccall(symbol(:apsis_device), Cint, (Ptr{Cvoid},), context.handle))

"What a context runs on, in words."
device_name(context::Context) = unsafe_string(ccall(symbol(:apsis_device_name), Cstring, (Ptr{Cvoid},), context.handle))

"Waits for what has been queued on a GPU, and throws if it failed."
sync(context::Context) = check(context, ccall(symbol(:apsis_sync), Cint, (Ptr{Cvoid},), context.handle))

set_stream(context::Context, stream::Ptr{Cvoid}) =
    check(context, ccall(symbol(:apsis_set_stream), Cint, (Ptr{Cvoid}, Ptr{Cvoid}), context.handle, stream))

"The context of this task on a device."
function context_on(device)
    contexts = get!(() -> Dict{Any,Context}(), task_local_storage(), :apsis_contexts)
    return get!(() -> Context(device), contexts, device)
end

# ---- Errors ----

function failure(status, handle)
    name = unsafe_string(ccall(symbol(:apsis_status_name), Cstring, (Cint,), status))
    return ApsisError(Symbol(name), in_julia(unsafe_string(ccall(symbol(:apsis_message), Cstring, (Ptr{Cvoid},), handle))))
end

const TYPES = Dict("BIT" => "Bool", "U8" => "UInt8", "U16" => "UInt16", "I32" => "Int32", "I64" => "Int64", "F32" => "Float32", "F64" => "Float64")

"A message of the library with Julia's names for the things of C, and axes that are counted from 1 on."
function in_julia(message)
    function constant(name)
        word = lowercase(name[7:end])
        is_symbol = any(choices -> haskey(choices, Symbol(word)), (METRICS, AUTO_METHODS, DEVICES))
        return get(TYPES, name[7:end], is_symbol ? ":$word" : word)
    end
    outputs = "(distance|cells|labels|eccentricity)"  # each of them is `out` here, and its type `type`
    for rule in (Regex("^(\\w+): $outputs: type is") => s"\1: type is", Regex("^(\\w+): $outputs\\b") => s"\1: out",
                 Regex("overlaps $outputs\$") => "overlaps out", r"\bAPSIS_\w+" => constant, r"\bapsis_" => "",
                 r"\[\d+\]" => place -> "[$(parse(Int, place[2:end-1]) + 1)]", r"\bNULL\b" => "nothing")
        message = replace(message, rule)
    end
    return message
end

function check(context::Context, status)
    context.handle == C_NULL && throw(ArgumentError("the context is closed"))
    thrown, context.callbacks.thrown = context.callbacks.thrown, nothing
    thrown === nothing || throw(thrown)
    status == OK && return nothing
    error = failure(status, context.handle)
    status == ERROR_BUDGET || throw(error)
    @warn error.message
end

"The number of a choice that is given by its name."
chosen(what, name, choices) = Cint(get(choices, name) do
    throw(ArgumentError("$what is $(repr(name)), but must be one of $(join(map(repr, keys(choices)), ", "))"))
end)
