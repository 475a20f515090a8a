# The tests of what goes into other programs, which ./run reads.

# Other programs with apsis in them, unmodified, as the distribution has them: bindings/HOST.  They are large, so only if they
# are asked for.  What a host needs is installed, what is for it is built, and its tests are run.
embeddings() {
    local host
    (($#)) || set -- "${hosts[@]}"
    for host in "$@"; do
        case " ${hosts[*]} " in *" $host "*) "embed_$host" ;; *) usage >&2; exit 2 ;; esac
    done
}
hosts=(gdal opencv vips octave)

# embed HOST PACKAGE ...: its tests are those whose names begin with the host's.
embed() {
    local host=$1
    shift
    deps "$@"
    run_tests embeddings "^$host\\." -DAPSIS_HOSTS="$host" -DAPSIS_CUDA=OFF -DAPSIS_TOOL=OFF -DAPSIS_TESTS=OFF
}

embed_gdal() { embed gdal libgdal-dev gdal-bin python3-gdal python3-numpy; }

embed_opencv() { embed opencv libopencv-core-dev libopencv-imgproc-dev; }

# pyvips is not among Debian's packages: it is Python alone, upon Debian's libvips.
embed_vips() {
    local python=$PWD/build/pyvips/bin/python
    if [[ ! -x $python ]]; then
        python3 -m venv build/pyvips
        "$python" -m pip install -q numpy pyvips
    fi
    embed vips libvips-dev libvips-tools
}

embed_octave() { embed octave octave-dev octave-image; }
