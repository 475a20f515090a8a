# gallery.jl SETS MAPS [DEVICE]: maps of a page of text, of random points and of a flower.
#
# SETS has page.pgm, points.pgm and flower.pgm, which bindings/gallery/make.py draws.  DEVICE is cpu, best or the number of a
# GPU.  In the files indices count from 0, as they do in C.
using Apsis, Printf

"A set: the pixels that are not 0.  The first axis is x."
function read_set(path)
    open(path) do file
        _, width, height, _ = split(readline(file))
        return reshape(read(file), parse(Int, width), parse(Int, height))
    end
end

"What is known of components, a line for each; numbers in as few digits as tell them apart."
function write_table(path, known)
    # Counted from 1 a mean has lost its last digits, but it is a whole number divided by the area.
    from_zero(mean, area) = round((mean - 1) * area) / area
    shortest(number) = isinteger(number) ? string(Int(number)) : string(number)
    open(path, "w") do file
        println(file, "label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean")
        for (label, c) in enumerate(known)
            means = shortest.(from_zero.(c.centroid, c.area))
            join(file, (label, c.first - 1, c.area, c.lower .- 1..., c.upper .- 1..., means...), ",")
            println(file)
        end
    end
end

function main(sets, maps, device="best")
    context = Apsis.Context(all(isdigit, device) ? parse(Int, device) : Symbol(device))
    println("on ", Apsis.device_name(context))

    page = read_set(joinpath(sets, "page.pgm"))
    write(joinpath(maps, "distance.f32"), Apsis.distance(page; context=context))

    points = read_set(joinpath(sets, "points.pgm"))
    write(joinpath(maps, "cells.i32"), Apsis.voronoi(points; connected=true, context=context) .- Int32(1))

    labels, n, known = Apsis.components(page; connectivity=2, statistics=true, context=context)
    write(joinpath(maps, "letters.i32"), labels)
    write_table(joinpath(maps, "letters.csv"), known)
    println(n, " letters; the largest has ", maximum(c.area for c in known), " pixels")

    reach, extents = Apsis.eccentricity(read_set(joinpath(sets, "flower.pgm")); extents=true, context=context)
    write(joinpath(maps, "reach.f32"), reach)
    for extent in extents
        @printf("the flower: diameter %.3f, radius %.3f\n", extent.diameter, extent.radius)
    end

    try
        Apsis.distance(page; max_distance=-1, context=context)
    catch error
        error isa Apsis.ApsisError || rethrow()
        println("refused: ", error.message)
    end
end

main(ARGS...)
