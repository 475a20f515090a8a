# The package against brute force, and what only Julia can get wrong: axes, views, indices, types, errors, callbacks.
using Apsis, Random, Test

pushfirst!(LOAD_PATH, joinpath(@__DIR__, "stand-in"))
using CUDA
include(joinpath(@__DIR__, "..", "ext", "ApsisCUDAExt.jl"))

random_set(size...; density=0.1) = rand(MersenneTwister(1), size...) .< density

alike(a, b) = all(isapprox.(a, b))

"The distance to the nearest element of a set and its linear index, the lowest of several."
function brute(set, spacing=ones(ndims(set)))
    sites = findall(set)
    length_to(p, s) = sqrt(sum(((p[i] - s[i]) * spacing[i])^2 for i in 1:ndims(set)))
    nearest(p) = argmin([length_to(p, s) for s in sites])
    found = map(p -> nearest(p), CartesianIndices(set))
    return map((p, k) -> length_to(p, sites[k]), CartesianIndices(set), found), map(k -> LinearIndices(set)[sites[k]], found)
end

"Whether a call throws an error of a kind that says this."
function fails(call, kind, text)
    try
        call()
    catch error
        return error isa kind && occursin(text, sprint(showerror, error))
    end
    return false
end

@testset "Apsis" begin
    @testset "distance" begin
        for size in [(13, 19), (5, 7, 9)], kind in [Bool, UInt8, Int, Float32]
            set = random_set(size...)
            d, which = Apsis.distance(kind.(set); nearest=true, type=Float64)
            expected, sites = brute(set)
            @test alike(d, expected) && which == sites
        end
        set = random_set(6, 7, 8)
        @test alike(Apsis.distance(set; spacing=(1, 2, 5)), brute(set, (1, 2, 5))[1])
        @test (Apsis.distance(set; signed=true) .< 0) == set
        for metric in (:cityblock, :taxicab, :manhattan)
            @test Apsis.distance(set; metric=metric) == Apsis.distance(set; metric=:city_block)
        end
        @test Apsis.distance(set; slices=true)[:, :, 3] == Apsis.distance(set[:, :, 3])
        @test Apsis.distance(.!set; complement=true) == Apsis.distance(set)
        out, which = fill(-1, 6, 7, 8), zeros(Int32, 6, 7, 8)
        Apsis.distance!(out, set; nearest=which)
        @test alike(sqrt.(out), brute(set)[1]) && which == brute(set)[2]
        @test Apsis.distance(falses(3, 3); nearest=true) == (fill(Inf32, 3, 3), zeros(Int32, 3, 3))
        @test isempty(Apsis.distance(falses(0, 3)))
    end

    @testset "views" begin
        set = Array(random_set(24, 40))
        for view_of in [a -> view(a, 24:-1:1, :), a -> view(a, 2:3:20, 5:30), a -> view(a, :, 40:-2:1), a -> a[1:20, :]']
            v = view_of(set)
            @test Apsis.distance(v) == Apsis.distance(collect(v))
        end
        out = zeros(Float32, 48, 40)
        Apsis.distance!(view(out, 1:2:48, :), set)
        @test out[1:2:48, :] == Apsis.distance(set) && all(iszero, out[2:2:48, :])
    end

    @testset "overlapping elements" begin
        still(step...) = StepRangeLen(step...)  # a range of one element again and again
        bytes = UInt8[0 0 0 1; 0 1 0 0]
        for set in (view(bytes, still(2, 0, 5), :), view(bytes, :, still(2, 0, 50)), view(bytes, 1:1, still(2, 0, 50)))
            @test Apsis.distance(set) == Apsis.distance(collect(set))
            @test Apsis.geodesic(trues(size(set)), set) == Apsis.geodesic(trues(size(set)), collect(set))
        end
        out = fill(Int32(-7), 4, 4)
        overlaps(call, text) = fails(call, Exception, text) && all(out .== -7)
        for (view_of, text) in ((view(out, :, still(2, 0, 4)), "out has strides (1, 0)"),
                                (view(out, still(1, 0, 4), :), "out has strides (0, 4)"),
                                (view(out, [1, 1, 2, 3], :), "must be a strided array"))
            @test overlaps(() -> Apsis.distance!(view_of, trues(4, 4)), text)
            @test overlaps(() -> Apsis.voronoi(trues(4, 4); out=view_of), text)
            @test overlaps(() -> Apsis.components(trues(4, 4); out=view_of), text)
            @test overlaps(() -> Apsis.distance!(nothing, trues(4, 4); nearest=view_of), replace(text, "out" => "nearest"))
        end
        @test overlaps(() -> Apsis.distance!(out, trues(4, 4); nearest=out), "nearest overlaps out")
        @test overlaps(() -> Apsis.components(bytes; out=bytes), "out overlaps set")
        @test isempty(Apsis.distance!(view(zeros(Float32, 0, 3), :, 1:3), falses(0, 3)))
    end

    @testset "voronoi" begin
        set = random_set(31, 33; density=0.02)
        @test Apsis.voronoi(set) == brute(set)[2]
        @test Apsis.voronoi(set; method=:sweep) == Apsis.voronoi(set)
        @test size(Apsis.voronoi(set; connected=true)) == size(set)
    end

    @testset "components" begin
        set = falses(6, 4)
        set[2:4, 1] .= set[6, 4] = true
        labels, n, known = Apsis.components(set; statistics=true)
        @test n == 2 && labels[3, 1] == 1 && labels[6, 4] == 2
        @test known[1] == Apsis.Component(2, 3, (2, 1, 1), (4, 1, 1), (3.0, 1.0, 1.0), 1)
        @test Apsis.components(set; type=nothing, largest=1) == (nothing, 1)
        kept, n = Apsis.components(set; type=Bool, border=false)
        @test !any(kept) && n == 0
        many = [isodd(x) && isodd(y) for x in 1:140, y in 1:140]
        _, n, known = Apsis.components(many; statistics=true)
        @test n == length(known) == 4900 && [c.first for c in known] == findall(vec(many))
        @test length(Apsis.eccentricity(many; extents=true)[2]) == 4900
    end

    @testset "morphology" begin
        set = random_set(31, 33; density=0.3)
        @test Apsis.morphology(set, :dilate, 2.5) == (Apsis.distance(set) .<= 2.5)
        @test Apsis.morphology(set, :erode, 1.5; type=UInt8) == (Apsis.distance(set; complement=true) .> 1.5)
        @test Apsis.morphology(set, :erode, 1; border=true) ==
            (Apsis.distance(set; complement=true, border=true) .> 1)
        for (operation, first, second) in ((:open, :erode, :dilate), (:close, :dilate, :erode)), more in ((), (metric=:chessboard,))
            once = Apsis.morphology(set, first, 2; more...)
            @test Apsis.morphology(set, operation, 2; more...) == Apsis.morphology(once, second, 2; more...)
        end
        @test Apsis.morphology(set, :dilate, 3; spacing=(1, 4)) == (Apsis.distance(set; spacing=(1, 4)) .<= 3)
        cells = set .* Int16.(mod.(axes(set, 1), 3) .+ 1)
        @test Apsis.morphology(cells, :dilate, 4; labels=true) == Apsis.voronoi(cells; labels=true, max_distance=4)
        @test Apsis.morphology(cells, :erode, 1; labels=true) ==
            sum(value .* Apsis.morphology(cells .== value, :erode, 1) for value in 1:3)
        @test fails(() -> Apsis.morphology(set, :shrink, 1), ArgumentError, "operation")
        @test fails(() -> Apsis.morphology(set, :open, -1), Apsis.ApsisError, "radius is -1")
        @test fails(() -> Apsis.morphology(set, :open, 1; out=zeros(Int32, 31, 33)), Exception, "out")
    end

    @testset "balls" begin
        set = falses(9, 5)
        set[3:7, 2:4] .= true
        @test Apsis.thickness(set; type=Int32) == 4 .* set
        @test Apsis.thickness(.!set; complement=true) == 2 .* set
        @test findall(vec(Apsis.medial_axis(set)) .> 0) == [22, 23, 24]
        @test fails(() -> Apsis.thickness(set; border=true, complement=true), Apsis.ApsisError, "border is set with")
        @test fails(() -> Apsis.thickness(set; out=falses(9, 5)), Exception, "out")
    end

    @testset "surfaces" begin
        first, second = falses(9, 5), falses(9, 5)
        first[1, 1] = second[4, 5] = true
        found = Apsis.surface_distance(first, second; tolerance=4.5)
        @test (found.hausdorff, found.average, found.dice, found.points) == (5, 5, 0, (1, 1))
        @test Apsis.surface_distance(first, second; tolerance=5).dice == 1
        @test Apsis.surface_distance(first, second; surface=:corners).area[1] ≈ 2 * sqrt(2)
        known = Apsis.surface_distance(UInt8[1 0 0; 0 0 7], UInt8[0 0 1; 0 0 7]; labels=true)
        @test [(each.value, each.hausdorff) for each in known] == [(1, 2), (7, 0)]
        @test fails(() -> Apsis.surface_distance(first, second; percentile=101), Apsis.ApsisError, "percentile is 101")
        @test fails(() -> Apsis.surface_distance(first, falses(3, 3)), DimensionMismatch, "second")
    end

    @testset "label images" begin
        # Columns of the image are columns here: 3 3 0 0 is the first.
        image = UInt16[3 3 0; 3 8 8; 0 8 8; 0 0 5]
        for kind in (UInt8, UInt16, Int8, Int16, Int32, UInt32, Int64, UInt64)
            labels = kind.(image)
            known = Apsis.statistics(labels)
            @test [(c.value, c.area) for c in known] == [(0, 4), (3, 3), (5, 1), (8, 4)]
            @test known[4] == Apsis.Component(6, 4, (2, 2, 1), (3, 3, 1), (2.5, 2.5, 1.0), 8)
            table = Apsis.statistics(labels; dense=true)
            @test length(table) == 9 && table[9] == known[4]
            @test table[2] == Apsis.Component(0, 0, (0, 0, 0), (0, 0, 0), (0.0, 0.0, 0.0), 1)
            @test Apsis.contacts(labels; connectivity=2, spacing=(2, 5)) ==
                [Apsis.Contact(3, 8, (1, 1, 0), 3, 7.0), Apsis.Contact(5, 8, (1, 0, 0), 1, 5.0)]
            @test Apsis.distance(labels; labels=true, border=true, type=Int32) == Int32[1 1 0; 1 1 1; 0 1 1; 0 0 1]
            @test Apsis.voronoi(labels; labels=true, max_distance=1) == [3 3 3; 3 8 8; 3 8 8; 0 8 5]
            @test Apsis.geodesic(trues(4, 3), labels; nearest=true, labels=true)[2][3, 1] == 3
            @test Apsis.geodesic(trues(4, 3), labels)[1, 1] == 0
            @test Apsis.components(labels; labels=true)[2] == 3
            @test Apsis.eccentricity(labels; labels=true, metric=:city_block, type=Int32) ==
                  Int32[1 2 -1; 2 2 2; -1 2 2; -1 -1 0]
            @test Apsis.contacts(labels; periodic=2)[1].faces == (1, 2, 0)
        end
        shapes = Apsis.measures([3 3 0; 3 8 8; 0 8 8], :surface, :euler, :intensity; grey=Float32[1 2 0; 3 4 5; 0 6 7])
        @test [(m.component.value, m.component.area, m.surface, m.euler, m.intensity_sum) for m in shapes] ==
              [(3, 3, 8.0, 1, 6.0), (8, 4, 8.0, 1, 22.0)]
        @test shapes[2].component.lower == (2, 2, 1) && shapes[2].perimeter == 0
        @test fails(() -> Apsis.measures([1 2], :colour), ArgumentError, "colour")
        @test fails(() -> Apsis.measures([1 2], :intensity), Apsis.ApsisError, "grey")
        signed = Int8[-1 -1; 2 0]
        @test [c.value for c in Apsis.statistics(signed)] == [-1, 0, 2]
        @test Apsis.contacts(view(signed, :, 2:-1:1))[1] == Apsis.Contact(-1, 2, (1, 0, 0), 0, 1.0)
        @test Apsis.voronoi(Int8[-1 0; 0 2]; labels=true) == [-1 -1; -1 2]
        @test isempty(Apsis.statistics(zeros(Int, 0, 3))) && isempty(Apsis.statistics(zeros(Int, 0, 3); dense=true))
        many = reshape(1:30000, 300, 100)
        @test length(Apsis.statistics(many)) == 30000 && length(Apsis.contacts(many)) == 299 * 100 + 300 * 99
        @test fails(() -> Apsis.statistics(signed; dense=true), Apsis.ApsisError, "-1")
        for call in (Apsis.statistics, Apsis.contacts, a -> Apsis.distance(a; labels=true),
                     a -> Apsis.components(a; labels=true))
            @test fails(() -> call([0.5 1.0]), ArgumentError, "labels are integers")
            @test fails(() -> call([1, 2]), ArgumentError, "1 dimensions")
        end
        @test fails(() -> Apsis.distance(image; border=true), Apsis.ApsisError, "border is set, but")
    end

    @testset "grey images" begin
        image = [1 9; 2 0; 4 5; 0 7]
        for kind in (UInt8, UInt16, Int8, Int16, Int32, UInt32, Int64, UInt64, Float16, Float32, Float64)
            grey = kind.(image)
            @test [Apsis.components(grey; delta=delta)[2] for delta in (0, 1, 2)] == [6, 4, 2]
            labels, n, known = Apsis.components(view(grey, 4:-1:1, :); delta=2, statistics=true)
            @test n == 2 && labels[4, 1] == labels[1, 2] == 1 && labels[4, 2] == 2
            @test [c.value for c in known] == (kind <: Integer ? [4, 9] : [1, 1])
        end
        @test Apsis.components([0.5 -0.5; NaN 1.0; 0.75 NaN]; delta=0.25)[2] == 6
        @test Apsis.components((1:3) .+ zeros(Int, 1, 2); delta=1)[2] == 1
        @test fails(() -> Apsis.components([0.1 1.0]; delta=1), ArgumentError, "value 0.1, but values are those of Float32")
        @test fails(() -> Apsis.components([1 2^40]; delta=1), ArgumentError, "1099511627776, but values are those of Int32")
        @test fails(() -> Apsis.components([1im 2im]; delta=1), ArgumentError, "values are integers, floats or bools")
        @test fails(() -> Apsis.components(image; delta=-1), Apsis.ApsisError, "delta is -1")
        @test fails(() -> Apsis.components(image; delta=NaN), Apsis.ApsisError, "delta is nan")
    end

    @testset "paths" begin
        set = trues(5, 5)
        set[2:4, 2:4] .= false
        seeds = falses(5, 5)
        seeds[1, 1] = true
        len, which = Apsis.geodesic(set, seeds; nearest=true, metric=:city_block, type=Int32)
        @test len[5, 5] == 8 && len[3, 3] == -1 && which[5, 5] == 1 && which[3, 3] == 0
        reach, far, extents = Apsis.eccentricity(set; farthest=true, extents=true, metric=:city_block)
        @test all(reach[set] .== 8) && extents[1].diameter == 8 && far[1, 1] == 25
        knight = Apsis.geodesic(trues(4, 3), reshape(1:12, 4, 3) .== 1; metric=:chamfer, weights=(5, 7, 11), type=Int32)
        @test vec(knight) == [0, 5, 10, 15, 5, 7, 11, 16, 10, 11, 14, 18]
        @test fails(() -> Apsis.geodesic(set, seeds; weights=(5,)), ArgumentError, "weights has 1 numbers")
        @test all(Apsis.eccentricity(trues(5, 4); metric=:city_block, periodic=true) .== 4)
        line = reshape([true, false, false, false], 4, 1)
        @test vec(Apsis.distance(line; periodic=1)) == vec(Apsis.distance(line; periodic=(1,))) == [0, 1, 2, 1]
        @test fails(() -> Apsis.distance(line; periodic=3), ArgumentError, "periodic has the dimension 3")
        ring = [900 < (x - 32)^2 + (y - 32)^2 < 961 for x in 1:64, y in 1:64]
        _, extents = @test_logs (:warn, r"budget is 2") Apsis.eccentricity(ring; extents=true, budget=2)
        @test extents[1].gap > 0
    end

    @testset "paths of least cost" begin
        costs = UInt16[1 9 1 1; 1 0 9 1; 1 1 1 1]' # x is the first dimension
        seeds = falses(4, 3)
        seeds[1, 1] = true
        cost, which = Apsis.cost_distance(costs, seeds; nearest=true, metric=:city_block, type=Float64)
        @test vec(cost) == [0, 5, 8, 7, 1, -1, 9, 6, 2, 3, 4, 5] && which[3, 1] == 1 && which[2, 2] == 0
        @test cost == Apsis.cost_distance(Float64.(costs), seeds; metric=:city_block, type=Float64)
        known, paths = Apsis.shortest_paths([3, 6], seeds; costs=costs, metric=:city_block)
        @test paths == [[3, 4, 8, 12, 11, 10, 9, 5, 1], []] && known[1].cost == 8 && known[2].seed == 0
        known, paths = Apsis.longest_paths(costs; metric=:city_block)
        @test length(known) == 1 && known[1].length == 5 == length(paths[1]) - 1
        @test fails(() -> Apsis.shortest_paths([13], seeds), ArgumentError, "starts has 13")
        @test fails(() -> Apsis.cost_distance(costs, trues(3, 3)), DimensionMismatch, "costs is (4, 3)")
    end

    @testset "errors" begin
        set = trues(3, 3)
        @test fails(() -> Apsis.distance(set; spacing=(1, -1)), Apsis.ApsisError, "spacing[2] is -1")
        @test fails(() -> Apsis.distance(set; spacing=(1, 1, 1)), ArgumentError, "spacing has 3")
        @test fails(() -> Apsis.distance(set; metric=:beeline), ArgumentError, "metric is :beeline, but must be one of :euclidean")
        @test fails(() -> Apsis.distance(trues(3)), ArgumentError, "1 dimensions")
        @test fails(() -> Apsis.distance(set; type=UInt8), ArgumentError, "UInt8")
        @test fails(() -> Apsis.distance!(zeros(Float32, 2, 3), set), DimensionMismatch, "(2, 3)")
        for (call, text) in (
            (() -> Apsis.distance(set; metric=:chamfer), "metric is :chamfer, which is for paths, and for :sequential_scan"),
            (() -> Apsis.components(set; method=:sweep), "method is :sweep, but components takes :auto, :tile_fill"),
            (() -> Apsis.geodesic(set, set; type=Int32), "geodesic: type is an integer, but the metric is Euclidean"),
            (() -> Apsis.distance(set; spacing=1e39), "distance: type is Float32, but a length may be as large as"),
            (() -> Apsis.distance(set; slices=true), "options: slices is set, but ndim is 2"),
            (() -> Apsis.Context(-7), "must be :cpu, :best or a CUDA device number"),
            (() -> Apsis.set_stream(Apsis.Context(:cpu), Ptr{Cvoid}(8)), "stream is not nothing"))
            @test fails(call, Apsis.ApsisError, text)
        end
        @test fails(() -> Apsis.Context(1000), Apsis.ApsisError, "1000")
        @test fails(() -> Apsis.Context(:gpu), ArgumentError, ":cpu")
    end

    @testset "contexts" begin
        set, told, lines = random_set(600, 600; density=0.001), Float64[], String[]
        context = Apsis.Context(:cpu; threads=1, progress=done -> (push!(told, done); false), log=line -> push!(lines, line))
        @test Apsis.device(context) == -1 && startswith(Apsis.device_name(context), "CPU")
        @test Apsis.distance(set; context=context) == Apsis.distance(set) && last(told) == 1
        Apsis.sync(context)
        close(context)
        close(context)
        for call in (() -> Apsis.distance(set; context=context), () -> Apsis.components(set; context=context),
                     () -> Apsis.eccentricity(set; context=context, extents=true), () -> Apsis.sync(context))
            @test fails(call, ArgumentError, "the context is closed")
        end
        @test Apsis.device(context) == -1 && Apsis.device_name(context) == ""
        stopping = Apsis.Context(:cpu; progress=done -> true)
        @test fails(() -> Apsis.distance(set; context=stopping), Apsis.ApsisError, "")
        throwing = Apsis.Context(:cpu; progress=done -> error("enough"))
        @test fails(() -> Apsis.distance(set; context=throwing), ErrorException, "enough")
        tasks = [@async Apsis.distance(set) for _ in 1:4]
        @test all(fetch(task) == Apsis.distance(set) for task in tasks)
    end

    @testset "arrays of CUDA.jl, as its stand-in has them" begin
        host = Array(random_set(20, 30))
        array = CuArray(host)
        for (ours, theirs) in [(array, host), (view(array, 3:2:19, 5:30), view(host, 3:2:19, 5:30))]
            image, expected = Apsis.image(ours), Apsis.image(theirs)
            @test image.memory == Apsis.DEVICE && image.data == expected.data && image.stride == expected.stride
            @test Apsis.device_of(ours) == 3 && Apsis.as_set(ours) === ours
        end
        @test similar(array, Int32) isa CuArray{Int32,2}
        @test fails(() -> Apsis.distance(array), Apsis.ApsisError, "3")
        @test fails(() -> Apsis.distance(array; context=Apsis.Context(:cpu)), Apsis.ApsisError, "stream")
    end

    include("slabs.jl")

    @testset "the program of the README" begin
        readme = read(joinpath(@__DIR__, "..", "README.md"), String)
        program = Module()
        include_string(program, match(r"```julia\n(using Apsis\n.*?)```"s, readme)[1])
        @test Core.eval(program, :(n == 2 && length(known) == 2 && size(cells) == (640, 480)))
    end

    @testset "the library is that of the header" begin
        header = read(joinpath(@__DIR__, "..", "..", "..", "include", "apsis.h"), String)
        part(name) = parse(Int, match(Regex("#define APSIS_VERSION_$name (\\d+)"), header)[1])
        @test VersionNumber(part("MAJOR"), part("MINOR"), part("PATCH")) == Apsis.VERSION_NUMBER
        @test occursin("version = \"$(Apsis.VERSION_NUMBER)\"", read(joinpath(@__DIR__, "..", "Project.toml"), String))
        value(name) = parse(Int, match(Regex("\\b$name\\s*=\\s*(-?\\d+)"), header)[1])
        for (names, prefix) in ((Apsis.METRICS, "APSIS_"), (Apsis.AUTO_METHODS, "APSIS_"), (Apsis.DEVICES, "APSIS_")), name in keys(names)
            @test value(prefix * uppercase(String(name))) == names[name]
        end
        @test sizeof(Apsis.CImage) == 72 && sizeof(Apsis.COptions) == 104
        @test sizeof(Apsis.Component) == 96 && sizeof(Apsis.Contact) == 56 && sizeof(Apsis.Extent) == 56
        @test sizeof(Apsis.Slabs.CSlab) == 48 && sizeof(Apsis.Slabs.CPaths) == 80
        @test sizeof(Apsis.Slabs.Part) == 96 && sizeof(Apsis.Slabs.CLabels) == 72
    end
end
