# Images that are cut into slabs: the maps of the whole image, and what is refused.

module TestSlabs

using Apsis, Random, Test
using Apsis: Slabs
using ..Main: fails

const STARTS = [0, 3, 3, 4, 9]  # one slab without rows; the last goes on to the end

slab(array, rows) = view(array, ntuple(_ -> :, ndims(array) - 1)..., rows)
extent(image) = size(image, ndims(image))
rows(image) = [(start + 1):stop for (start, stop) in zip(STARTS, [STARTS[2:end]; extent(image)])]
whole(parts) = cat(parts...; dims=ndims(parts[1]))
images(density) = [rand(MersenneTwister(24), size...) .< density for size in [(17, 23), (8, 9, 11)]]

"Three values in cells of some elements, and 0."
function label_images()
    return map(images(0.6)) do set
        image = UInt16.(set)
        for (i, p) in enumerate(CartesianIndices(image))
            above = CartesianIndex(Tuple(p)[1:end-1]..., Tuple(p)[end] - 1)
            image[p] = i % 5 > 1 && above in CartesianIndices(image) ? image[above] : image[p] * (1 + 300 * (i % 3))
        end
        image
    end
end

merged(told) = isempty(told) ? (nothing, nothing) : Slabs.merge(told...)

@testset "slabs" begin
    @testset "distance" begin
        for image in images(0.1), how in [NamedTuple(), (spacing=(3, 2, 1)[1:ndims(image)], signed=true),
                                         (complement=true, max_distance=2), (type=Int32, metric=:city_block)]
            complement = get(how, :complement, false)
            summary(turned) = [Slabs.summary(slab(image, r), r.start - 1; complement=turned) for r in rows(image)]
            told, others = summary(complement), summary(!complement)
            maps = map(enumerate(rows(image))) do (k, r)
                sides(of) = (merged(of[1:k-1])[2], merged(of[k+1:end])[1])
                (above, below), (complement_above, complement_below) = sides(told), sides(others)
                Slabs.distance(slab(image, r), r.start - 1, extent(image); nearest=true, above=above, below=below,
                               complement_above=complement_above, complement_below=complement_below, how...)
            end
            @test (whole(first.(maps)), whole(last.(maps))) == Apsis.distance(image; nearest=true, how...)
        end
        image, out = images(0.1)[1], zeros(Float64, 17, 4)
        @test Slabs.distance(image[:, 1:4], 0, 4; out=out) === out && out == Apsis.distance(image[:, 1:4]; type=Float64)
        @test Slabs.distance(trues(3, 1), 2^30 - 1, 2^30; nearest=true)[2] == reshape(1:3, 3, 1) .+ 3 * (2^30 - 1)
    end

    @testset "maps of labels" begin
        for image in label_images(),
            how in [NamedTuple(), (border=true, spacing=(3, 2, 1)[1:ndims(image)]), (periodic=(ndims(image),),)]
            ring = haskey(how, :periodic) ? (periodic=how.periodic,) : NamedTuple()
            told = [Slabs.summary(slab(image, r), r.start - 1; labels=true) for r in rows(image)]
            function merged_labels(of)
                isempty(ring) && return isempty(of) ? (nothing, nothing) : Slabs.merge(of...; labels=true)
                all = Slabs.merge(told...; labels=true)
                none = (fill(typemax(Int64), size(all[1])), fill(-1, size(all[2])))
                return Slabs.close_labels(isempty(of) ? none : Slabs.merge(of...; labels=true), all, extent(image))
            end
            maps = map(enumerate(rows(image))) do (k, r)
                sides = (above=merged_labels(told[1:k-1])[2], below=merged_labels(told[k+1:end])[1])
                (Slabs.distance(slab(image, r), r.start - 1, extent(image); labels=true, nearest=true, sides..., how...),
                 Slabs.voronoi(slab(image, r), r.start - 1, extent(image); labels=true, max_distance=3, sides..., ring...))
            end
            distances = first.(maps)
            @test (whole(first.(distances)), whole(last.(distances))) ==
                  Apsis.distance(image; labels=true, nearest=true, how...)
            @test whole(last.(maps)) == Apsis.voronoi(image; labels=true, max_distance=3, ring...)
        end
        for image in images(0.1)
            told = [Slabs.summary(slab(image, r), r.start - 1) for r in rows(image)]
            maps = map(enumerate(rows(image))) do (k, r)
                Slabs.voronoi(slab(image, r), r.start - 1, extent(image); above=merged(told[1:k-1])[2],
                              below=merged(told[k+1:end])[1])
            end
            @test whole(maps) == Apsis.voronoi(image)
        end
    end

    @testset "components, values and contacts of labels" begin
        for image in label_images(), how in [NamedTuple(), (connectivity=2,), (connectivity=2, min_area=2)]
            labels, count, known = Apsis.components(image; labels=true, statistics=true, how...)
            told = [Slabs.parts(slab(image, r), r.start - 1; labels=true, how...) for r in rows(image)]
            joined = Slabs.join!(told, size(image); labels=true, how...)
            @test joined.count == count && Slabs.measure(joined.parts) == known
            parts = zip(rows(image), told)
            @test whole([Slabs.components(slab(image, r), each; labels=true, how...) for (r, each) in parts]) == labels
        end
        for image in label_images(), how in [NamedTuple(), (connectivity=2,)], spacing in [1, (2, 3, 5)[1:ndims(image)]]
            told = [Slabs.statistics(slab(image, r), r.start - 1) for r in rows(image)]
            @test Slabs.measure(Slabs.merge_parts(told...)) == Apsis.statistics(image)
            before(r) = r.start > 1 ? slab(image, r.start - 1) : nothing
            touching = [Slabs.contacts(slab(image, r); before=before(r), spacing=spacing, how...) for r in rows(image)]
            @test Slabs.merge_contacts(ndims(image), touching...; spacing=spacing) ==
                  Apsis.contacts(image; spacing=spacing, how...)
        end
        numbers = reshape(Int32.(1:10000), 100, 100)
        @test length(Slabs.statistics(numbers, 0)) == 10000 && length(Slabs.contacts(numbers)) == 2 * 100 * 99
        @test isempty(Slabs.merge_parts()) && isempty(Slabs.merge_contacts(2))
    end

    @testset "measures of labels" begin
        for image in label_images(), spacing in [1, 0.5]
            wanted = (:moments, :surface, :euler, :intensity, (ndims(image) == 2 ? (:perimeter,) : ())...)
            grey = rand(MersenneTwister(3), Float32, size(image)...)
            told = [Slabs.sums(slab(image, r), r.start - 1, wanted...; grey=slab(grey, r),
                               before=slab(image, max(r.start - 4, 1):(r.start - 1))) for r in rows(image)]
            merged_sums = Slabs.merge_sums(Slabs.merge_sums(told[3:end]...), told[1:2]...)
            @test Slabs.measures(merged_sums, size(image); spacing=spacing) ==
                  Apsis.measures(image, wanted...; grey=grey, spacing=spacing)
        end
        @test isempty(Slabs.measures(Slabs.merge_sums(), (3, 2)))
        @test fails(() -> Slabs.sums([1 2], 3, :euler), Apsis.ApsisError, "before")
        @test fails(() -> Slabs.sums([1 2], 0, :colour), ArgumentError, "colour")
        @test fails(() -> Slabs.measures(Slabs.sums([1 2], 3), (2, 1)), Apsis.ApsisError, "cannot be that of a value")
        @test fails(() -> Slabs.measures(Slabs.merge_sums(), (2,)), ArgumentError, "2 or 3")
    end

    @testset "geodesic" begin
        for image in images(0.7), how in [NamedTuple(), (metric=:city_block,)]
            seeds = rand(MersenneTwister(2), size(image)...) .< 0.05
            paths = [Slabs.Paths(size(image)[1:end-1]; nearest=true) for _ in STARTS]
            function call(f, k; kw...)
                r = rows(image)[k]
                return f(paths[k], slab(image, r), slab(seeds, r), r.start - 1, extent(image);
                         above=k > 1 ? paths[k-1] : nothing, below=k < length(paths) ? paths[k+1] : nothing, kw...)
            end
            rounds = 0
            while sum([call(Slabs.relax!, k; how...) for k in eachindex(paths)]) > 0
                rounds += 1
            end
            maps = [call(Slabs.geodesic, k; nearest=true, how...) for k in eachindex(paths)]
            @test rounds > 1
            @test (whole(first.(maps)), whole(last.(maps))) == Apsis.geodesic(image, seeds; nearest=true, how...)
        end
    end

    @testset "components" begin
        for image in images(0.4), groups in [false, true],
            how in [NamedTuple(), (connectivity=2, largest=3), (border=false, min_area=2)]
            groups && haskey(how, :border) && continue
            labels, count, known = Apsis.components(image; statistics=true, how...)
            told = [Slabs.parts(slab(image, r), r.start - 1; statistics=true, how...) for r in rows(image)]
            top, same = told, haskey(how, :connectivity) ? (connectivity=2,) : NamedTuple()
            if groups  # a group is not the whole image: it leaves nothing out
                top = [Slabs.join!(group, size(image); same...) for group in (told[1:2], told[3:5])]
            end
            joined = Slabs.join!(top, size(image); how...)
            if groups
                foreach((group, one) -> Slabs.renumber!(group, one), (told[1:2], told[3:5]), top)
            end
            @test joined.count == count && joined.rows == extent(image)
            @test Slabs.measure(joined.parts) == known
            @test whole([Slabs.components(slab(image, r), each; how...) for (r, each) in zip(rows(image), told)]) == labels
        end
        dots = [isodd(x) && isodd(y) for x in 1:200, y in 1:200]
        @test Slabs.measure(Slabs.parts(dots, 0; statistics=true).parts) == Apsis.components(dots; statistics=true)[3]
        @test Slabs.join!([Slabs.parts(dots, 0)], size(dots)).parts === nothing
    end

    @testset "what is refused" begin
        set, row = falses(3, 2), fill(-1, 3)
        distance(start, extent; kw...) = () -> Slabs.distance(set, start, extent; kw...)
        @test fails(distance(4, 5), Apsis.ApsisError, "start is 4, but must be from 0 to 3: the slab has 2 of 5 rows")
        @test fails(distance(1, 3; above=row[2:3]), DimensionMismatch, "above is (2,), but a row is (3,)")
        @test fails(distance(1, 3; above=Int32.(row)), ArgumentError, "above is a ")
        @test fails(distance(1, 3; above=row .+ 2), Apsis.ApsisError, "above[1] is 1, but must be from 0 to 0, or -1")
        @test fails(distance(1, 3; above=row, signed=true), Apsis.ApsisError, "complement_above[1] is -1")
        @test fails(() -> Slabs.summary(falses(3), 0), ArgumentError, "the set has 1 dimensions")
        @test fails(() -> Slabs.merge((row, row), (row, row[2:3])), DimensionMismatch, "summary 2 is (2,), but a row is (3,)")
        @test fails(distance(1, 3; above=row, labels=true), DimensionMismatch, "above is (3,), but a row is (3, 3)")
        @test fails(() -> Slabs.merge((row[1:2], row[1:2]); labels=true), DimensionMismatch, "the last dimension has 3")
        @test fails(() -> Slabs.contacts(UInt8.(set); before=[1, 2]), DimensionMismatch, "before is (2,), but a row is (3,)")
        @test fails(() -> Slabs.statistics(zeros(3, 2), 0), ArgumentError, "labels are integers or bools")
        @test fails(() -> Slabs.statistics(UInt8.(set), -1), Apsis.ApsisError, "start is -1")
        @test fails(() -> Slabs.merge_contacts(4), ArgumentError, "dimensions is 4, but must be 2 or 3")
        relax(paths; kw...) = () -> Slabs.relax!(paths, set, set, 1, 3; kw...)
        @test fails(relax(Slabs.Paths((3,); nearest=true); above=Slabs.Paths((3,))), Apsis.ApsisError,
                    "above_seeds is nothing, but nearest seeds are wanted")
        @test fails(relax(Slabs.Paths((2,))), DimensionMismatch, "first is (2,), but a row is (3,)")
        early() = Slabs.geodesic(Slabs.Paths((3,)), trues(3, 1), trues(3, 1), 0, 1)
        @test fails(early, ArgumentError, "paths has changed in 6")
        join(size; kw...) = () -> Slabs.join!([Slabs.parts(.!set, 0)], size; kw...)
        @test fails(join((3, 1)), Apsis.ApsisError, "slabs[1]: rows is 2, but must be from 0 to 1")
        @test fails(join((4, 2)), DimensionMismatch, "first is (3,), but a row is (4,)")
        @test fails(join((3, 2); largest=1), Apsis.ApsisError, "slabs[1]: parts is nothing")
        @test fails(join((3,)), ArgumentError, "size has 1 numbers")
        @test fails(() -> Slabs.components(.!set, Slabs.parts(set, 0)), Apsis.ApsisError, "count")
    end

    @testset "several devices" begin
        @test fails(() -> Apsis.Context(Int[]), ArgumentError, "must have the number of a CUDA device")
        @test fails(() -> Apsis.Context([-1]), Apsis.ApsisError, "devices[1] is -1, but must be a CUDA device number")
        most = Apsis.device_count()
        @test fails(() -> Apsis.Context([most, most]), Apsis.ApsisError, "")
        most == 0 || @test Apsis.device(Apsis.Context([0, most - 1])) == 0
    end
end

end
